/** What /api/metrics counts, and what it never says. */

import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "../engine/opened.ts";
import { bearer, clientOf, post, startService } from "./service.ts";

/** Matches a line of the format strictly. */
const LINE =
  /^(?:# HELP [a-z_]+ .+|# TYPE [a-z_]+ (?:counter|gauge|histogram)|(?<name>[a-z_]+(?:\{[a-z]+="[^"\\\n]*"(?:,[a-z]+="[^"\\\n]*")*\})?) (?<value>[\d.e+-]+))$/;

async function metricsOf(engine: Engine) {
  const handler = createHandler(engine, { anonymous: "all", metrics: "anyone" });
  const client = clientOf(handler);
  const text = async () => (await client("/api/metrics")).text();
  const read = async (): Promise<Map<string, number>> => {
    const lines = (await text()).trimEnd().split("\n");
    return new Map(
      lines.flatMap((line) => {
        const { name, value } = LINE.exec(line)?.groups ?? expect.fail(`not a metric: ${line}`);
        return name === undefined ? [] : [[name, Number(value)] as const];
      }),
    );
  };
  return { client, text, read };
}

const file = (content: string) => ({ path: `${content.length}.txt`, content });

test("searches, their errors and their durations are counted for all callers", async () => {
  const engine = await openEngine();
  const { client, read } = await metricsOf(engine);
  await engine.index(documents({ name: "r", files: [file("needle")] }));
  const search = { query: "needle", matches: 1 };
  await engine.search(search);
  await (await client("/api/search", post(search))).text();
  await (await client("/api/stream_search", post(search))).text();
  await (await client("/api/explain", post(search))).text();
  await expect(engine.search({ query: "(((", matches: -1 })).rejects.toThrow();
  await (await client("/api/search", post({ query: "a or or b", matches: 1 }))).text();
  const metrics = await read();
  expect(
    Object.fromEntries([...metrics].filter(([name]) => name.startsWith("quern_search"))),
  ).toEqual(
    expect.objectContaining({
      'quern_searches_total{call="search"}': 4,
      'quern_searches_total{call="stream"}': 1,
      'quern_searches_total{call="explain"}': 1,
      'quern_search_errors_total{code="INVALID_REQUEST"}': 1,
      'quern_search_errors_total{code="QUERY_SYNTAX"}': 1,
      'quern_search_duration_seconds_bucket{le="+Inf"}': 6,
      quern_search_duration_seconds_count: 6,
      quern_search_timeouts_total: 0,
      quern_search_damaged_segments_total: 0,
    }),
  );
  expect(metrics.get('quern_http_requests_total{operation="search",status="200"}')).toBe(1);
  expect(metrics.get('quern_http_requests_total{operation="search",status="400"}')).toBe(1);
  const buckets = [...metrics].filter(([name]) => name.includes("search_duration_seconds_bucket"));
  const counts = buckets.map(([, count]) => count);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
});

test("a search that runs out of time is counted", async () => {
  const engine = await openEngine();
  const { read } = await metricsOf(engine);
  await engine.index(documents({ name: "r", files: [file("needle")] }));
  await engine.search({ query: "needle", matches: 1 }, { timeoutMs: 0.000_001 });
  expect((await read()).get("quern_search_timeouts_total")).toBe(1);
});

test("writes are counted, and sizes are current", async () => {
  const engine = await openEngine();
  const { read } = await metricsOf(engine);
  const before = await read();
  const sizes = ["quern_repositories", "quern_segments", "quern_files", "quern_text_bytes"];
  expect(sizes.map((name) => before.get(name))).toEqual([0, 0, 0, 0]);
  const [one, two] = [[file("needle"), file("hay")], [file("hayhay")]];
  await engine.index([
    documents({ name: "one", files: one! }),
    documents({ name: "two", files: two! }),
  ]);
  await expect(engine.index([], { signal: AbortSignal.abort() })).rejects.toThrow();
  await engine.remove("nothing");
  await engine.compact();
  const after = await read();
  expect(sizes.map((name) => after.get(name))).toEqual([2, 1, 3, 15]);
  expect(
    [
      'quern_writes_total{call="index"}',
      'quern_writes_total{call="remove"}',
      'quern_writes_total{call="compact"}',
      'quern_write_errors_total{code="ABORTED"}',
      "quern_write_duration_seconds_count",
      "quern_indexed_repositories_total",
      "quern_indexed_bytes_total",
    ].map((name) => after.get(name)),
  ).toEqual([2, 1, 1, 1, 4, 2, 15]);
});

const started: Worker[] = [];
const send = Reflect.get(Worker.prototype, "postMessage") as Worker["postMessage"];
beforeEach(() => {
  vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, ...given) {
    started.push(this);
    return Reflect.apply(send, this, given) as void;
  });
});
afterEach(() => void vi.restoreAllMocks());

test("workers that die are counted", async () => {
  const warnings: string[] = [];
  const engine = await openEngine({
    workers: 1,
    onWarning: ({ message }) => void warnings.push(message),
  });
  const { read } = await metricsOf(engine);
  await engine.index(documents({ name: "r", files: [file("needle")] }));
  expect((await read()).get("quern_worker_deaths_total")).toBe(0);
  await started.at(-1)!.terminate();
  await expect.poll(() => warnings).toEqual([expect.stringMatching(/^worker 0 died/)]);
  expect((await read()).get("quern_worker_deaths_total")).toBe(1);
  await engine.search({ query: "needle", matches: 1 });
});

test("no name, query or path is revealed, not even in an error", async () => {
  const engine = await openEngine();
  const { client, text } = await metricsOf(engine);
  await engine.index(documents({ name: "zq-secret", files: [{ path: "zq-path", content: "zq" }] }));
  const queries = ["zq-query", "repo:zq-secret zq", "lang:zq", "zq or or zq", "context:zq zq"];
  for (const query of queries)
    for (const route of ["search", "stream_search", "explain"])
      await (await client(`/api/${route}`, post({ query, matches: 1 }))).text();
  await (await client("/api/source?repo=zq-secret&path=zq-path")).text();
  await (await client("/api/zq")).text();
  const told = await text();
  expect(told).not.toContain("zq");
  expect(told).not.toContain(engine.path);
  expect(told).toContain('quern_search_errors_total{code="CONTEXT_NOT_FOUND"}');
});

test("an engine without traces has counts of its requests", async () => {
  const engine = await openEngine();
  const wrapped = new Proxy(engine, {
    get: (target, name) =>
      typeof name === "symbol" ? undefined : (Reflect.get(target, name) as unknown),
  });
  const { read } = await metricsOf(wrapped);
  await read();
  const names = [...(await read()).keys()];
  expect(names).toContain('quern_http_requests_total{operation="readMetrics",status="200"}');
  expect(names).toContain("process_resident_memory_bytes");
  expect(names.filter((name) => name.startsWith("quern_search"))).toEqual([]);
});

test("callers without permission learn nothing, and without the option nobody has permission", async () => {
  const { handler, keys } = await startService({ anonymous: "all" });
  const statusOf = async (secret?: string, ask = clientOf(handler)) =>
    (await ask("/api/metrics", secret === undefined ? {} : { headers: bearer(secret) })).status;
  expect(await Promise.all([statusOf(), statusOf(keys.ada), statusOf(keys.owner)])).toEqual([
    401, 403, 200,
  ]);
  const without = createHandler(await openEngine(), { anonymous: "all" });
  expect(await statusOf(undefined, clientOf(without))).toBe(404);
});
