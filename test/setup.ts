/**
 * Builds the files that quern needs besides its sources: kernel, workers' entry, page and token table. The
 * package itself is built if its test runs.
 * The tests' temporary files are in memory, if the system has room there.
 * Tests that need PostgreSQL share one server, which starts when the first of them requests it; see
 * cluster/postgres.ts.
 */

import { execFileSync, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { unpackBrowser } from "./page/unpack.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A port of 127.0.0.1 that answers, as JSON, where PostgreSQL is. */
    postgresBroker: number;
  }
}

const run = (script: string, options: readonly string[] = []): void =>
  void execFileSync(process.execPath, [...options, script], { stdio: "inherit" });

/** The files whose tests import quern by its name, and so need dist/. */
const OF_PACKAGE = ["/test/package/package.long.test.ts", "/test/examples.long.test.ts"];

/** Whether this run needs the package and `.ci/check` has not just built it. */
const needsPackage = ({ vitest }: TestProject): boolean =>
  process.env["QUERN_BUILT"] !== "1" &&
  vitest.state.getPaths().some((path) => OF_PACKAGE.some((file) => path.endsWith(file)));

/** Whether this run includes tests in the browser, so that the browser must be unpacked. */
const needsBrowser = ({ vitest }: TestProject): boolean =>
  process.env["QUERN_BROWSER"] === undefined &&
  vitest.state.getPaths().some((path) => path.includes("/test/page/"));

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (process.env["QUERN_ROWS"] !== undefined)
    console.log(
      `QUERN_ROWS=${process.env["QUERN_ROWS"]} chooses the same rows of long tables again`,
    );
  // in a separate thread; if it fails, the tests in the browser report the error
  const unpacked = needsBrowser(project) ? unpackBrowser().catch(() => undefined) : undefined;
  for (const script of [
    "scripts/build-kernel.mjs",
    "scripts/build-worker.mjs",
    "scripts/build-page.mjs",
    "scripts/build-token-table.mjs",
  ])
    run(script);
  run("scripts/build-wasm.ts", ["--import", "tsx"]);
  if (needsPackage(project)) {
    console.log(
      `building the package, for ${OF_PACKAGE.join(" or ").replaceAll("/test/", "test/")}`,
    );
    run("scripts/build-package.mjs");
  }
  await unpacked;
  const deleteFiles = keepFilesInMemory();
  const stopPostgres = await sharePostgres(project);
  return async () => {
    await stopPostgres();
    deleteFiles();
  };
}

const SHARED_MEMORY = "/dev/shm";
const LEAST_ROOM = 4 * 2 ** 30;

/**
 * Sets the folder of temporary files for all tests, unless TMPDIR is already set. On a disk, each commit waits 5 to 20
 * ms, and the system does a fifth more work. Returns a function that deletes the folder.
 */
function keepFilesInMemory(): () => void {
  if (process.env["TMPDIR"] !== undefined) return () => undefined;
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (bavail * bsize < LEAST_ROOM) return () => undefined;
    const folder = mkdtempSync(join(SHARED_MEMORY, "quern-tests-"));
    chmodSync(folder, 0o711); // PostgreSQL's files are in it, and belong to another user if these tests run as root
    process.env["TMPDIR"] = folder;
    return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    return () => undefined; // on another system, or if this user may not write to the folder
  }
}

async function sharePostgres(project: TestProject): Promise<() => Promise<void>> {
  let keeper: ChildProcess | undefined;
  let where: Promise<string> | undefined;
  const start = async (): Promise<string> => {
    keeper = fork("test/cluster/postgres-server.mjs", { execArgv: [] });
    const [message] = (await once(keeper, "message")) as [object];
    return JSON.stringify(message);
  };
  const broker = createServer((socket) => {
    socket.on("error", () => undefined);
    void (where ??= start()).then((text) => socket.end(text));
  });
  broker.listen(0, "127.0.0.1");
  await once(broker, "listening");
  project.provide("postgresBroker", (broker.address() as AddressInfo).port);
  return async () => {
    broker.close();
    if (keeper === undefined) return;
    const gone = once(keeper, "exit");
    keeper.disconnect();
    await gone;
  };
}
