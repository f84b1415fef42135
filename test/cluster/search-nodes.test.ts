/** Fronts over real nodes that answer, fail and come back: the answer is that of one engine, or says what is missing. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { nodeClient } from "../../src/cluster/front/node-client.ts";
import { ownersOf, Placement } from "../../src/cluster/catalog/placement.ts";
import {
  searchNodes,
  type NodesAnswer,
  type NodesAsked,
} from "../../src/cluster/front/search-nodes.ts";
import { fetchHandler } from "../../src/base/direct-handlers.ts";
import { nodeHandler, type NodeOptions } from "../../src/cluster/node/node-handler.ts";
import type { Engine } from "../../src/engine.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "../engine/opened.ts";
import { comparable } from "./comparable.ts";
import { sliced } from "./sliced.ts";
import { RUNS } from "../runs.ts";

const SECRET = "between machines";
const SLICES = 3;

/** The faults of a node. */
interface Faults {
  /** Whether it answers nothing, or breaks off. */
  isDown: boolean;
  /** Whether it fails as soon as it is asked to show files. */
  failsToShow: boolean;
  /** Whether it no longer has the generation. */
  isBehind: boolean;
  /** Whether it already runs as many searches as it accepts. */
  isFull: boolean;
  delayMs: number;
}

interface Node {
  readonly url: string;
  readonly faults: Faults;
  asked: number;
}

/** Starts this many nodes, each of which could answer for every slice of an engine's directory. */
async function startNodes(engine: Engine, count: number): Promise<Node[]> {
  const parts = await sliced(engine);
  const servers: Server[] = [];
  onTestFinished(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
    await parts.close();
  });
  const nodes: Node[] = [];
  for (let i = 0; i < count; i++) {
    const faults: Faults = {
      isDown: false,
      failsToShow: false,
      isBehind: false,
      isFull: false,
      delayMs: 0,
    };
    const options: NodeOptions = {
      secret: SECRET,
      maxConcurrent: 100,
      answers: {
        "/v1/search": ({ request, page }, { view, signal }) =>
          parts.heads({ view, request, options: { signal } }, page),
        "/v1/show": ({ request, files }, { view, signal }) =>
          parts.showHeads({ view, request, options: { signal } }, files),
      },
      hold: async (slices) => {
        if (faults.isBehind) return undefined;
        const own = slices.map(([, , slice]) => slice);
        const view = await parts.partsOf(await parts.newest(), own, SLICES);
        return {
          view,
          viewer: undefined,
          originOf: (segment) => [1, segment],
          release: () => undefined,
        };
      },
    };
    const listener = toNodeListener(fetchHandler(nodeHandler(options)));
    const full = toNodeListener(fetchHandler(nodeHandler({ ...options, maxConcurrent: 0 })));
    const server = createServer((request, response) => {
      node.asked++;
      const fails = faults.isDown || (faults.failsToShow && request.url === "/v1/show");
      if (fails) return void request.socket.destroy();
      if (faults.isFull) return full(request, response);
      setTimeout(() => listener(request, response), faults.delayMs).unref();
    }).listen(0, "127.0.0.1");
    await new Promise((done) => server.once("listening", done));
    servers.push(server);
    const node = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      faults,
      asked: 0,
    };
    nodes.push(node);
  }
  return nodes;
}

async function indexed(): Promise<Engine> {
  const engine = await openEngine();
  for (const name of ["a", "b", "c", "d", "e", "f"]) {
    const files = Array.from({ length: 12 }, (_, i) => ({
      path: `${name}${i}.ts`,
      content: `export const needle${i} = "${"needle ".repeat((i * 5) % 4)}";\n`,
    }));
    await engine.index(documents({ name, files }), { symbols: "skip" });
  }
  return engine;
}

const request = { query: "needle", matches: 40 };

/** Places each slice on the nodes that ownersOf() returns. */
function placed(nodes: readonly Node[], replicas: number): NodesAsked["slices"] {
  const urls = nodes.map(({ url }) => url);
  return Array.from({ length: SLICES }, (_, slice) => ({
    slice: [1, 1, slice] as const,
    replicas: ownersOf(urls, [1, slice], replicas),
  }));
}

async function front(engine: Engine, count: number, replicas: number) {
  const nodes = await startNodes(engine, count);
  const client = nodeClient(SECRET);
  onTestFinished(() => client.close());
  const slices = placed(nodes, replicas);
  const search = (asked: Partial<NodesAsked> = {}): Promise<NodesAnswer> =>
    searchNodes(client, { request, slices, ...asked });
  return { nodes, slices, search };
}

test("answers stay complete if any node fails at any moment while a replica is left", async () => {
  const engine = await indexed();
  const whole = comparable(await engine.search(request));
  const { nodes, slices, search } = await front(engine, 4, 2);
  const fault = fc.constantFrom("isDown", "failsToShow", "isBehind");
  const check = async (at: number, which: "isDown" | "failsToShow" | "isBehind") => {
    const { faults } = nodes[at]!;
    faults[which] = true;
    const answer = await search();
    faults[which] = false;
    expect(comparable(answer as Exclude<NodesAnswer, "stale">)).toEqual(whole);
  };
  await fc.assert(fc.asyncProperty(fc.nat(3), fault, check), { numRuns: 15 * RUNS });
  expect(slices.every(({ replicas }) => replicas.length === 2)).toBe(true);
  expect(nodes.filter(({ asked }) => asked > 0).length).toBeGreaterThan(1);
});

test("without a replica, the answer says that it is partial, and nothing is counted twice", async () => {
  const engine = await indexed();
  const whole = await engine.search(request);
  const { nodes, slices, search } = await front(engine, 3, 1);
  const victim = nodes.find(({ url }) => slices.some(({ replicas }) => replicas[0] === url))!;
  const lost = slices.filter(({ replicas }) => replicas[0] === victim.url).length;
  victim.faults.isDown = true;
  const answer = (await search()) as Exclude<NodesAnswer, "stale">;
  expect(answer.stats.crashes).toBe(lost);
  expect(answer.isSearchExhaustive).toBe(false);
  expect(answer.stats.totalMatchCount).toBeLessThan(whole.stats.totalMatchCount);
  victim.faults.isDown = false;
  expect(comparable((await search()) as typeof answer)).toEqual(comparable(whole));
});

test("a generation that no replica still has is stale", async () => {
  const engine = await indexed();
  const { nodes, search } = await front(engine, 3, 2);
  for (const { faults } of nodes) faults.isBehind = true;
  expect(await search()).toBe("stale");
});

test("a slow node is skipped, and the answer says that time ran out", async () => {
  const engine = await indexed();
  const { nodes, slices, search } = await front(engine, 3, 1);
  const slow = nodes.find(({ url }) => slices.some(({ replicas }) => replicas[0] === url))!;
  slow.faults.delayMs = 3_600_000;
  const answer = (await search({ timeoutMs: 200 })) as Exclude<NodesAnswer, "stale">;
  expect(answer.stats).toMatchObject({ flushReason: "FLUSH_REASON_TIMER_EXPIRED" });
  expect(answer.stats.shardsSkipped).toBeGreaterThan(0);
  expect(answer.isSearchExhaustive).toBe(false);
});

test("a query with a syntax error is rejected, and no node counts as failed", async () => {
  const engine = await indexed();
  const { nodes, search } = await front(engine, 3, 2);
  await expect(search({ request: { query: "a or or b", matches: 1 } })).rejects.toMatchObject({
    code: "QUERY_SYNTAX",
  });
  expect(nodes.reduce((sum, { asked }) => sum + asked, 0)).toBeLessThanOrEqual(SLICES);
});

test("overloaded nodes cause OVERLOADED, never a partial answer", async () => {
  const engine = await indexed();
  const { nodes, search } = await front(engine, 3, 2);
  for (const { faults } of nodes) faults.isFull = true;
  await expect(search()).rejects.toMatchObject({ code: "OVERLOADED" });
  nodes[0]!.faults.isFull = false;
  nodes[1]!.faults.isFull = false;
  expect(comparable((await search()) as Exclude<NodesAnswer, "stale">)).toEqual(
    comparable(await engine.search(request)),
  );
});

test("an abort ends the search", async () => {
  const engine = await indexed();
  const { nodes, search } = await front(engine, 2, 1);
  for (const { faults } of nodes) faults.delayMs = 3_600_000;
  const stop = new AbortController();
  const answer = search({ signal: stop.signal });
  stop.abort();
  await expect(answer).rejects.toMatchObject({ code: "ABORTED" });
});

test("owners are spread evenly, and few slices move when a node joins or leaves", () => {
  const nodes = Array.from({ length: 8 }, (_, i) => `node-${i}`);
  const slices = Array.from({ length: 800 }, (_, i) => [i >> 2, i & 3] as const);
  const owners = slices.map((slice) => ownersOf(nodes, slice, 2));
  const owned = new Map(
    nodes.map((node) => [node, owners.filter((two) => two.includes(node)).length]),
  );
  for (const count of owned.values()) expect(Math.abs(count - 200)).toBeLessThan(60);
  const [gone, ...left] = nodes;
  slices.forEach((slice, i) => {
    const after = ownersOf(left, slice, 2);
    const stayed = owners[i]!.filter((node) => node !== gone);
    expect(after).toEqual(expect.arrayContaining(stayed));
    if (!owners[i]!.includes(gone!)) expect(after).toEqual(owners[i]);
  });
  expect(ownersOf(["only"], [1, 1], 2)).toEqual(["only"]);
  expect(ownersOf(nodes.toReversed(), [1, 1], 3)).toEqual(ownersOf(nodes, [1, 1], 3));
});

test("owners that a machine remembers are those of the newest nodes", () => {
  const placement = new Placement(2);
  const all = Array.from({ length: 6 }, (_, i) => `node-${i}`);
  for (const nodes of [all, [...all], all.slice(1), all, []]) {
    placement.place(nodes);
    for (let i = 0; i < 50; i++) {
      const slice = [i % 7, i] as const;
      expect(placement.ownersOf(slice)).toEqual(ownersOf(nodes, slice, 2));
      expect(placement.ownersOf(slice)).toBe(placement.ownersOf(slice));
    }
  }
});
