/**
 * Segments with right checksums and hostile content, which somebody can make who may write the object store of a
 * cluster. A search gives an answer, leaves out the segment, or fails with INDEX_CORRUPT, in bounded time and memory.
 */

import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack, unpack } from "msgpackr";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { open, openWith } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import {
  LAYOUT,
  numberOf,
  OVERLAP,
  PAGE_BYTES,
  PART,
  SEGMENTS_RANGE,
} from "../../src/store/format/format.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { tellFigure } from "../figures.ts";
import { someOf } from "../runs.ts";

type Hurt = (value: Buffer) => Buffer;

/** Returns a fault that replaces each word of a value. */
const words =
  (of: (word: number, at: number) => number): Hurt =>
  (value) => {
    const changed = Buffer.from(value);
    for (let at = 0; at + 4 <= changed.length; at += 4)
      changed.writeUInt32LE(of(value.readUInt32LE(at), at) >>> 0, at);
    return changed;
  };

const HURTS: [what: string, hurt: Hurt][] = [
  ["ones", (value) => Buffer.alloc(value.length, 0xff)],
  ["fifty times it", (value) => Buffer.concat(Array.from({ length: 50 }, () => value))],
  ["counts and offsets of billions", words((word, at) => (at % 8 === 0 ? 0x7fff_ffff : word))],
  ["in falling order", words((_, at) => 1_000_000 - at)],
];

/** Returns a MessagePack record with each of its numbers replaced. */
const numbers = (record: unknown, by: number): unknown => {
  if (typeof record === "number") return by;
  if (Array.isArray(record)) return record.map((one) => numbers(one, by));
  if (typeof record !== "object" || record === null) return record;
  return Object.fromEntries(Object.entries(record).map(([name, one]) => [name, numbers(one, by)]));
};

const DEEP = 100_000;
const RECORDS: [what: string, hurt: Hurt][] = [
  ...[0, -1, 0.5, Number.NaN, 2 ** 32 - 1, 2 ** 53].map((by): [string, Hurt] => [
    `numbers that are ${by}`,
    (value) => pack(numbers(unpack(value), by)),
  ]),
  ["lists in each other", () => Buffer.concat([Buffer.alloc(DEEP, 0x91), Buffer.of(0xc0)])],
  ["a list of four billion", () => Buffer.from("ddffffffff", "hex")],
  ["a map of four billion", () => Buffer.from("dfffffffff", "hex")],
  ["a text of four billion", () => Buffer.from("dbffffffff", "hex")],
  ["a name of a prototype", () => Buffer.from("81a95f5f70726f746f5f5f81a161c3", "hex")],
];

/**
 * The counts and sizes of a header. Each is changed alone, because otherwise the first one that is used would hide the
 * others.
 */
const COUNTS = [
  "blobs",
  "pages",
  "files",
  "textBytes",
  "listBytes",
  "postingBlocks",
  "repositories",
  "pageBytes",
  "blockBytes",
] as const;
const MOST = 2 ** 32 - 1;
const counted = (name: (typeof COUNTS)[number], by: number): Hurt =>
  inHeader((value) => pack({ ...(unpack(value) as object), [name]: by }));

/** Returns a fault in a header's record, which has its length before it, and columns after it. */
const inHeader =
  (hurt: Hurt): Hurt =>
  (value) => {
    const end = 4 + value.readUInt32LE(0);
    const record = hurt(value.subarray(4, end));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(record.length);
    return Buffer.concat([length, record, value.subarray(end)]);
  };

const path = mkdtempSync(join(tmpdir(), "quern-segment-"));
afterAll(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
beforeAll(async () => {
  const files = Array.from({ length: 30 }, (_, n) => ({
    path: `src/${n}.ts`,
    content: `export function made${n}() {}\n${n % 3 === 0 ? "// straße\n" : ""}`.repeat(1 + n * 9),
  }));
  for (const [folder, fileBlocks] of [
    ["values", 1_000],
    ["file", 1],
  ] as const) {
    const layout = { ...LAYOUT, fileBlocks };
    const engine = await openWith(join(path, folder), { workers: 0 }, { layout });
    await engine.index(documents({ name: "r", files }));
    await engine.close();
  }
});

/** Returns the MiB of memory of this process without mapped files. */
const memory = (): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? 0) / 1024;

const QUERIES = ["made1", "straße", "-made2", "sym:made", "file:src", "lang:typescript made"];

/**
 * Resolves to the outcome of each call on a directory in which a part of the segment has another value: its code, or
 * "an answer".
 */
async function told(part: number, hurt: Hurt, which = 0): Promise<Set<string>> {
  const copy = join(temporaryFolder(), "index");
  const from = join(path, part === PART.SEALS ? "file" : "values");
  cpSync(from, copy, { recursive: true });
  const environment = await openStore(copy, { readOnly: false });
  await environment.write((writer) => {
    const keys = [...writer.keys(SEGMENTS_RANGE)].map((key) => Buffer.from(key));
    const hurtOnes = keys.filter((key) => key[5] === part && (numberOf(key) & 0xff_ff_ff) >= which);
    if (hurtOnes.length === 0) throw new Error("nothing to hurt");
    const chosen = part === PART.HEADER ? hurtOnes : hurtOnes.slice(0, 1);
    for (const key of chosen) writer.put(key, hurt(Buffer.from(writer.get(key, "it")!)));
  });
  await environment.close();
  const engine = await open(copy, { workers: 0, onWarning: () => {} });
  const got = new Set<string>();
  const ask = (call: Promise<unknown>) =>
    call.then(
      () => got.add("an answer"),
      ({ code, message }: { code?: string; message: string }) =>
        got.add(code === "ABORTED" ? "an answer" : (code ?? message)),
    );
  for (const query of QUERIES)
    await ask(engine.search({ query, matches: 20 }, { timeoutMs: 2_000 }));
  await ask(engine.search({ query: "made\\d+", isRegexEnabled: true, matches: 20 }));
  await ask(engine.list({ repository: "r", path: "src" }));
  await ask(engine.read({ repository: "r", path: "src/7.ts" }));
  await ask(engine.repositories());
  const files = [{ path: "b.ts", content: "made1" }];
  await ask(engine.index(documents({ name: "more", files }), { symbols: "skip" }));
  const merged = new AbortController(); // otherwise it waits until no search reads the merged segments
  const onProgress = ({ done, total }: { done: number; total: number }) => {
    if (done === total) merged.abort();
  };
  await ask(engine.compact({ signal: merged.signal, onProgress }));
  await engine.close();
  return got;
}

/** Objects have no RUNS, because a segment in a cluster borrows nothing. */
const PARTS = Object.entries(PART).filter(
  ([name]) => name !== "RANGES" && name !== "RUNS" && name !== "HISTORY",
);
const ROWS = [
  ...PARTS.flatMap(([name, part]) =>
    HURTS.map(([what, hurt]) => [name, what, () => told(part, hurt)] as const),
  ),
  ...HURTS.map(
    ([what, hurt]) => ["symbols of a blob", what, () => told(PART.SYMBOLS, hurt, 2)] as const,
  ),
  ...HURTS.map(
    ([what, hurt]) => ["states of blobs", what, () => told(PART.SYMBOLS, hurt, 1)] as const,
  ),
  ...RECORDS.map(
    ([what, hurt]) => ["HEADER", what, () => told(PART.HEADER, inHeader(hurt))] as const,
  ),
  ...COUNTS.map(
    (name) =>
      ["HEADER", `four billion ${name}`, () => told(PART.HEADER, counted(name, MOST))] as const,
  ),
  ...[
    { name: "pageBytes", bytes: OVERLAP } as const,
    { name: "blockBytes", bytes: PAGE_BYTES } as const,
  ].map(
    ({ name, bytes }) =>
      ["HEADER", `the least ${name}`, () => told(PART.HEADER, counted(name, bytes))] as const,
  ),
  ...RECORDS.map(([what, hurt]) => ["SYMBOLS", what, () => told(PART.SYMBOLS, hurt)] as const),
];

/** The limit of milliseconds of the process for all calls, and of MiB. */
const MOST_WORK_MS = 2_000;
const MOST_MIB = 200;

describe.runIf(process.platform === "linux")("a segment with", () => {
  test.each(someOf(ROWS, 3))("%s: %s", async (_name, _what, run) => {
    const [before, held] = [process.cpuUsage(), memory()];
    const got = await run();
    const { user, system } = process.cpuUsage(before);
    const [ms, grown] = [(user + system) / 1_000, memory() - held];
    tellFigure(
      `${_name}: ${_what}: ${[...got].join()} ${ms.toFixed(0)} ms, ${grown.toFixed(0)} MiB`,
    );
    expect([...got].filter((code) => code !== "an answer" && code !== "INDEX_CORRUPT")).toEqual([]);
    expect(ms).toBeLessThan(MOST_WORK_MS);
    expect(grown).toBeLessThan(MOST_MIB);
  });
});

/** Nothing of the segment may be read, because a size computed from such a number could be anything. */
test.each(COUNTS.flatMap((name) => [-1, 0.5, Number.NaN, 1e300].map((by) => [name, by] as const)))(
  "a header in which %s is %d is no header",
  async (name, by) => {
    expect([...(await told(PART.HEADER, counted(name, by)))]).toEqual(["INDEX_CORRUPT"]);
  },
);

const filesOf = (hurt: (files: Buffer, count: number) => void): Hurt => {
  return (value) => {
    const changed = Buffer.from(value);
    hurt(changed, value.length / 7); // a blob of four bytes, a language of two, flags
    return changed;
  };
};

/** Faults that would cause a wrong answer without a check, because everything else in the segment is right. */
test.each<[what: string, part: number, hurt: Hurt]>([
  [
    "a language that the header does not name",
    PART.FILES,
    filesOf((files, count) => files.writeUInt16LE(9, 4 * count)),
  ],
  ["a blob that is not there", PART.FILES, filesOf((files) => files.writeUInt32LE(30, 0))],
  [
    "a blob that ends before it begins, with as many pages in all",
    PART.BLOBS,
    words((word, at) => (at === 4 ? PAGE_BYTES + 1 : word)),
  ],
])("a segment with %s counts as damaged", async (_what, part, hurt) => {
  expect(await told(part, hurt)).toContain("INDEX_CORRUPT");
});
