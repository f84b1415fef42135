/** The caller's thread is never blocked for long, not even by many files, many repositories or a large file. */

import { expect, test } from "vitest";
import { openClocks } from "../../bench/stall.ts";
import type { Engine } from "../../src/engine.ts";
import { createHandler, type Handler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { longestTurn, MOST_MS } from "./longest-turn.ts";
import { openEngine } from "./opened.ts";
import { tellFigure } from "../figures.ts";
import { isInTurn } from "../runs.ts";

const FILES = 16_000;
const REPOSITORIES = 400;

const filesOf = (round: number) =>
  Array.from({ length: FILES }, (_, i) => ({
    path: `file-${i}.${i % 2 === 0 ? "c" : "png"}`,
    content: i % 2 === 0 ? `int needle_${i}_${round};\n` : Buffer.from([0, i, i >> 8, round]),
  }));
const many = (round: number) =>
  Array.from({ length: REPOSITORIES }, (_, i) =>
    documents({ name: `many/${i}`, files: [{ path: "a.c", content: `int hay_${i}_${round};\n` }] }),
  );
const LARGE = {
  path: "large.txt",
  content: "a line of ten é words and a needle in it\n".repeat(150_000),
};

let engine: Engine;
let handler: Handler;
let round = 0;

const flat = (state: number) => documents({ name: "flat", files: filesOf(state) });
const stream = async (matches: number) => {
  for await (const _ of engine.stream({ query: "file:.", matches }));
};
const overHttp = async (path: string, query: string) => {
  const headers = { "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify({ query, matches: 20_000 }) };
  for await (const _ of (await handler(new Request(`http://host${path}`, init))).body!);
};

const OPERATIONS: [what: string, run: () => Promise<unknown>][] = [
  ["index", () => engine.index(flat(++round), { symbols: "skip" })],
  ["index again, nothing new", () => engine.index(flat(round), { symbols: "skip" })],
  ["index many", () => engine.index(many(++round), { symbols: "skip" })],
  ["search", () => engine.search({ query: "needle", matches: 20_000 })],
  ["search by name", () => engine.search({ query: `repo:many/${round++} hay`, matches: 50 })],
  ["stream", () => stream(20_000)],
  ["explain", () => engine.explain({ query: "repo:many nothing", matches: 50 })],
  ["list", () => engine.list({ repository: "flat", path: "" })],
  [
    "many lists",
    async () => {
      for (let i = 0; i < 40; i++) await engine.list({ repository: "flat", path: "none" });
    },
  ],
  ["read", () => engine.read({ repository: "large", path: LARGE.path })],
  ["repositories", () => engine.repositories()],
  ["search over HTTP", () => overHttp("/api/search", "needle")],
  ["stream over HTTP", () => overHttp("/api/stream_search", "needle")],
  ["remove", () => engine.remove(`many/${round++}`)],
];

test.runIf(process.platform === "linux" && isInTurn(3))(
  "the caller's thread works in short turns",
  async () => {
    engine = await openEngine({ workers: 1, maxFileSize: 16 * 2 ** 20 });
    handler = createHandler(engine, { anonymous: "all", maxMatches: 20_000 });
    await engine.index(documents({ name: "large", files: [LARGE] }), { symbols: "skip" });
    const turns: [what: string, ms: number][] = [];
    for (const [what, run] of OPERATIONS) turns.push([what, await longestTurn(run)]);
    tellFigure(turns.map(([what, ms]) => `${what} ${ms.toFixed(1)} ms`).join(", "));
    expect(turns.filter(([, ms]) => ms >= MOST_MS)).toEqual([]);
  },
);

test.runIf(process.platform === "linux")("the test notices a longer block", async () => {
  const clocks = openClocks();
  const ms = await longestTurn(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { worked } = clocks.read();
    while (clocks.read().worked - worked < 2 * MOST_MS);
  });
  clocks.close();
  expect(ms).toBeGreaterThanOrEqual(MOST_MS);
});
