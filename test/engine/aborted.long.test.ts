/** Every call that takes a signal rejects with ABORTED, whenever the signal comes. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { History } from "../../src/history/history.ts";
import { git, remoteOf } from "../../src/ingest/sources/git.ts";
import type { ConnectionConfig } from "../../src/sync/index.ts";
import { syncConnections } from "../../src/sync/sync.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { repository } from "../ingest/listing.ts";
import { openEngine, sharedEngine } from "./opened.ts";

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
/**
 * Whether a call reads or writes. A finished write is not undone, so a call that writes may also resolve after the
 * signal.
 */
type Kind = "reads" | "writes";
type Call = (engine: Engine, signal: AbortSignal) => Promise<unknown>;
const CALLS: [what: string, kind: Kind, call: Call][] = [
  [
    "index",
    "writes",
    (engine, signal) => engine.index([source("new"), source("new2")], { signal }),
  ],
  [
    "index of a git repository",
    "writes",
    (engine, signal) => engine.index(git(folder), { signal }),
  ],
  ["compact", "writes", (engine, signal) => engine.compact({ signal })],
  ["check", "reads", (engine, signal) => engine.check({ signal })],
  ["search", "reads", (engine, signal) => engine.search(request, { signal })],
  [
    "search with an overlay",
    "reads",
    (engine, signal) => {
      const overlay = [{ repository: "a", path: "new", content: "hello\n".repeat(10_000) }];
      return engine.search(request, { signal, overlay });
    },
  ],
  ["explain", "reads", (engine, signal) => engine.explain(request, { signal })],
  [
    "a long query",
    "reads",
    (engine, signal) => engine.search({ ...request, query: "a ".repeat(999) }, { signal }),
  ],
  [
    "stream",
    "reads",
    async (engine, signal) => {
      for await (const _ of engine.stream(request, { signal }));
    },
  ],
  ["a workspace's search", "reads", (_, signal) => tree.search(request, { signal })],
  ["commits", "reads", (_, signal) => history.commits({ signal })],
  ["one commit", "reads", (_, signal) => history.commit("HEAD", { signal })],
  ["authors", "reads", (_, signal) => history.authors({ signal })],
  ["diff", "reads", (_, signal) => history.diff({ base: "HEAD", head: "HEAD", signal })],
  ["blame", "reads", (_, signal) => history.blame({ path: "a", signal })],
  ["a file of a revision", "reads", (_, signal) => history.read({ path: "a", signal })],
  ["folders of a revision", "reads", (_, signal) => history.folders({ paths: [""], signal })],
  ["paths of a revision", "reads", (_, signal) => history.paths({ signal })],
  ["the remote of a repository", "reads", (_, signal) => remoteOf(folder, { signal })],
  [
    "sync",
    "writes",
    (engine, signal) => syncConnections(engine, { connections: { c: CONNECTION } }, { signal }),
  ],
];
let history: History;
let tree: Workspace;
const CONNECTION: ConnectionConfig = { type: "git", urls: [`file://${folder}`] };

async function fill(engine: Engine): Promise<void> {
  await engine.index([source("a"), source("b"), git(folder, { name: "g" })], { symbols: "skip" });
  await engine.index(source("a", 1), { symbols: "skip" }); // so that compact() has something to do
}

const shared = sharedEngine(
  async (engine) => {
    await fill(engine);
    history = (await engine.history("g"))!;
    tree = await engine.workspace(folder);
  },
  { workers: 1 },
);

test.each(CALLS)("%s rejects with ABORTED", async (_, kind, call) => {
  const engine = kind === "reads" ? shared() : await openEngine({ workers: 1 });
  if (kind === "writes") await fill(engine);
  const endings: string[] = [];
  for (const ms of [undefined, 0, 1, 5, 20, 200]) {
    const controller = new AbortController();
    if (ms === undefined) controller.abort();
    let isOver = false;
    const ended = call(engine, controller.signal)
      .then(
        () => "done",
        (error: Error & { code?: string }) => error.code ?? error.name,
      )
      .finally(() => (isOver = true));
    if (ms !== undefined && ms > 0) await sleep(ms);
    const mayBeDone = isOver || kind === "writes";
    controller.abort();
    const ending = await ended;
    if (!mayBeDone || ending !== "done") endings.push(ending);
  }
  expect(endings.length).toBeGreaterThan(1); // before the call, and immediately
  expect([...new Set(endings)]).toEqual(["ABORTED"]);
});

test("compact() can be aborted while it waits for readers of merged segments", async () => {
  const engine = await openEngine({ workers: 1 });
  for (let round = 0; round < 3; round++)
    await engine.index(source("a", round), { symbols: "skip" });
  const controller = new AbortController();
  const compacting = engine.compact({ signal: controller.signal });
  await sleep(1_500); // the wait takes ten seconds
  controller.abort();
  await expect(compacting).rejects.toMatchObject({ name: "QuernError", code: "ABORTED" });
});
