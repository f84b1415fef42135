/**
 * Searches that time out at a known step. Without workers, looks at the clock always come in the same order, so the
 * test says at which look the time is up. The tests also stop streams of which the reader takes one part.
 */

import { afterEach, expect, test, vi } from "vitest";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { Control, STOPPED } from "../../src/search/messages/control.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { VisitedBlobs } from "../../src/search/thread/scanning/visited-blobs.ts";
import { LiteralScanner } from "../../src/search/thread/reading/literal-scanner.ts";
import { openEngine, sharedEngine } from "../engine/opened.ts";

const SEGMENTS = 3;
const FILES = 2; // each longer than a window, so each is a step

async function threeSegments() {
  const engine = await openEngine({ workers: 0 });
  for (let segment = 0; segment < SEGMENTS; segment++) {
    const files = Array.from({ length: FILES }, (_, file) => ({
      path: `${file}.txt`,
      content: `${"needle\n".repeat(1 + file)}${"hay\n".repeat(400_000)}`,
    }));
    await engine.index(documents({ name: `r${segment}`, files }), { symbols: "skip" });
  }
  return engine;
}

const nameOf = ({ repository, fileName }: FileResult) => `${repository} ${fileName.text}`;

afterEach(() => void vi.restoreAllMocks());

/** Makes the time be up from the given look at the clock on. */
function stopAt(look: number): void {
  let looks = 0;
  vi.spyOn(Control.prototype, "stopped", "get").mockImplementation(function (this: Control) {
    if (++looks >= look) this.stop(STOPPED.TIMED_OUT);
    return looks >= look ? STOPPED.TIMED_OUT : STOPPED.NO;
  });
}

test("what is counted of a search that time ended, at each step", async () => {
  const engine = await threeSegments();
  const seen = new Set<string>();
  let last = "";
  for (let look = 1; last !== "3 0 0 FINAL_FLUSH"; look++) {
    stopAt(look);
    const { stats, isSearchExhaustive } = await engine.search({ query: "needle", matches: 100 });
    vi.restoreAllMocks();
    const { shardsScanned, shardsSkipped, filesSkipped, filesConsidered, flushReason } = stats;
    expect(shardsScanned + shardsSkipped).toBe(SEGMENTS);
    expect(isSearchExhaustive).toBe(shardsSkipped === 0);
    // of the segment that was begun; of others nobody knows the candidates
    expect((filesConsidered + filesSkipped) % FILES).toBe(0);
    last = [shardsScanned, shardsSkipped, filesSkipped, flushReason.slice(13)].join(" ");
    seen.add(last);
  }
  expect([...seen]).toEqual([
    "0 3 0 TIMER_EXPIRED", // not begun
    "0 3 2 TIMER_EXPIRED", // planned
    "0 3 1 TIMER_EXPIRED",
    "0 3 0 TIMER_EXPIRED".replace("0 3", "1 2"), // the first is done
    "1 2 2 TIMER_EXPIRED",
    "1 2 1 TIMER_EXPIRED",
    "2 1 0 TIMER_EXPIRED",
    "2 1 2 TIMER_EXPIRED",
    "2 1 1 TIMER_EXPIRED",
    "3 0 0 FINAL_FLUSH",
  ]);
});

/** Resolves to the most work between two looks at the clock: `atoms` evaluated for files, and `scans` of a window. */
async function mostBetweenLooks(search: () => Promise<unknown>) {
  const asked = vi.spyOn(VisitedBlobs.prototype, "verdict").mock.calls;
  const scanned = vi.spyOn(LiteralScanner.prototype, "scan").mock.calls;
  const most = { atoms: 0, scans: 0 };
  const look = () => {
    most.atoms = Math.max(most.atoms, asked.splice(0).length);
    most.scans = Math.max(most.scans, scanned.splice(0).length);
  };
  vi.spyOn(Control.prototype, "stopped", "get").mockImplementation(() => (look(), STOPPED.NO));
  vi.spyOn(Control.prototype, "hasEnded", "get").mockImplementation(() => (look(), false));
  await search();
  look();
  return most;
}

const WORDS = Array.from({ length: 10 }, (_, i) => `word${i}`);
/**
 * An engine with two thousand files in one window: a thousand with different texts, and a thousand with the same text.
 */
const manyFiles = sharedEngine((engine) => {
  const files = Array.from({ length: 2_000 }, (_, i) => ({
    path: `${i}.${i < 1_000 ? "own" : "same"}`,
    // beside one file with "rare" all have the grams of "absent"
    content: `${WORDS.join(" ")} ${i === 0 ? "rare" : "abse bsen sent"} ${Math.min(i, 1_000)}\n`,
  }));
  return engine.index(documents({ name: "r", files }), { symbols: "skip" });
});

/** Between two looks at the clock 512 files are evaluated, each with this many atoms. */
test.each<[what: string, query: string, atoms: number]>([
  ["files", "(word1 or none)", 512 * 3],
  ["survivors of a term", `-(${WORDS.join(" ")} absent)`, 512 * 11],
  ["files of one text that no longer match", "absent (word1 or file:1999)", 512],
  ["files that are not read", "(rare or file:own)", 512 * 2],
])("the clock is looked at between %s, and between terms", async (_, query, atoms) => {
  const most = await mostBetweenLooks(() => manyFiles().search({ query, matches: 10 }));
  expect(most.atoms).toBeGreaterThan(0);
  expect(most.atoms).toBeLessThanOrEqual(atoms);
  expect(most.scans).toBeLessThanOrEqual(1);
});

test("the first chunk of a stream comes before the last segment is begun; who leaves ends the rest", async () => {
  // many segments, because on a busy machine the search goes on while the first files are shown
  const runs = { ...RUN_BOUNDS, segmentBytes: 1_000 };
  const engine = await openEngine({ workers: 0, internals: { runs } });
  const files = Array.from({ length: 20 }, (_, i) => ({
    path: `${i}.txt`,
    content: `needle ${i} ${"hay ".repeat(200)}`,
  }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const segments = (await engine.search({ query: "needle", matches: 0 })).stats.shardsScanned;
  expect(segments).toBeGreaterThan(10);
  const { value } = Object.getOwnPropertyDescriptor(Control.prototype, "claimSegment")!;
  const claimSegment = value as (this: Control, segment: number) => boolean;
  const claims = vi.spyOn(Control.prototype, "claimSegment");
  claims.mockImplementation(function (this: Control, segment: number) {
    for (const end = performance.now() + 6; performance.now() < end;); // longer than a slice
    return claimSegment.call(this, segment);
  });
  const ends = vi.spyOn(Control.prototype, "stop");
  for await (const event of engine.stream({ query: "needle", matches: 100 })) {
    expect(event.type).toBe("chunk");
    expect(claims.mock.calls.length).toBeLessThan(segments);
    break;
  }
  expect(ends).toHaveBeenCalledWith(STOPPED.ABORTED);
  const begun = claims.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(claims.mock.calls.length).toBe(begun);
  expect(begun).toBeLessThan(segments);
});

test("a stream's chunks are ranked each, their own counts add up, and the limit takes the first found", async () => {
  const engine = await threeSegments();
  const ranked = (await engine.search({ query: "needle", matches: 100 })).files.map(nameOf);
  const counts: number[] = [];
  let final;
  for await (const event of engine.stream({ query: "needle", matches: 7 })) {
    if (event.type === "chunk") {
      counts.push(event.stats.actualMatchCount);
      const names = event.files.map(nameOf);
      expect(names).toEqual(ranked.filter((name) => names.includes(name)));
    } else final = event;
  }
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(7);
  const { actualMatchCount, totalMatchCount } = final!.accumulatedStats;
  expect({ actualMatchCount, totalMatchCount }).toEqual({
    actualMatchCount: 7,
    totalMatchCount: 3 * SEGMENTS,
  });
  expect(final!.isSearchExhaustive).toBe(false);
});

test("an expression that only decides is looked for in every file of a window", async () => {
  const engine = await openEngine({ workers: 0 });
  const hay = "hay\n".repeat(10_000); // longer than what is run at once
  const lines = ["a1 \n", "", "b2 \n", "c3 \n"];
  const files = lines.map((line, i) => ({ path: `${i}`, content: line + hay }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  for (const query of ["-content:[0-9]", "-content:[0-9][[:blank:]]$", "-content:[a-c][0-9]"]) {
    const found = await engine.search({ query, matches: 10, isRegexEnabled: true });
    const names = found.files.map(({ fileName }) => fileName.text);
    expect(names, query).toEqual(["1"]);
  }
});

test("what is cheaper decides first: no expression runs where a literal beside it is missing", async () => {
  const engine = await openEngine({ workers: 0 });
  const files = [
    { path: "grams.txt", content: "foob ooba obar 12x\n" }, // every gram of foobar
    { path: "both.txt", content: "foobar 12x\n" },
    { path: "other.md", content: "foobar 12x\n" },
  ];
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const count = async (query: string) => {
    const { stats } = await engine.search({ query, matches: 0, isRegexEnabled: true });
    const { filesConsidered, filesLoaded, regexpsConsidered, fileCount } = stats;
    return [filesConsidered, filesLoaded, regexpsConsidered, fileCount];
  };
  expect(await count("foobar [0-9]+x")).toEqual([3, 3, 2, 2]); // the literal's scan has decided the first
  expect(await count("foobar [0-9]+x file:txt$")).toEqual([2, 2, 1, 1]); // paths come before content
  expect(await count("foobar [0-9]+x repo:none")).toEqual([0, 0, 0, 0]); // names come before paths
});
