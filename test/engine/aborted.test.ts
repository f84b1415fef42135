/** Every call that takes a signal rejects with ABORTED, whenever the signal comes. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { repository } from "../ingest/listing.ts";
import { openEngine } from "./opened.ts";

const source = (name: string, round = 0) =>
  documents({
    name,
    files: Array.from({ length: 200 }, (_, i) => ({
      path: `${i}`,
      content: `${i} ${round} hello`,
    })),
  });
const folder = repository({ a: "1" });

const request = { query: "[^z]+hello", isRegexEnabled: true, matches: 10_000 };
const CALLS: [what: string, call: (engine: Engine, signal: AbortSignal) => Promise<unknown>][] = [
  ["index", (engine, signal) => engine.index([source("new"), source("new2")], { signal })],
  ["index of a git repository", (engine, signal) => engine.index(git(folder), { signal })],
  ["compact", (engine, signal) => engine.compact({ signal })],
  ["check", (engine, signal) => engine.check({ signal })],
  ["search", (engine, signal) => engine.search(request, { signal })],
  ["explain", (engine, signal) => engine.explain(request, { signal })],
  [
    "a long query",
    (engine, signal) => engine.search({ ...request, query: "a ".repeat(999) }, { signal }),
  ],
  [
    "stream",
    async (engine, signal) => {
      for await (const _ of engine.stream(request, { signal }));
    },
  ],
];

test.each(CALLS)("%s", async (_, call) => {
  const engine = await openEngine({ workers: 1 });
  await engine.index([source("a"), source("b")], { symbols: "skip" });
  await engine.index(source("a", 1), { symbols: "skip" }); // so that compact() has something to do
  const codes = new Set<string>();
  for (const ms of [0, 1, 5, 20, 200]) {
    const controller = new AbortController();
    const ended = call(engine, controller.signal).then(
      () => "done",
      (error: Error & { code?: string }) => error.code ?? error.name,
    );
    if (ms > 0) await sleep(ms);
    controller.abort();
    codes.add(await ended);
  }
  expect(codes).toContain("ABORTED");
  codes.delete("done");
  expect([...codes]).toEqual(["ABORTED"]);
});

test("compact(), while it waits for readers of what was merged away", async () => {
  const engine = await openEngine({ workers: 1 });
  for (let round = 0; round < 3; round++)
    await engine.index(source("a", round), { symbols: "skip" });
  const controller = new AbortController();
  const compacting = engine.compact({ signal: controller.signal });
  await sleep(1_500); // the wait takes ten seconds
  controller.abort();
  await expect(compacting).rejects.toMatchObject({ name: "QuernError", code: "ABORTED" });
});
