/**
 * Nodes that die during a stream. A replica continues the stream at the same generation: each file is delivered once,
 * and the counters are those of one engine. If no replica can, the stream says that it is partial.
 *
 * | what fails                                                  | what the caller gets                    |
 * | ----------------------------------------------------------- | --------------------------------------- |
 * | a node, after any number of files                           | everything, counters as without it      |
 * | the same, with several slices on three nodes                | the same                                |
 * | the same, for a viewer of one repository                    | the same, and nothing of the others     |
 * | the same, if the request has fewer matches or bytes         | exactly as many                         |
 * | a node, then its replica, before, at or after the same file | everything: the first one is back       |
 * | a node, and its replica became ready just now               | everything: the front looks again       |
 * | a node, and its replica is gone                             | the files so far, crashes               |
 * | a node, and its replica has only a newer generation         | the same                                |
 * | a node, and its replica is overloaded                       | OVERLOADED, as before the first file    |
 * | each replica, each time                                     | the files so far, crashes after 5       |
 * | a node, after more files than the front remembers           | the files so far, crashes               |
 */

import { describe, expect } from "vitest";
import type { ClusterEngine, ClusterOptions } from "../../src/cluster/index.ts";
import { nodeClient } from "../../src/cluster/front/node-client.ts";
import { streamNodes } from "../../src/cluster/front/stream-nodes.ts";
import type { Engine, SearchEvent, SearchOptions } from "../../src/index.ts";
import { comparable } from "./comparable.ts";
import { openFront, SECRET, startNode, startNodes } from "./fronts.ts";
import { newCluster, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";
import { someOf } from "../runs.ts";

/** With this many matches in each file, each file is a separate frame. */
const MATCHES = 512;
const FILES = 6;
const ALL = FILES * MATCHES;

const text = (name: string, n: number): string => `${name} ${n}\n${"needle".repeat(MATCHES)}`;
const contents = (name: string, count = FILES): string[] =>
  Array.from({ length: count }, (_, n) => text(name, n));

/** Starts nodes with a replica of each slice, and a front. */
async function filled(
  fill: (front: ClusterEngine) => Promise<unknown> = (front) =>
    front.index(shop("shop", ...contents("shop"))),
  { count = 2, ...options }: Partial<ClusterOptions> & { readonly count?: number } = {},
) {
  const cluster = await newCluster({ onWarning: () => undefined, ...options });
  const nodes = await startNodes(cluster, count);
  const front = await openFront(cluster);
  await fill(front);
  const missing = async () => (await front.status()).nodes.map((one) => one.missingBytes);
  await expect.poll(missing).toEqual(nodes.map(() => 0));
  await front.refresh();
  const asked = () => nodes.filter((node) => node.asked.has("/v1/stream"));
  /** Streams once, and resolves to the nodes in the order in which the stream asks them. */
  const inOrder = async () => {
    await streamed(front);
    const [first] = asked();
    nodes.forEach((node) => node.asked.clear());
    return [first!, ...nodes.filter((node) => node !== first)];
  };
  return { cluster, nodes, front, asked, inOrder };
}

interface Streamed {
  /** Sorted. A file that comes twice is in it twice. */
  readonly files: readonly string[];
  readonly counters: Readonly<Record<string, unknown>>;
  readonly isWhole: boolean;
  /** The sums of the chunks' counters. */
  readonly told: Readonly<Record<string, number>>;
}

async function sumOf(events: AsyncIterable<SearchEvent | "stale">): Promise<Streamed> {
  const files: string[] = [];
  const told: Record<string, number> = {};
  for await (const event of events) {
    if (event === "stale") throw new Error("the stream is stale");
    if (event.type === "final") {
      const { accumulatedStats: stats, isSearchExhaustive } = event;
      const all = comparable({ stats, isSearchExhaustive, files: [], repositoryInfo: [] });
      return { files: files.sort(), counters: all.counters, isWhole: isSearchExhaustive, told };
    }
    for (const { repository, fileName } of event.files)
      files.push(`${repository}/${fileName.text}`);
    for (const [name, value] of Object.entries(event.stats))
      if (typeof value === "number") told[name] = (told[name] ?? 0) + value;
  }
  throw new Error("a stream without an end");
}

const streamed = (front: Engine, matches = 1e6, options: SearchOptions = {}): Promise<Streamed> =>
  sumOf(front.stream({ query: "needle", matches }, options));

/** Expects that the chunks together count no more than the last event. */
function expectNothingTwice({ told, counters }: Streamed): void {
  for (const [name, count] of Object.entries(counters))
    if (name in told) expect([name, told[name]! <= Number(count)]).toEqual([name, true]);
}

const withoutTold = ({ files, counters, isWhole }: Streamed) => ({ files, counters, isWhole });

describe("a node that dies", () => {
  test("after any number of files is continued by its replica", async () => {
    const { front, asked, inOrder } = await filled();
    const whole = await streamed(front);
    expect([whole.files.length, whole.isWhole]).toEqual([FILES, true]);
    const [first] = await inOrder();
    for (let frames = 0; frames <= FILES; frames++) {
      first!.streamFrames = [frames];
      const given = await streamed(front);
      expect([frames, withoutTold(given)]).toEqual([frames, withoutTold(whole)]);
      expectNothingTwice(given);
      expect(given.told["actualMatchCount"]).toBe(ALL);
      expect(first!.streamFrames).toEqual([]);
    }
    expect(asked()).toHaveLength(2);
  });

  test("with several slices on three nodes is continued by the replicas of each slice", async () => {
    const fill = async (front: ClusterEngine) => {
      for (let n = 1; n <= 3; n++)
        for (const name of ["a", "b"]) await front.index(shop(name, ...contents(name, n)));
    };
    const { front, nodes } = await filled(fill, { count: 3, shardBytes: 4_000 });
    const whole = await streamed(front);
    expect([whole.files.length, whole.isWhole]).toEqual([6, true]);
    for (const node of nodes)
      for (let frames = 0; frames < 4; frames++) {
        node.streamFrames = [frames];
        const given = await streamed(front);
        expect([frames, withoutTold(given)]).toEqual([frames, withoutTold(whole)]);
        expectNothingTwice(given);
      }
    expect(nodes.some(({ streamFrames }) => streamFrames.length === 0)).toBe(true);
  });

  test("is continued by a replica that hides the same from a viewer", async () => {
    const { front, inOrder } = await filled(async (engine) => {
      for (const name of ["open", "secret"]) await engine.index(shop(name, ...contents(name)));
    });
    const viewer = { repositoryIds: new Set([(await front.repository("open"))!.id]) };
    const whole = await streamed(front, 1e6, { viewer });
    const [first] = await inOrder();
    for (let frames = 0; frames <= FILES; frames++) {
      first!.streamFrames = [frames];
      expect(withoutTold(await streamed(front, 1e6, { viewer }))).toEqual(withoutTold(whole));
    }
    expect(whole.files.every((file) => file.startsWith("open/"))).toBe(true);
  });

  test.each(someOf([1, MATCHES, MATCHES + 1, 3 * MATCHES - 1, ALL - 1, ALL], 2))(
    "in a request for %s matches does not change how many are delivered",
    async (matches) => {
      const { front, inOrder } = await filled();
      const [first] = await inOrder();
      for (let frames = 0; frames <= FILES; frames++) {
        first!.streamFrames = [frames];
        const { files, counters, isWhole } = await streamed(front, matches);
        expect(counters).toMatchObject({ actualMatchCount: matches, totalMatchCount: ALL });
        expect(counters).toMatchObject({ crashes: 0, fileCount: FILES });
        expect(isWhole).toBe(matches === ALL);
        expect(files).toHaveLength(Math.ceil(matches / MATCHES));
        expect(new Set(files).size).toBe(files.length);
      }
    },
  );

  test("in a request for few bytes does not change the number of files", async () => {
    const { front, inOrder } = await filled();
    const [first] = await inOrder();
    for (const maxBytes of [1, 100_000, 250_000]) {
      const count = (await streamed(front, 1e6, { maxBytes })).files.length;
      expect(count).toBeLessThan(FILES);
      for (let frames = 0; frames <= FILES; frames++) {
        first!.streamFrames = [frames];
        const { files, counters } = await streamed(front, 1e6, { maxBytes });
        expect([files.length, new Set(files).size, counters["crashes"]]).toEqual([count, count, 0]);
      }
    }
  });

  test("before its replica dies, too, continues again if it is back", async () => {
    const { front, inOrder } = await filled();
    const whole = await streamed(front);
    const [first, second] = await inOrder();
    for (let one = 0; one <= FILES; one++)
      for (const other of [0, Math.max(0, one - 1), one, Math.min(FILES, one + 2)]) {
        first!.streamFrames = [one];
        second!.streamFrames = [other];
        const given = await streamed(front);
        expect([one, other, withoutTold(given)]).toEqual([one, other, withoutTold(whole)]);
        expectNothingTwice(given);
        expect([first!.streamFrames, second!.streamFrames]).toEqual([[], []]);
      }
  });

  test("is continued by a replica that has just become ready", async () => {
    const { cluster, front, nodes } = await filled(undefined, { count: 1 });
    const whole = await streamed(front);
    const [first] = nodes;
    first!.streamFrames = [2];
    first!.isMortal = true;
    const events = front.stream({ query: "needle", matches: 1e6 })[Symbol.asyncIterator]();
    const begun = await events.next();
    await startNode(cluster, "later"); // ready when this resolves
    const given = await sumOf(
      (async function* () {
        yield begun.value as SearchEvent;
        yield* { [Symbol.asyncIterator]: () => events };
      })(),
    );
    expect(withoutTold(given)).toEqual(withoutTold(whole));
  });
});

describe("the stream is partial, and says so", () => {
  const isPartial = ({ files, counters, isWhole }: Streamed, most = FILES - 1): void => {
    expect(new Set(files).size).toBe(files.length);
    expect([counters["crashes"], isWhole, files.length <= most]).toEqual([1, false, true]);
  };

  test("if no replica is left", async () => {
    const { front, inOrder } = await filled();
    const [first, second] = await inOrder();
    Object.assign(first!, { streamFrames: [2], isMortal: true, endsCleanly: true });
    second!.cut();
    const given = await streamed(front);
    isPartial(given, 2);
    expect(given.files.length).toBeGreaterThan(0);
  });

  test("if the replica has only a newer generation", async () => {
    const { front, inOrder, nodes } = await filled();
    const [first, second] = await inOrder();
    Object.assign(first!, { streamFrames: [2], isMortal: true, endsCleanly: true });
    const events = front.stream({ query: "needle", matches: 1e6 });
    let isBegun = false;
    const given = await sumOf(
      (async function* () {
        for await (const event of events) {
          yield event;
          if (isBegun) continue;
          isBegun = true;
          first!.mend();
          await front.index(shop("shop", ...contents("newer")));
          await second!.restart();
          first!.cut();
        }
      })(),
    );
    isPartial(given, 2);
    expect(nodes.some(({ asked }) => asked.has("/v1/stream"))).toBe(true);
    expect((await streamed(front)).isWhole).toBe(true);
  });

  test("unless the replica is overloaded, which rejects the stream, as before its first file", async () => {
    const { front, inOrder } = await filled();
    const [first, second] = await inOrder();
    first!.streamFrames = [2];
    first!.isMortal = true;
    second!.isFull = true;
    await expect(streamed(front)).rejects.toMatchObject({ code: "OVERLOADED" });
  });

  test.each([0, 1, 3])("if each replica dies each time after %s files", async (frames) => {
    const { nodes, front } = await filled();
    nodes.forEach((node) => (node.streamFrames = Array<number>(9).fill(frames)));
    const given = await streamed(front);
    isPartial(given);
    const calls = nodes.reduce((sum, { asked }) => sum + (asked.get("/v1/stream") ?? 0), 0);
    expect(calls).toBe(5);
  });

  test("if more files were delivered than the front remembers", async () => {
    const { front, inOrder } = await filled();
    const order = await inOrder();
    order[0]!.endsCleanly = true;
    const generation = (await front.status()).shards[0]!.published;
    const client = nodeClient(SECRET);
    const placed = { slice: [1, generation, 0] as const, replicas: order.map(({ url }) => url) };
    const stream = (mostRemembered: number) =>
      sumOf(
        streamNodes(client, {
          request: { query: "needle", matches: 1e6 },
          slices: [placed],
          isElsewhere: () => Promise.resolve(false),
          placedNow: (slices) => Promise.resolve(slices),
          mostRemembered,
        }),
      );
    for (const [most, frames] of [
      [0, 1],
      [2, 3],
      [3, FILES],
    ] as const) {
      order[0]!.streamFrames = [frames];
      isPartial(await stream(most), frames);
      order[0]!.streamFrames = [frames];
      expect((await stream(frames)).isWhole).toBe(true);
    }
    client.close();
  });
});

/** Ends a stream over two nodes that send one frame and no more. */
async function ofStalling(options: (stop: AbortController) => SearchOptions) {
  const { nodes, front } = await filled();
  for (const node of nodes) Object.assign(node, { streamFrames: [1], stalls: true });
  const stop = new AbortController();
  let files = 0;
  const request = { query: "needle", matches: 1000 };
  for await (const event of front.stream(request, options(stop))) {
    if (event.type === "final") return { files, ...event };
    files += event.files.length;
    setImmediate(() => stop.abort());
  }
  throw new Error("a stream without an end");
}

test("a stream that stalls after some files ends in time, and says so", async () => {
  const { files, accumulatedStats, isSearchExhaustive } = await ofStalling(() => ({
    timeoutMs: 2_000,
  }));
  const late = { flushReason: "FLUSH_REASON_TIMER_EXPIRED", shardsSkipped: 1, crashes: 0 };
  expect(accumulatedStats).toMatchObject(late);
  expect([files > 0, isSearchExhaustive]).toEqual([true, false]);
});

test.each([undefined, 3_600_000])(
  "a stream that stalls ends when the caller gives up (a limit of %s ms)",
  async (timeoutMs) => {
    const given = timeoutMs === undefined ? {} : { timeoutMs };
    const left = ofStalling(({ signal }) => ({ signal, ...given }));
    await expect(left).rejects.toMatchObject({ name: "QuernError", code: "ABORTED" });
  },
);

test("a stream that does not begin ends when the caller gives up", async () => {
  const { nodes, front } = await filled();
  for (const node of nodes) node.delayMs = 3_600_000;
  const stop = new AbortController();
  const options = { signal: stop.signal, timeoutMs: 3_600_000 };
  const next = front
    .stream({ query: "needle", matches: 1 }, options)
    [Symbol.asyncIterator]()
    .next();
  setImmediate(() => stop.abort());
  await expect(next).rejects.toMatchObject({ name: "QuernError", code: "ABORTED" });
});
