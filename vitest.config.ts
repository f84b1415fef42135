import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/setup.ts"],
    setupFiles: ["test/properties.ts"],
    testTimeout: 60_000,
    pool: "forks",
  },
});
