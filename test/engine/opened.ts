/** Engines for tests: each in a directory of its own, closed and deleted when the test ends. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { open, type Engine, type OpenOptions } from "../../src/engine.ts";

/** Multiplies how often random tests run. */
export const RUNS = Number(process.env["QUERN_RUNS"] ?? 1);

export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "quern-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

/**
 * Opens an engine. A warning means damage or a bug in quern, so it fails the test, unless the test passes `onWarning`.
 */
export async function openEngine(
  options: OpenOptions = {},
  path = temporaryFolder(),
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
    const path = mkdtempSync(join(tmpdir(), "quern-test-"));
    engine = await open(path, { workers: 0, warmUp: false, ...options });
    await fill(engine);
  });
  afterAll(async () => {
    await engine.close();
    rmSync(engine.path, { recursive: true, force: true, maxRetries: 3 });
  });
  return () => engine;
}
