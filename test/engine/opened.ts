/** Engines for tests: each in a directory of its own, closed and deleted when the test ends. */

import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { open, type Engine, type OpenOptions } from "../../src/engine.ts";

/** Multiplies how often random tests run. */
export const RUNS = Number(process.env["QUERN_RUNS"] ?? 1);

const SHARED_MEMORY = "/dev/shm";
const LEAST_ROOM = 2 ** 31;

/**
 * Returns a folder in memory if the system has one with enough room. On a disk each commit would wait 5 to 20 ms, most
 * of the time of a random case.
 */
function rootInMemory(): string {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    accessSync(SHARED_MEMORY, constants.W_OK);
    return bavail * bsize < LEAST_ROOM ? tmpdir() : SHARED_MEMORY;
  } catch {
    return tmpdir();
  }
}

export function temporaryFolder(root = tmpdir()): string {
  const path = mkdtempSync(join(root, "quern-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

/**
 * Opens an engine. A warning means damage or a bug in quern, so it fails the test, unless the test passes `onWarning`.
 */
export async function openEngine(
  options: OpenOptions = {},
  path = temporaryFolder(rootInMemory()),
): Promise<Engine> {
  const warnings: string[] = [];
  const onWarning = ({ code, message }: { code: string; message: string }) =>
    void warnings.push(`${code}: ${message}`);
  const engine = await open(path, { workers: 0, warmUp: false, onWarning, ...options });
  onTestFinished(async () => {
    await engine.close();
    if (warnings.length > 0) throw new Error(`warned of ${warnings.join("\n")}`);
  });
  return engine;
}

/** Returns an engine that all tests of a file read. It is filled only once, because that takes most of the time. */
export function sharedEngine(
  fill: (engine: Engine) => Promise<unknown>,
  options: OpenOptions = {},
): () => Engine {
  let engine: Engine;
  beforeAll(async () => {
    const path = mkdtempSync(join(rootInMemory(), "quern-test-"));
    engine = await open(path, { workers: 0, warmUp: false, ...options });
    await fill(engine);
  });
  afterAll(async () => {
    await engine.close();
    rmSync(engine.path, { recursive: true, force: true, maxRetries: 3 });
  });
  return () => engine;
}
