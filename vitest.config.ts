import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/setup.ts"],
    setupFiles: ["test/properties.ts"],
    // a test on a busy machine may wait for a core again and again; what takes longer has stopped
    testTimeout: 120_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    // one more than cores: many tests wait for processes, disks and timers, a third of their time in all
    maxWorkers: availableParallelism() + 1,
  },
});
