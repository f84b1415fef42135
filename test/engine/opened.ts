/** Engines for tests: each in a directory of its own, closed and deleted when the test ends. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { Engine, OpenOptions } from "../../src/engine.ts";
import type { Internals } from "../../src/internals.ts";
import { openWith } from "../../src/opened-engine.ts";
import type { NewLayout } from "../../src/store/format/format.ts";

export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "quern-test-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

/** Pages and blocks so small that every document spans several of them, and most segments have a file of text. */
export const SMALL_LAYOUT: NewLayout = { pageBytes: 256, blockBytes: 1000, fileBlocks: 2 };

/** The options of a host, and those that only tests set, such as small limits. */
export type OpenedOptions = OpenOptions & { readonly internals?: Partial<Internals> };

/**
 * Opens an engine. A warning means damage or a bug in quern, so it fails the test, unless the test passes `onWarning`.
 */
export async function openEngine(
  { internals = {}, ...options }: OpenedOptions = {},
  path = temporaryFolder(),
): Promise<Engine> {
  const warnings: string[] = [];
  const onWarning = ({ code, message }: { code: string; message: string }) =>
    void warnings.push(`${code}: ${message}`);
  const given = { workers: 0, warmUp: false, onWarning, ...options };
  const engine = await openWith(path, given, internals);
  onTestFinished(async () => {
    await engine.close();
    if (warnings.length > 0) throw new Error(`warned of ${warnings.join("\n")}`);
  });
  return engine;
}

/** Returns an engine that all tests of a file read. It is filled only once, because that takes most of the time. */
export function sharedEngine(
  fill: (engine: Engine) => Promise<unknown>,
  { internals = {}, ...options }: OpenedOptions = {},
): () => Engine {
  let engine: Engine;
  beforeAll(async () => {
    const path = mkdtempSync(join(tmpdir(), "quern-test-"));
    engine = await openWith(path, { workers: 0, warmUp: false, ...options }, internals);
    await fill(engine);
  });
  afterAll(async () => {
    await engine.close();
    rmSync(engine.path, { recursive: true, force: true, maxRetries: 3 });
  });
  return () => engine;
}
