/** A thread that dies of a file costs that file its symbols, and nothing else. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { open } from "../../src/engine.ts";
import { documents } from "../../src/ingest/documents.ts";
import { findSymbols } from "../../src/ingest/symbol-pass.ts";
import type { SymbolsInput } from "../../src/ingest/symbol-task.ts";
import { INGEST_TASKS } from "../../src/ingest/tasks.ts";
import { loadCatalog } from "../../src/store/catalog.ts";
import type { Environment } from "../../src/store/environment.ts";
import { acquireLease } from "../../src/store/lease.ts";
import { openStore } from "../../src/store/open.ts";
import { openSymbols } from "../../src/store/symbols.ts";
import { createPool, type Pool } from "../../src/threads/pool.ts";

const path = mkdtempSync(join(tmpdir(), "quern-pass-"));
afterAll(() => rmSync(path, { recursive: true, force: true }));

const DEADLY = 5;
const BLOBS = 9;

/** Dies of every range that holds the deadly blob, unless it is told not to parse it. */
function mortal(pool: Pool): { pool: Pool; deaths: () => number } {
  let deaths = 0;
  const dying: Pool = {
    lanes: pool.lanes,
    inline: pool.inline,
    close: () => pool.close(),
    run(task, input, options) {
      const { from, to, isDeadly } = input as SymbolsInput;
      if (isDeadly || from > DEADLY || to <= DEADLY) return pool.run(task, input, options);
      deaths++;
      return Promise.reject(new QuernError("INTERNAL", "worker 0 died"));
    },
  };
  return { pool: dying, deaths: () => deaths };
}

async function newestCatalog(environment: Environment) {
  const snapshot = environment.snapshot();
  const catalog = await loadCatalog(snapshot, undefined, () => undefined);
  snapshot.close();
  return catalog;
}

test("a deadly blob is found by halving, and given up", async () => {
  const engine = await open(path, { workers: 0 });
  const files = Array.from({ length: BLOBS }, (_, i) => ({
    path: `f${i}.ts`,
    content: `function f${i}() {}`,
  }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  await engine.close();

  const environment = await openStore(path, { readOnly: false });
  const real = createPool({
    size: 0,
    entry: new URL("none:"),
    tasks: INGEST_TASKS,
    environment: { path, readOnly: false, opened: environment },
  });
  const { pool, deaths } = mortal(real);
  const { signal } = new AbortController();
  const lease = await acquireLease(environment, { timeoutMs: 0, signal });
  const found = await findSymbols({
    environment,
    pool,
    catalog: await newestCatalog(environment),
    owner: lease.owner,
    throwIfStopped: () => undefined,
    onProgress: () => undefined,
  });
  await lease.release();
  expect([...found.values()]).toEqual([BLOBS - 1]);
  expect(deaths()).toBe(4); // 9 blobs, 5, 3 or 2, 1

  const [segment] = (await newestCatalog(environment)).manifest.segments;
  expect(segment).toMatchObject({ symbols: 1, hasSymbols: true });
  const snapshot = environment.snapshot();
  const symbols = openSymbols(snapshot, segment!.segment, 1)!;
  const outcomes = files.map((_, blob) => symbols.origin(blob)!.outcome);
  expect(outcomes).toEqual(files.map((_, blob) => (blob === DEADLY ? "gave-up" : "symbols")));
  snapshot.close();
  await pool.close();
  await environment.close();
});
