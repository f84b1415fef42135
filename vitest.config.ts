/**
 * Four groups of test files. Those of pure functions share a few processes, so that the modules they test are loaded and
 * compiled once for each process and not once for each file: 0.4 s of processor time a file. The others have a process
 * of their own. Files that open engines or start git must not share: their process grows, and what a large process
 * starts takes several times as long. They load the sources as a few bundles (test/bundled-sources.ts); only files that
 * call vi.mock() load them one by one. Files with bounds of processor time run without the flags for V8 below.
 */

import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BUNDLES, bundledSources } from "./test/bundled-sources.ts";
import { SlowFirst } from "./test/slow-first.ts";

/** Folders of test/ whose files share processes, if they can. */
const SHARING = ["auth", "base", "kernel", "metrics", "oracle", "query", "regex", "validation"];

const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => ({
    path: `test/${name.replaceAll("\\", "/")}`,
    text: readFileSync(`test/${name}`, "utf8"),
  }));
const pathsOf = (wanted: (file: { path: string; text: string }) => boolean): string[] =>
  files.filter(wanted).map(({ path }) => path);

const MOCKS = /\bvi\.mock\(/;
const MEASURES = /\b(?:memoryUsage|cpuUsage|eventLoopUtilization|VmHWM)\b/;
const BOUNDS = /\bSLOWNESS\b|\bwatchStalls\b|\/lateness\.ts/;
const bounded = pathsOf(({ text }) => BOUNDS.test(text) && !MOCKS.test(text));
const mocking = pathsOf(({ text }) => MOCKS.test(text));
const shared = pathsOf(
  ({ path, text }) =>
    SHARING.includes(path.split("/")[1]!) &&
    !MOCKS.test(text) &&
    !MEASURES.test(text) &&
    !BOUNDS.test(text),
);

const common: TestProjectInlineConfiguration["test"] = {
  setupFiles: ["test/properties.ts"],
  // no test has a time of its own: on a busy machine it may wait for a core again and again; what takes
  // longer than this has stopped. Random tests that run QUERN_RUNS times as often may take as much longer.
  testTimeout: 300_000 * Number(process.env["QUERN_RUNS"] ?? 1),
  hookTimeout: 300_000,
  expect: { poll: { timeout: 240_000 } },
  // on Node 20 the AWS SDK would print a warning in each process
  env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
  pool: "forks",
  // These processes live for seconds. V8 then optimizes a function when 2 MB of its bytecode have run, not 132 kB: most
  // of what it would optimize runs too seldom after that to pay for it. It first collects the old space when that has
  // 192 MB, not ten. Each takes a tenth off the processor time of files that open engines.
  execArgv: ["--interrupt-budget=2000000", "--initial-old-space-size=192"],
  // two more than cores: many tests wait for processes, disks and timers, and with one more a tenth of the cores is idle
  maxWorkers: availableParallelism() + 2,
};

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
    sequence: { sequencer: SlowFirst },
    teardownTimeout: 60_000,
    projects: [
      {
        ...sources,
        test: {
          ...common,
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: [...shared, ...mocking, ...bounded],
          server: { deps: { external: [BUNDLES] } },
        },
      },
      {
        // as hosts run it: bounds of processor time are for code that V8 optimizes as usual
        ...sources,
        test: {
          ...common,
          name: "bounded",
          include: bounded,
          execArgv: [],
          server: { deps: { external: [BUNDLES] } },
        },
      },
      {
        test: { ...common, name: "mocking", include: mocking },
      },
      {
        test: {
          ...common,
          name: "shared",
          include: shared,
          isolate: false,
        },
      },
    ],
  },
});
