/**
 * Streams over nodes that are made up. Each call of a node finds its files in another order, sends them in parts of
 * another size, and breaks off after another number of parts. What the caller gets is compared with the files that
 * exist.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { NodeFailed, type NodeClient } from "../../src/cluster/front/node-client.ts";
import { MOST_STREAMS, streamNodes } from "../../src/cluster/front/stream-nodes.ts";
import type {
  SentFile,
  SentStep,
  ShowCall,
  SliceAsked,
  StreamCall,
} from "../../src/cluster/wire/calls.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { zeroStats } from "../../src/search/messages/stats.ts";

const SHARD = 7;
const URLS = ["a", "b", "c"];

interface File {
  readonly slice: number;
  readonly segment: number;
  readonly file: number;
  readonly count: number;
  readonly bytes: number;
}

/** What one call of a node does. */
interface Behaviour {
  /** Determines the order of the files. */
  readonly seed: number;
  readonly filesAPart: number;
  /** The number of steps before the stream breaks. */
  readonly steps: number;
}

const file = fc.record({
  slice: fc.nat(2),
  segment: fc.nat(2),
  count: fc.integer({ min: 1, max: 5 }),
  bytes: fc.integer({ min: 1, max: 9 }),
});
const behaviour = fc.record({
  seed: fc.nat(),
  filesAPart: fc.integer({ min: 1, max: 4 }),
  steps: fc.nat(6),
});
const stream = fc.record({
  files: fc.array(file, { maxLength: 16 }),
  broken: fc.array(behaviour, { maxLength: 7 }),
  later: behaviour,
  matches: fc.oneof(fc.constant(1000), fc.nat(40)),
  maxBytes: fc.option(fc.integer({ min: 1, max: 90 }), { nil: undefined }),
  mostRemembered: fc.option(fc.nat(12), { nil: undefined }),
  gone: fc.option(fc.constantFrom(...URLS), { nil: undefined }),
});

const resultOf = (one: File, count: number): FileResult =>
  ({
    fileName: { text: nameOf(one), matchRanges: [] },
    repository: "shop",
    repositoryId: 1,
    chunks: [{ matchRanges: Array<unknown>(count).fill(0) }],
  }) as unknown as FileResult;

const nameOf = ({ segment, file: number }: Pick<File, "segment" | "file">): string =>
  `${segment}/${number}`;

/** Numbers the files of each segment. A segment's number determines its slice. */
function numbered(files: readonly Omit<File, "file">[]): File[] {
  const next = new Map<number, number>();
  return files.map((one) => {
    const segment = one.slice + 3 * one.segment;
    const number = next.get(segment) ?? 0;
    next.set(segment, number + 1);
    return { ...one, segment, file: number };
  });
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** Makes nodes that have all slices. `behaviours` has what the next calls do; later ones behave like `later`. */
function madeUp(
  files: readonly File[],
  behaviours: Behaviour[],
  { later, gone }: { readonly later: Behaviour; readonly gone: string | undefined },
): NodeClient {
  const localOf = (url: string, segment: number): number => segment + 100 * URLS.indexOf(url);
  async function* steps(url: string, asked: StreamCall, how: Behaviour): AsyncGenerator<SentStep> {
    const slices = asked.slices.map(([, , slice]) => slice);
    const own = files.filter(({ slice }) => slices.includes(slice));
    const order = [...own].sort((a, b) => orderOf(a, how) - orderOf(b, how));
    let [left, bytesLeft, sent] = [asked.request.matches, asked.maxBytes ?? Infinity, 0];
    const sending: { one: File; count: number }[] = [];
    for (const one of order) {
      if (left <= 0 || bytesLeft <= 0) break;
      const count = Math.min(left, one.count);
      sending.push({ one, count });
      left -= count;
      bytesLeft -= one.bytes;
    }
    for (let at = 0, step = 0; at < sending.length; at += how.filesAPart, step++) {
      if (step >= how.steps) throw new NodeFailed("unreachable", "broken");
      const part = sending.slice(at, at + how.filesAPart);
      sent += sum(part.map(({ count }) => count));
      yield {
        event: {
          type: "chunk",
          stats: { ...zeroStats(), fileCount: part.length },
          files: part.map(({ one, count }) => resultOf(one, count)),
          repositoryInfo: [],
        },
        files: part.map(({ one, count }): SentFile => ({
          segment: localOf(url, one.segment),
          file: one.file,
          skip: 0,
          count,
          bytes: one.bytes,
          origin: [SHARD, one.segment],
        })),
      };
    }
    if (how.steps < 6) throw new NodeFailed("unreachable", "broken before its end");
    const stats = { ...zeroStats(), fileCount: own.length, actualMatchCount: sent };
    stats.totalMatchCount = sum(own.map(({ count }) => count));
    yield {
      event: { type: "final", accumulatedStats: stats, isSearchExhaustive: true },
      files: [],
    };
  }
  return {
    stream: async (url, asked) => {
      if (url === gone) throw new NodeFailed("unreachable", "gone");
      return steps(url, asked, behaviours.shift() ?? later);
    },
    ask: async (url, _, asked) => {
      const [wanted] = (asked as ShowCall).files;
      const one = files.find(
        (each) => localOf(url, each.segment) === wanted!.segment && each.file === wanted!.file,
      )!;
      const shown = { result: resultOf(one, wanted!.count), ranges: wanted!.count, bytes: 1 };
      return { files: [shown], repositoryInfo: [], contentBytesLoaded: 0, lost: [] } as never;
    },
    close: () => undefined,
  };
}

const orderOf = ({ segment, file: number }: File, { seed }: Behaviour): number =>
  Math.imul(segment * 31 + number + 1, (seed | 1) * 0x9e3779b1) >>> 0;

test("each file is delivered once, within the limits, and the counters are those of all files or say what is lost", async () => {
  await fc.assert(
    fc.asyncProperty(
      stream,
      async ({ later, matches, maxBytes, mostRemembered, gone, ...given }) => {
        const files = numbered(given.files);
        const slices = [0, 1, 2].map((slice) => ({
          slice: [SHARD, 1, slice] as SliceAsked,
          replicas: [...URLS.slice(slice), ...URLS.slice(0, slice)],
        }));
        const whole = { ...later, steps: Infinity };
        const client = madeUp(files, [...given.broken], { later: whole, gone });
        const shown = new Map<string, number>();
        const order: string[] = [];
        const events = streamNodes(client, {
          request: { query: "needle", matches },
          slices,
          maxBytes,
          isElsewhere: () => Promise.resolve(false),
          placedNow: (some) => Promise.resolve(some),
          ...(mostRemembered !== undefined && { mostRemembered }),
        });
        let told = 0;
        for await (const event of events) {
          if (event === "stale") throw new Error("stale");
          if (event.type === "chunk") {
            told += event.stats.fileCount;
            for (const { fileName, chunks } of event.files) {
              expect(shown.has(fileName.text)).toBe(false);
              shown.set(fileName.text, chunks[0]!.matchRanges.length);
              order.push(fileName.text);
            }
            continue;
          }
          const { accumulatedStats: stats, isSearchExhaustive } = event;
          const byName = new Map(files.map((one) => [nameOf(one), one]));
          const delivered = sum([...shown.values()]);
          const bytes = order.map((name) => byName.get(name)!.bytes);
          const all = sum(files.map(({ count }) => count));
          expect(stats.actualMatchCount).toBe(delivered);
          expect(delivered).toBeLessThanOrEqual(matches);
          expect(sum(bytes.slice(0, -1))).toBeLessThan(maxBytes ?? Infinity);
          const cut = order.filter((name) => shown.get(name)! < byName.get(name)!.count);
          expect(cut.length).toBeLessThanOrEqual(1);
          // fewer broken streams, no two of them in succession, lose nothing
          if (given.broken.length < MOST_STREAMS && mostRemembered === undefined)
            expect(stats.crashes).toBe(0);
          if (stats.crashes > 0) {
            expect(isSearchExhaustive).toBe(false);
            return;
          }
          expect([stats.fileCount, stats.totalMatchCount]).toEqual([files.length, all]);
          expect(told).toBeLessThanOrEqual(files.length);
          expect(isSearchExhaustive).toBe(delivered === all);
          if (sum(bytes) < (maxBytes ?? Infinity)) expect(delivered).toBe(Math.min(matches, all));
          return;
        }
        throw new Error("a stream without an end");
      },
    ),
    { numRuns: 2000 },
  );
});

test("the streams of other slices continue while a replica does not begin to answer", async () => {
  const shop = numbered(
    Array.from({ length: 20 }, () => ({ slice: 1, segment: 0, count: 1, bytes: 1 })),
  );
  const breaks = { seed: 1, filesAPart: 1, steps: 0 };
  const made = madeUp([...shop, { slice: 0, segment: 0, file: 0, count: 1, bytes: 1 }], [breaks], {
    later: { ...breaks, steps: Infinity },
    gone: undefined,
  });
  const client: NodeClient = {
    ...made,
    stream: (url, asked) => (url === "b" ? new Promise(() => undefined) : made.stream(url, asked)),
  };
  const files: string[] = [];
  const slices = [["a", "b"], ["c"]].map((replicas, slice) => ({
    slice: [SHARD, 1, slice] as SliceAsked,
    replicas,
  }));
  const events = streamNodes(client, {
    request: { query: "needle", matches: 1000 },
    slices,
    isElsewhere: () => Promise.resolve(false),
    placedNow: (some) => Promise.resolve(some),
  });
  for await (const event of events) {
    if (event === "stale" || event.type === "final") throw new Error("the stream has ended");
    files.push(...event.files.map(({ fileName }) => fileName.text));
    if (files.length === shop.length) break;
  }
});
