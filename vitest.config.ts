/**
 * Four groups of test files, which their names tell apart. `npm test` runs the first, `npm run test:long` the others.
 *
 * - `*.test.ts`: what a change usually breaks. These files share processes, so that vitest and the sources are loaded
 *   once for many files.
 * - `*.long.test.ts`: files that take long, measure their process, or need a server or a browser. Each has a process of
 *   its own.
 * - `*.mocked.test.ts`: files that call vi.mock(). They load the sources one by one (test/bundled-sources.ts).
 * - `*.timed.test.ts`: files that limit processor time. They run after all others, one at a time. Other users of the
 *   machine may still take from the core that a test measures, so a test fails only if it fails three times.
 */

import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BUNDLES, bundledSources } from "./test/bundled-sources.ts";
import { OLD_SPACE, SHORT_LIVED } from "./test/short-lived.ts";

// `npm test` has the same rows of long tables each time, and each long run has others; test/setup.ts prints the choice
if (process.argv.includes("long")) process.env["QUERN_ROWS"] ??= String(randomInt(60));

const common = {
  setupFiles: ["test/properties.ts"],
  // no test has a time of its own: on a busy machine it may wait for a core again and again; what takes
  // longer than this has stopped. Random tests that run QUERN_RUNS times as often may take as much longer.
  testTimeout: 300_000 * Number(process.env["QUERN_RUNS"] ?? 1),
  hookTimeout: 300_000,
  expect: { poll: { timeout: 240_000 } },
  // on Node 20 the SDK would print a warning in each process
  env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
  pool: "forks",
  // two more than cores: many tests wait for processes, disks and timers, and with one more a tenth of the cores is idle
  maxWorkers: availableParallelism() + 2,
  server: { deps: { external: [BUNDLES] } },
} satisfies TestProjectInlineConfiguration["test"];

/**
 * A run whose tests print to the console fails, because what they print hides what others tell. They may tell what this
 * machine lacks, the seed of a failure, and figures if somebody asks for them.
 */
const MAY_PRINT = /\bleft out\b|^QUERN_SEED=/;
let hasPrinted = false;
function onConsoleLog(text: string): void {
  if (process.env["QUERN_FIGURES"] !== "1" && !MAY_PRINT.test(text)) hasPrinted = true;
}
process.once("exit", () => {
  if (!hasPrinted) return;
  console.error(
    "tests have printed to the console: see the blocks that begin with stdout | or stderr |",
  );
  process.exitCode = 1;
});

/** Not in watch mode, which follows what a test imports file by file. */
const sources = process.argv.includes("run") ? { plugins: [bundledSources] } : {};

export default defineConfig({
  test: {
    onConsoleLog,
    globalSetup: ["test/setup.ts"],
    teardownTimeout: 60_000,
    projects: [
      {
        ...sources,
        test: {
          ...common,
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.{long,mocked,timed}.test.ts"],
          isolate: false,
          setupFiles: ["test/between-files.ts", ...common.setupFiles],
          execArgv: SHORT_LIVED,
        },
      },
      {
        ...sources,
        test: {
          ...common,
          name: "long",
          include: ["test/**/*.long.test.ts"],
          execArgv: [OLD_SPACE],
        },
      },
      { test: { ...common, name: "mocked", include: ["test/**/*.mocked.test.ts"] } },
      {
        ...sources,
        test: {
          ...common,
          name: "timed",
          include: ["test/**/*.timed.test.ts"],
          execArgv: [OLD_SPACE], // the limits are for code that V8 optimizes as usual
          maxWorkers: 1,
          retry: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
