/**
 * The lists of names have each gram of each name, with the pages that cover it, and no gram of the text between names.
 */

import { expect, onTestFinished, test } from "vitest";
import { hasBit } from "../../src/base/bitset.ts";
import { gramNumber } from "../../src/kernel/gram-numbers.ts";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEnvironment, type Snapshot } from "../../src/store/lmdb/environment.ts";
import { OVERLAP, PAGE_BYTES } from "../../src/store/format/format.ts";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import { NameLists, openNameLists } from "../../src/store/symbols/name-lists.ts";
import type { SegmentTarget } from "../../src/store/segments/segment-target.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import { pagesOfList } from "../../src/store/segments/posting-bits.ts";
import { openSegment } from "../../src/store/segments/segment-reader.ts";
import { SYMBOL_ROW, type SymbolList } from "../../src/store/symbols/symbol-run.ts";
import { openSymbols } from "../../src/store/symbols/symbols.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

type Name = readonly [start: number, end: number];

const [P, O] = [PAGE_BYTES, OVERLAP];
const kernel = createKernel();
const arena = new Arena(kernel);

function listOf(names: readonly Name[]): SymbolList {
  const rows = names.flatMap(([start, end]) => [start, end, 0, -1]);
  return { count: names.length, total: names.length, rows: Int32Array.from(rows) };
}

/** Returns "page gram" for each gram of a name that lies wholly in the page and the covered bytes after it. */
function gramsOf(text: Uint8Array, names: readonly Name[], firstPage = 0): Set<string> {
  const found = new Set<string>();
  for (let page = 0; page * P < text.length; page++)
    for (const [start, end] of names)
      for (let at = Math.max(start, page * P); at + 3 <= Math.min(end, (page + 1) * P + O); at++)
        found.add(`${firstPage + page} ${gramNumber(text[at]!, text[at + 1]!, text[at + 2]!)}`);
  return found;
}

function stored(snapshot: Snapshot, segment: number, { blocks = 1, pages = 0 }): Set<string> {
  const found = new Set<string>();
  for (const { gram, list } of openNameLists(snapshot, segment, 1, blocks).all(snapshot)) {
    const set = pagesOfList(list, pages, { kernel, arena })!;
    for (let page = 0; page < pages; page++) if (hasBit(set, page)) found.add(`${page} ${gram}`);
  }
  return found;
}

/** The grams that include the end of a name or a separator. */
const edgeGrams = new Set<number>();
const letters = [...Buffer.from("abcdefghijklmnopqrstuvwxyz\n")];
for (const a of letters)
  for (const b of letters)
    for (const c of letters) if ([a, b, c].includes(10)) edgeGrams.add(gramNumber(a, b, c));

const text = Uint8Array.from({ length: 3 * P + 50 }, (_, i) => 97 + ((i * i * 7919 + i) % 26));

test.each<[string, Name[]]>([
  ["no name", []],
  ["one", [[100, 120]]],
  [
    "at both ends",
    [
      [0, 9],
      [text.length - 9, text.length],
    ],
  ],
  [
    "too short for a gram",
    [
      [10, 12],
      [P - 1, P + 1],
    ],
  ],
  ["over an edge", [[P - 5, P + 5]]],
  ["in what is covered behind a page", [[P + O - 20, P + O]]],
  ["beginning in it", [[P + O - 20, P + O + 20]]],
  ["beginning behind it", [[P + O, P + O + 20]]],
  ["longer than a page", [[P - 300, 2 * P + 300]]],
  [
    "in each other",
    [
      [50, 90],
      [60, 70],
      [65, 95],
    ],
  ],
  [
    "in each other over an edge",
    [
      [P - 30, P + 60],
      [P - 20, P - 10],
      [P + 20, P + 80],
    ],
  ],
  [
    "side by side",
    [
      [50, 60],
      [60, 70],
      [71, 80],
    ],
  ],
  ["a page of them", Array.from({ length: P / 4 }, (_, i): Name => [4 * i, 4 * i + 3])],
])("%s", async (_, names) => {
  const path = temporaryFolder();
  const environment = await openStore(path, { readOnly: false });
  onTestFinished(() => environment.close());
  const lists = new NameLists(kernel);
  lists.add(text, listOf(names), P);
  lists.addNone(P + 1, P);
  lists.add(text, listOf(names), P);
  let blocks = 0;
  const write: SegmentTarget["write"] = (work) => environment.writeSync(work);
  lists.write({ environment, segment: 1, write }, 1, (_, count) => void (blocks = count));
  const snapshot = environment.snapshot();
  onTestFinished(() => snapshot.close());
  const found = stored(snapshot, 1, { blocks, pages: 10 });
  const wanted = new Set([...gramsOf(text, names), ...gramsOf(text, names, 6)]);
  expect([...wanted].filter((one) => !found.has(one))).toEqual([]);
  // adjacent names count as one
  const joins = gramsOf(text, [[50, 95]]);
  const more = [...found].filter((one) => !wanted.has(one) && !joins.has(one.replace(/^6 /, "0 ")));
  expect(more.filter((one) => !edgeGrams.has(Number(one.split(" ")[1])))).toEqual([]);
});

test("the lists exist in every edition, also for a merged segment", async () => {
  const path = temporaryFolder();
  const engine = await openEngine({}, path);
  for (let i = 0; i < 9; i++)
    await engine.index(
      documents({
        name: `r${i}`,
        files: [{ path: "a.ts", content: `class Found${i} { own${i}() {} }` }],
      }),
    );
  const environment = openEnvironment(path, { readOnly: true });
  const snapshot = environment.snapshot();
  const { segments } = readManifest(snapshot);
  expect(segments.map(({ files }) => files)).toEqual([8, 1]);
  for (const { segment, symbols: edition } of segments) {
    const reader = openSegment(snapshot, segment)!;
    const symbols = openSymbols(snapshot, segment, edition)!;
    const wanted = new Set<string>();
    for (let blob = 0; blob < reader.header.blobs; blob++) {
      const content = Uint8Array.from(
        Buffer.from(Buffer.from(reader.blobText(snapshot, blob)).toString().toLowerCase()),
      );
      const list = symbols.definitions(snapshot, blob, content.length);
      const names = Array.from({ length: list.count }, (_, row): Name => {
        const [start, end] = list.rows.subarray(row * SYMBOL_ROW);
        return [start!, end!];
      });
      expect(names.length).toBe(2);
      for (const one of gramsOf(content, names, reader.firstPages[blob])) wanted.add(one);
    }
    const found = stored(snapshot, segment, {
      blocks: symbols.header.nameBlocks!,
      pages: reader.header.pages,
    });
    expect([...wanted].filter((one) => !found.has(one))).toEqual([]);
  }
  snapshot.close();
  await environment.close();
});
