/** Wrong values in the tables of a history: each search answers, counts the segment as crashed, or says INDEX_CORRUPT. */

import { expect, test } from "vitest";
import { pack, unpack } from "msgpackr";
import { open } from "../../src/index.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { PART, SEGMENTS_RANGE } from "../../src/store/format/format.ts";
import { openUnderLock } from "../../src/store/lmdb/environment.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { awkwardHistory, drawFrom, makeRepository, type Draw } from "../history/generated.ts";
import { RUNS } from "../runs.ts";

const QUERIES = ["type:diff line", "type:commit a", "type:diff file:a -content:two author:ada"];

/** Returns a copy of a value with a wrong content. */
function hurt(value: Buffer, draw: Draw): Buffer {
  const changed = Buffer.from(value);
  const how = draw(4);
  if (how === 0) return changed.fill(0xff);
  if (how === 1) return changed.subarray(0, draw(changed.length));
  if (how === 2) return Buffer.concat([changed, changed]);
  for (let i = 0; i < 1 + draw(3) && changed.length > 0; i++)
    changed[draw(changed.length)] = draw(256);
  return changed;
}

async function outcomes(path: string): Promise<Set<string>> {
  const engine = await open(path, { workers: 0, warmUp: false, onWarning: () => {} });
  const seen = new Set<string>();
  for (const query of QUERIES)
    await engine.search({ query, matches: 50 }, { timeoutMs: 2_000 }).then(
      () => seen.add("answer"),
      ({ code }: { code?: string }) => seen.add(String(code)),
    );
  await engine.close();
  return seen;
}

test("any value of a history may be wrong", async () => {
  const path = temporaryFolder();
  const folder = makeRepository(awkwardHistory().slice(0, 9), temporaryFolder());
  const engine = await open(path, { workers: 0, warmUp: false });
  await engine.index(git(folder, { name: "made", history: true }), { symbols: "skip" });
  await engine.close();
  const environment = await openUnderLock(path, { readOnly: false });
  const snapshot = environment.snapshot();
  const keys = [...snapshot.keys(SEGMENTS_RANGE)]
    .map((key) => Buffer.from(key))
    .filter((key) => key[5] === PART.HISTORY);
  const values = keys.map((key) => Buffer.from(snapshot.get(key, "it")!));
  snapshot.close();
  expect(keys.length).toBeGreaterThanOrEqual(9);
  const put = (i: number, value: Buffer) =>
    environment.write((writer) => writer.put(keys[i]!, value));
  const header = unpack(values[0]!) as Record<string, unknown>;
  const wrong = [0, -1, 0.5, 2 ** 31, 2 ** 32 - 1, 2 ** 53];
  const records = Object.keys(header).flatMap((name) =>
    wrong.map((by) => pack({ ...header, [name]: name === "lengths" ? Array(9).fill(by) : by })),
  );
  for (const record of records) {
    await put(0, record);
    const seen = await outcomes(path);
    expect([...seen].filter((one) => one !== "answer" && one !== "INDEX_CORRUPT")).toEqual([]);
  }
  await put(0, values[0]!);
  for (let seed = 1; seed <= 6 * RUNS; seed++) {
    const draw = drawFrom(seed);
    for (const [i, value] of values.entries()) {
      await put(i, hurt(value, draw));
      const seen = [...(await outcomes(path))];
      expect([
        seed,
        i,
        ...seen.filter((one) => one !== "answer" && one !== "INDEX_CORRUPT"),
      ]).toEqual([seed, i]);
      await put(i, value);
    }
  }
  await environment.close();
});
