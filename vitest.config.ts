/**
 * Four groups of test files. Two thirds of them share processes, so that vitest and the sources are loaded once for
 * several files (test/reused-forks.ts). They load the sources as a few bundles (test/bundled-sources.ts); only files
 * that call vi.mock() load them one by one. Three groups have a process for each file: those that call vi.mock(), those
 * that measure their process or count what it has open, or start git often, which takes several times as long from a
 * large process, and those with bounds of processor time, whose code V8 optimizes as usual.
 */

import { randomInt } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BUNDLES, bundledSources } from "./test/bundled-sources.ts";
import { reusedForks } from "./test/reused-forks.ts";
import { OLD_SPACE, SHORT_LIVED } from "./test/short-lived.ts";
import { SlowFirst } from "./test/slow-first.ts";

const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => ({
    path: `test/${name.replaceAll("\\", "/")}`,
    text: readFileSync(`test/${name}`, "utf8"),
  }));
const pathsOf = (wanted: (file: { path: string; text: string }) => boolean): string[] =>
  files.filter(wanted).map(({ path }) => path);

const MOCKS = /\bvi\.mock\(/;
const MEASURES =
  /\b(?:memoryUsage|cpuUsage|eventLoopUtilization|VmHWM|RssAnon|THREAD_TIMES|MOST_OPEN)\b|\/proc\/self\/|--expose-gc/;
const BOUNDS = /\bSLOWNESS\b|\bwatchStalls\b|\/lateness\.ts/;
const bounded = pathsOf(({ text }) => BOUNDS.test(text) && !MOCKS.test(text));
const mocking = pathsOf(({ text }) => MOCKS.test(text));
/**
 * Files that start git seldom: it takes less than 0.1 s of processor time in each, and a process of its own would take
 * 0.3 s. Those of the page would also load what controls a browser, which takes 0.8 s.
 */
const START_GIT_SELDOM = [
  /^page\//,
  /^cli\/(?:commands|data-directory|index-command|search-command|serve-command|users-command)\./,
  /^cluster\/(?:command|hidden)\./,
  /^corpus\/golden\./,
  /^engine\/(?:progress|refusals)\./,
  /^http\/(?:browse|history|members|no-leak)\./,
  /^ingest\/(?:directory|documents|ref-patterns|remote-name|walk-elsewhere)\./,
  /^mcp\/(?:mount|next-steps)\./,
  /^search\/(?:explain|ranking)\./,
  /^security\/(?:at-rest|paths)\./,
  /^workspace\/(?:followed|plain)\./,
];
const startsGitSeldom = (path: string): boolean =>
  START_GIT_SELDOM.some((name) => name.test(path.slice("test/".length)));
const own = pathsOf(
  ({ path, text }) =>
    (MEASURES.test(text) || (startsGit(path) && !startsGitSeldom(path))) &&
    !MOCKS.test(text) &&
    !BOUNDS.test(text),
);

/** Whether a test file, or what it imports from outside src/, starts git. Such files do so up to a thousand times. */
function startsGit(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path) || path.startsWith("src/") || !existsSync(path)) return false;
  seen.add(path);
  const text = readFileSync(path, "utf8");
  if (/\b(?:spawn|execFile|execFileSync)\)?\(\s*"git"/.test(text)) return true;
  return [...text.matchAll(/"(\.[^"\n]*\.m?[jt]s)"/g)].some(([, name]) =>
    startsGit(join(dirname(path), name!).replaceAll("\\", "/"), seen),
  );
}

const common = {
  setupFiles: ["test/properties.ts"],
  // no test has a time of its own: on a busy machine it may wait for a core again and again; what takes
  // longer than this has stopped. Random tests that run QUERN_RUNS times as often may take as much longer.
  testTimeout: 300_000 * Number(process.env["QUERN_RUNS"] ?? 1),
  hookTimeout: 300_000,
  expect: { poll: { timeout: 240_000 } },
  env: {
    QUERN_ROWS: process.env["QUERN_ROWS"] ?? String(randomInt(60)), // each run has other rows of the long tables
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true", // on Node 20 the SDK would print a warning in each process
  },
  pool: "forks",
  execArgv: SHORT_LIVED,
  // two more than cores: many tests wait for processes, disks and timers, and with one more a tenth of the cores is idle
  maxWorkers: availableParallelism() + 2,
} satisfies TestProjectInlineConfiguration["test"];
const server = { deps: { external: [BUNDLES] } };

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
          name: "reused",
          include: ["test/**/*.test.ts"],
          exclude: [...own, ...bounded, ...mocking],
          pool: reusedForks,
          isolate: false,
          setupFiles: ["test/between-files.ts", ...common.setupFiles],
          server,
        },
      },
      { ...sources, test: { ...common, name: "own", include: own, server } },
      // bounds of processor time are for code that V8 optimizes as usual
      {
        ...sources,
        test: { ...common, name: "bounded", include: bounded, execArgv: [OLD_SPACE], server },
      },
      { test: { ...common, name: "mocking", include: mocking } },
    ],
  },
});
