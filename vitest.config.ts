/**
 * Two groups of test files. Those of pure functions share a few processes, so that the modules they test are loaded and
 * compiled once for each process and not once for each file: 0.4 s of processor time a file. The others have a process
 * of their own. Files that open engines or start git must not share: their process grows, and what a large process
 * starts takes several times as long.
 */

import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

/** Folders of test/ whose files share processes, if they can. */
const SHARING = ["auth", "base", "kernel", "metrics", "oracle", "query", "regex", "validation"];

const isAlone = (file: string): boolean =>
  /\bvi\.mock\(|\b(?:memoryUsage|cpuUsage|eventLoopUtilization|VmHWM)\b/.test(
    readFileSync(file, "utf8"),
  );

const shared = SHARING.flatMap((folder) =>
  readdirSync(`test/${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `test/${folder}/${name.replaceAll("\\", "/")}`)
    .filter((file) => !isAlone(file)),
);

const common: TestProjectInlineConfiguration["test"] = {
  setupFiles: ["test/properties.ts"],
  // no test has a time of its own: on a busy machine it may wait for a core again and again; what takes
  // longer than this has stopped. Random tests that run QUERN_RUNS times as often may take as much longer.
  testTimeout: 300_000 * Number(process.env["QUERN_RUNS"] ?? 1),
  hookTimeout: 300_000,
  expect: { poll: { timeout: 240_000 } },
  pool: "forks",
  // V8 then optimizes a function when 2 MB of its bytecode have run, not 132 kB: these processes live for seconds, and
  // most of what they optimize runs too seldom after that to pay for it. Takes 14 % off a file's processor time.
  execArgv: ["--interrupt-budget=2000000"],
  // one more than cores: many tests wait for processes, disks and timers, a third of their time in all
  maxWorkers: availableParallelism() + 1,
};

export default defineConfig({
  test: {
    globalSetup: ["test/setup.ts"],
    teardownTimeout: 60_000,
    projects: [
      {
        test: {
          ...common,
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: shared,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: "shared",
          include: shared,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
