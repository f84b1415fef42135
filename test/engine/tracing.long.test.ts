/** What an engine publishes on its tracing channels, and that it publishes nothing if nobody listens. */

import { tracingChannel } from "node:diagnostics_channel";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { coreOf } from "../../src/core-of.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createHandler } from "../../src/http/handler.ts";
import { isLong } from "../../src/search/caller/long-answer.ts";
import type { SearchEvent, SearchResponse } from "../../src/search/messages/response.ts";
import { Tracer, type IndexTrace, type SearchTrace } from "../../src/tracing.ts";
import { clientOf, post } from "../http/service.ts";
import { openEngine, temporaryFolder } from "./opened.ts";

const EVENTS = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
type Told<T> = [event: string, trace: T, before: T];

/** Collects all messages of a channel until the test ends: each object, and a copy of its content at that moment. */
function listen<T extends SearchTrace | IndexTrace>(name: string): Told<T>[] {
  const told: Told<T>[] = [];
  const channel = tracingChannel<unknown, object>(name);
  for (const event of EVENTS) {
    const hear = (message: unknown) => void told.push([event, message as T, { ...(message as T) }]);
    channel[event].subscribe(hear);
    onTestFinished(() => {
      channel[event].unsubscribe(hear);
    });
  }
  return told;
}

const events = (told: Told<object & (SearchTrace | IndexTrace)>[]) => told.map(([event]) => event);
const WELL = ["start", "end", "asyncStart", "asyncEnd"];
const BADLY = ["start", "end", "error", "asyncStart", "asyncEnd"];
const needle = { query: "needle", matches: 10 };

async function withNeedles(content = "needle\n") {
  const engine = await openEngine();
  const files = ["a", "b"].map((path) => ({ path, content }));
  await engine.index(documents({ name: "r", files }));
  return engine;
}

test("a search is traced from its call to its answer, in one object", async () => {
  const engine = await withNeedles();
  const told = listen<SearchTrace>("quern:search");
  const searching = engine.search(needle);
  expect(events(told)).toEqual(["start", "end"]);
  const { stats } = await searching;
  expect(events(told)).toEqual(WELL);
  expect(new Set(told.map(([, trace]) => trace)).size).toBe(1);
  expect(told[0]![2]).toEqual({ call: "search", path: engine.path, request: needle });
  expect(told[2]![2]).toEqual({
    ...told[0]![2],
    stats,
    isSearchExhaustive: true,
    durationMs: expect.any(Number) as number,
  });
  expect(told[2]![2].durationMs).toBeGreaterThan(0);
});

test("a failing search is traced with its error", async () => {
  const engine = await withNeedles();
  const told = listen<SearchTrace>("quern:search");
  await expect(engine.search({ query: "a or or b", matches: 1 })).rejects.toThrow();
  expect(events(told)).toEqual(BADLY);
  expect(told[2]![2]).toMatchObject({ error: { code: "QUERY_SYNTAX" } });
  expect(told[2]![2]).not.toHaveProperty("stats");
});

test("a stream is traced until it was read, or until its reader leaves", async () => {
  const engine = await withNeedles();
  const told = listen<SearchTrace>("quern:search");
  let final: SearchEvent | undefined;
  for await (const event of engine.stream(needle)) {
    expect(events(told)).toEqual(["start", "end"]);
    final = event;
  }
  expect(events(told)).toEqual(WELL);
  expect(final).toMatchObject({ type: "final", accumulatedStats: told[3]![2].stats });
  for await (const _ of engine.stream(needle)) break;
  expect(events(told)).toEqual([...WELL, ...WELL]);
  expect(told.at(-1)![1]).not.toHaveProperty("stats");
  await expect(
    engine
      .stream({ ...needle, after: "" })
      [Symbol.asyncIterator]()
      .next(),
  )
    .rejects //
    .toThrow();
  expect(events(told)).toEqual([...WELL, ...WELL, ...BADLY]);
});

test("a long answer over HTTP is traced until it was read", async () => {
  const engine = await withNeedles("needle\n".repeat(40_000));
  const told = listen<SearchTrace>("quern:search");
  const client = clientOf(createHandler(engine, { anonymous: "all" }));
  const response = await client("/api/search", post({ query: "needle", matches: 80_000 }));
  expect(events(told)).toEqual(["start", "end"]);
  const { stats } = (await response.json()) as SearchResponse;
  expect(events(told)).toEqual(WELL);
  expect(told[3]![1]).toMatchObject({ call: "search", stats: { totalMatchCount: 80_000 } });
  expect(told[3]![1].stats).toEqual(stats);
});

test("the trace of a long answer ends once if its reader leaves", async () => {
  const engine = await withNeedles("needle\n".repeat(40_000));
  const told = listen<SearchTrace>("quern:search");
  const answer = await coreOf(engine).view({}).begin({ query: "needle", matches: 80_000 });
  if (!isLong(answer)) throw new Error("the answer is short");
  await answer.next();
  answer.close();
  answer.close();
  expect(events(told)).toEqual(WELL);
  expect(told[3]![1]).not.toHaveProperty("stats");
});

test("explain() is traced as one search, whatever it tries", async () => {
  const engine = await withNeedles();
  const told = listen<SearchTrace>("quern:search");
  const { suggestions } = await engine.explain({ query: "lang:goo needle", matches: 1 });
  expect(suggestions.length).toBeGreaterThan(0);
  expect(events(told)).toEqual(WELL);
  expect(told[3]![1]).toMatchObject({ call: "explain", stats: { totalMatchCount: 0 } });
});

test("a workspace's searches and index runs are traced as its engine's", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/a.txt"), "needle\n");
  const searches = listen<SearchTrace>("quern:search");
  const writes = listen<IndexTrace>("quern:index");
  const engine = await openEngine();
  const workspace = await engine.workspace(folder);
  onTestFinished(() => workspace.close());
  expect(events(writes).slice(0, 2)).toEqual(["start", "end"]);
  await workspace.search(needle);
  expect(searches.at(-1)![1]).toMatchObject({ request: needle, stats: { totalMatchCount: 1 } });
});

test("writes are traced with their reports or their errors", async () => {
  const told = listen<IndexTrace>("quern:index");
  // no other process reads the segments that compact() merges away
  const engine = await openEngine({ internals: { retireMs: 0 } });
  const reports = await engine.index(
    documents({ name: "r", files: [{ path: "a", content: "a" }] }),
  );
  await engine.remove("r");
  await engine.compact();
  expect(events(told)).toEqual([...WELL, ...WELL, ...WELL]);
  const at = { path: engine.path, durationMs: expect.any(Number) as number };
  expect([3, 7, 11].map((i) => told[i]![1])).toEqual([
    { call: "index", ...at, reports },
    { call: "remove", ...at },
    { call: "compact", ...at },
  ]);
  const failing = engine.index([], { signal: AbortSignal.abort() });
  await expect(failing).rejects.toMatchObject({ code: "ABORTED" });
  expect(events(told).slice(12)).toEqual(BADLY);
  expect(told.at(-1)![1]).toMatchObject({ call: "index", error: { code: "ABORTED" } });
});

test("without subscribers, traced objects are passed on unchanged", () => {
  const tracer = new Tracer("/nowhere");
  const promise = new Promise<never>(() => {});
  const stream = { [Symbol.asyncIterator]: () => ({ next: () => promise }) };
  const view = tracer.view<Parameters<Tracer["view"]>[0]>({
    search: () => promise,
    begin: () => promise,
    stream: () => stream,
    explain: () => promise,
  });
  expect(view.search(needle)).toBe(promise);
  expect(view.explain(needle)).toBe(promise);
  expect(tracer.write("index", () => promise)).toBe(promise);
  expect(view.stream(needle)).toBe(stream);
  listen("quern:search");
  expect(view.search(needle)).not.toBe(promise);
  expect(tracer.write("index", () => promise)).toBe(promise);
});
