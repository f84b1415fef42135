/**
 * A host whose functions never answer delays neither an abort nor the end of an engine. The functions ignore their
 * signals.
 */

import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Listing, Source } from "../../src/ingest/sources/source.ts";
import { openEngine } from "./opened.ts";

const never = (): Promise<never> => new Promise(() => {});
/** Lets a call reach the point at which it waits for its host. */
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
const empty = (name: string): Source => documents({ name, files: [] });

/** Yields the items, and then never ends. */
async function* endless<T>(...items: T[]): AsyncGenerator<T> {
  yield* items;
  await never();
}

const listing = (changes: Partial<Listing>): Source => ({
  name: "silent",
  metadata: {},
  open: async () => ({
    revisions: [{ name: "main" }],
    entries: async function* () {},
    close: async () => {},
    ...changes,
  }),
});

type Silent = () => Source | AsyncIterable<Source>;

const SILENT: Record<string, Silent> = {
  "the content of a document": () =>
    documents({ name: "silent", files: [{ path: "a", content: never }] }),
  "the documents": () =>
    documents({ name: "silent", files: endless({ path: "a", content: "text" }) }),
  "the changes": () =>
    documents({ name: "silent", changes: endless({ path: "a", content: "text" }) }),
  "the sources": () => endless(empty("silent")),
  "open()": () => ({ name: "silent", metadata: {}, open: never }),
  "the remote": () => ({
    ...empty("silent"),
    origin: { folder: "/nowhere", remote: never },
  }),
  "entries()": () => listing({ entries: () => endless() }),
  "close()": () => listing({ close: never }),
};

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "resolved",
    (error: { code: string }) => error.code,
  );

/** Makes an engine whose current write waits for the host. */
async function stuckEngine(source: Silent, signal?: AbortSignal) {
  const engine = await openEngine({ workers: 0 });
  return { engine, run: codeOf(engine.index(source(), signal && { signal })) };
}

/** Runs one call for each silent host at the same time, because each takes as long as a host is waited for. */
const onEach = async <T>(call: (source: Silent) => Promise<T>): Promise<Record<string, T>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(SILENT).map(async ([name, source]) => [name, await call(source)]),
    ),
  );

const EACH = Object.keys(SILENT);

test("an abort ends a run that waits for its host, and the next run begins", async () => {
  const ended = await onEach(async (source) => {
    const abort = new AbortController();
    const { engine, run } = await stuckEngine(source, abort.signal);
    const next = codeOf(engine.index(empty("next")));
    await soon();
    abort.abort();
    return [await run, await next];
  });
  expect(ended).toEqual(Object.fromEntries(EACH.map((name) => [name, ["ABORTED", "resolved"]])));
});

test("close() ends a run that waits for its host, and the writes behind it", async () => {
  const ended = await onEach(async (source) => {
    const { engine, run } = await stuckEngine(source);
    const writes = [run, codeOf(engine.index(empty("next"))), codeOf(engine.remove("next"))];
    await soon();
    await engine.close();
    return new Set(await Promise.all(writes));
  });
  const closed = new Set(["ENGINE_CLOSED"]);
  expect(ended).toEqual(Object.fromEntries(EACH.map((name) => [name, closed])));
});

test("an abort ends a write at once that waits for another write", async () => {
  const { engine, run } = await stuckEngine(SILENT["open()"]!);
  const writes: ((engine: Engine, signal: AbortSignal) => Promise<unknown>)[] = [
    (engine, signal) => engine.index(empty("next"), { signal }),
    (engine, signal) => engine.compact({ signal }),
  ];
  for (const write of writes) {
    expect(await codeOf(write(engine, AbortSignal.abort()))).toBe("ABORTED");
    const abort = new AbortController();
    const waiting = codeOf(write(engine, abort.signal));
    await soon();
    abort.abort();
    expect(await waiting).toBe("ABORTED");
  }
  await engine.close();
  expect(await run).toBe("ENGINE_CLOSED");
});

test("a listing that comes after the run was given up is closed", async () => {
  const abort = new AbortController();
  let answer: ((listing: Listing) => void) | undefined;
  const source = {
    ...empty("silent"),
    open: () => new Promise<Listing>((resolve) => (answer = resolve)),
  };
  const { run } = await stuckEngine(() => source, abort.signal);
  await soon();
  abort.abort();
  expect(await run).toBe("ABORTED");
  await new Promise<void>((resolve) =>
    answer!({ revisions: [], entries: () => endless(), close: async () => resolve() }),
  );
});

const question = { query: "context:team word", matches: 1 };
const SEARCHES: Record<
  string,
  (engine: Engine, options: { signal?: AbortSignal; timeoutMs?: number }) => Promise<unknown>
> = {
  search: (engine, options) => engine.search(question, options),
  stream: (engine, options) => engine.stream(question, options)[Symbol.asyncIterator]().next(),
  explain: (engine, options) => engine.explain(question, options),
  find: (engine, options) => engine.find({ text: "a word", query: "context:team" }, options),
  changes: (engine, options) =>
    engine.search({ ...question, query: "type:diff context:team word" }, options),
};

test.each(Object.entries(SEARCHES))(
  "%s does not wait for a context after its signal, its time-out or the end of the engine",
  async (_, search) => {
    const engine = await openEngine({ workers: 0, contexts: never });
    const abort = new AbortController();
    const aborted = codeOf(search(engine, { signal: abort.signal }));
    await soon();
    abort.abort();
    expect(await aborted).toBe("ABORTED");
    expect(await codeOf(search(engine, { signal: AbortSignal.abort() }))).toBe("ABORTED");
    expect(await codeOf(search(engine, { timeoutMs: 20 }))).toBe("OVERLOADED");
    const closed = codeOf(search(engine, {}));
    await soon();
    await engine.close();
    expect(await closed).toBe("ENGINE_CLOSED");
  },
);
