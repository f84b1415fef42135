/**
 * How many transactions a write takes, all threads together. Each waits for the disk, which is most of the time of a
 * small write. docs/index-format.md says what each is for.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine, temporaryFolder } from "./opened.ts";

const FILES = 40;
const file = (i: number, edit = 0) => ({
  path: `${i}.ts`,
  content: `function f${i}() { return ${edit}; }\n`,
});

/**
 * Writes to a repository with FILES files, each with its number of transactions. The rows before have changed it, too.
 */
const ROWS: [what: string, transactions: number, write: (engine: Engine) => Promise<unknown>][] = [
  // lease; segment; content published; symbols of a range; symbols published; words published; lease
  ["a change of one file", 7, (engine) => update(engine, file(1, 1))],
  [
    "a change of one file without symbols and words",
    4,
    (engine) => update(engine, file(2, 1), "skip"),
  ],
  ["the symbols and words that are missing", 5, (engine) => engine.index([])],
  // the segment with only this file is merged away
  ["a change of a file that was changed", 8, (engine) => update(engine, file(1, 2))],
  ["a run that finds nothing new", 3, (engine) => engine.index(all([1, 2], [2, 1]))],
  ["a removal, with what only it had", 4, (engine) => engine.remove("r")],
];

const update = (engine: Engine, changed: ReturnType<typeof file>, symbols?: "skip") =>
  engine.index(
    documents({ name: "r", changes: [changed] }),
    symbols && { symbols, words: symbols },
  );

function all(...edits: [number: number, edit: number][]) {
  const edited = new Map(edits);
  const files = Array.from({ length: FILES }, (_, i) => file(i, edited.get(i) ?? 0));
  return documents({ name: "r", files });
}

/** Returns the number of the last transaction from LMDB's newer meta page. */
function lastTransaction(file: string): number {
  const bytes = readFileSync(file);
  return Math.max(...[0, 4096].map((page) => Number(bytes.readBigUInt64LE(page + 152))));
}

test.each([0, 2])("with %i threads", async (workers) => {
  const path = temporaryFolder();
  const engine = await openEngine({ workers }, path);
  await engine.index(all());
  const transactions = () => lastTransaction(join(path, "quern.mdb"));
  const counted: [string, number][] = [];
  for (const [what, , write] of ROWS) {
    const before = transactions();
    await write(engine);
    counted.push([what, transactions() - before]);
  }
  expect(counted).toEqual(ROWS.map(([what, count]) => [what, count]));
});
