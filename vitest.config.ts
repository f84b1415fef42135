import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/setup.ts"],
    setupFiles: ["test/properties.ts"],
    // no test has a time of its own: on a busy machine it may wait for a core again and again; what takes
    // longer than this has stopped. Random tests that run QUERN_RUNS times as often may take as much longer.
    testTimeout: 300_000 * Number(process.env["QUERN_RUNS"] ?? 1),
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    // one more than cores: many tests wait for processes, disks and timers, a third of their time in all
    maxWorkers: availableParallelism() + 1,
  },
});
