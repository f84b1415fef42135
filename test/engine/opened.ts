/** Engines for tests: each in a directory of its own, closed and deleted when the test ends. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { open, type Engine, type OpenOptions } from "../../src/engine.ts";

/** Multiplies how often random tests run. */
export const RUNS = Number(process.env["QUERN_RUNS"] ?? 1);

export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "quern-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

/** A warning tells of damage or of a bug of ours: unless the test takes it, it fails the test. */
export async function openEngine(
  options: OpenOptions = {},
  path = temporaryFolder(),
): Promise<Engine> {
  const warnings: string[] = [];
  const onWarning = ({ code, message }: { code: string; message: string }) =>
    void warnings.push(`${code}: ${message}`);
  const engine = await open(path, { workers: 0, onWarning, ...options });
  onTestFinished(async () => {
    await engine.close();
    if (warnings.length > 0) throw new Error(`warned of ${warnings.join("\n")}`);
  });
  return engine;
}
