/**
 * The architecture, as data. A room is a folder of `src/`, or a file that stands there by itself; a
 * file belongs to the innermost room that is listed. A room may import the rooms named beside it, with
 * the rooms inside those. Each of them stands above it in the table, so the rooms have no cycle.
 */

import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";

const ROOMS: Record<string, readonly string[]> = {
  base: [],
  "refuse-bundling": ["base"],
  metrics: [],
  validation: ["base"],
  threads: ["base"],
  kernel: ["base"],
  regex: ["base", "kernel"],
  re2: ["base", "regex"],
  query: ["base", "regex"],
  git: ["base"],

  "store/format": ["base"],
  "store/lmdb": ["base", "store/format"],
  "store/segments": ["base", "kernel", "store/format", "store/lmdb"],
  "store/memory": ["base", "store/format", "store/lmdb", "store/segments"],
  "store/catalog": ["base", "store/format", "store/lmdb", "store/segments", "store/memory"],
  "store/symbols": [
    "base",
    "kernel",
    "store/format",
    "store/lmdb",
    "store/segments",
    "store/catalog",
  ],
  "store/upkeep": [
    "base",
    "kernel",
    "store/format",
    "store/lmdb",
    "store/segments",
    "store/catalog",
    "store/symbols",
  ],

  "ingest/classification": ["base"],
  "ingest/sources": ["base", "threads", "git", "store/format"],
  "ingest/run": ["base", "kernel", "threads", "store", "ingest/classification", "ingest/sources"],
  "ingest/symbols/queries/shared": ["base", "store/symbols"],
  "ingest/symbols/queries": ["ingest/symbols/queries/shared"],
  "ingest/symbols": ["base", "threads", "store", "ingest/run", "ingest/symbols/queries"],
  ingest: ["base", "threads", "store", "ingest/run", "ingest/sources", "ingest/symbols"],

  "search/messages": ["base", "query", "store/format", "store/symbols", "store/memory"],
  "search/meaning": ["base", "kernel", "regex", "query", "search/messages"],
  "search/thread/reading": ["base", "kernel", "store", "search/messages"],
  "search/thread/planning": [
    "base",
    "kernel",
    "regex",
    "store",
    "search/messages",
    "search/thread/reading",
  ],
  "search/thread/scanning": [
    "base",
    "kernel",
    "regex",
    "store",
    "search/messages",
    "search/thread/reading",
    "search/thread/planning",
  ],
  "search/thread/ranking": [
    "base",
    "kernel",
    "store",
    "search/thread/reading",
    "search/thread/planning",
    "search/thread/scanning",
  ],
  "search/thread/showing": [
    "base",
    "kernel",
    "regex",
    "re2",
    "store",
    "search/messages",
    "search/thread/reading",
    "search/thread/planning",
    "search/thread/scanning",
    "search/thread/ranking",
  ],
  "search/thread": [
    "base",
    "threads",
    "kernel",
    "store",
    "search/messages",
    "search/meaning",
    "search/thread/reading",
    "search/thread/planning",
    "search/thread/scanning",
    "search/thread/ranking",
    "search/thread/showing",
  ],
  "search/caller": [
    "base",
    "threads",
    "kernel",
    "regex",
    "query",
    "store/format",
    "store/segments",
    "store/catalog",
    "search/messages",
    "search/meaning",
    "search/thread/reading",
  ],

  overlay: ["base", "threads", "store", "ingest", "search"],

  repository: ["store"],
  history: ["base", "git", "store/format", "ingest/classification", "repository"],

  auth: ["base", "store/lmdb"],
  worker: ["threads", "ingest", "search/thread", "overlay"],
  check: ["store/upkeep"],
  workspace: ["base", "ingest", "search", "store", "overlay", "repository"],
  repositories: ["base", "store", "search/messages", "search/caller", "repository"],
  reader: ["base", "store", "search", "repository", "repositories"],
  tracing: ["ingest/run", "search/messages", "search/caller"],
  engine: [
    "store",
    "ingest",
    "search",
    "history",
    "workspace",
    "repository",
    "repositories",
    "reader",
  ],
  internals: ["ingest", "workspace", "store/format"],
  "opened-engine": [
    "base",
    "threads",
    "store",
    "ingest",
    "search",
    "overlay",
    "history",
    "workspace",
    "repository",
    "repositories",
    "reader",
    "tracing",
    "engine",
    "internals",
  ],
  watch: ["base", "git", "ingest", "workspace", "engine"],
  "sync/config": ["base", "validation"],
  "sync/hosts": ["base", "git", "store/format", "sync/config"],
  "sync/clones": ["base", "git", "sync/config"],
  sync: [
    "base",
    "git",
    "store/format",
    "ingest",
    "engine",
    "sync/config",
    "sync/hosts",
    "sync/clones",
  ],
  "cluster/objects": ["base", "store"],
  "cluster/wire": ["base", "repository", "search/messages", "search/caller"],
  "cluster/follow": [],
  "cluster/postgres": ["base", "auth", "cluster/objects"],
  "cluster/catalog": ["base", "store", "cluster/postgres"],
  "cluster/local": ["base", "store", "cluster/objects", "cluster/catalog"],
  "cluster/node": [
    "base",
    "store",
    "search/messages",
    "search/caller",
    "reader",
    "engine",
    "cluster/objects",
    "cluster/catalog",
    "cluster/local",
    "cluster/wire",
    "cluster/follow",
  ],
  "cluster/front": [
    "base",
    "query",
    "store",
    "search/messages",
    "search/caller",
    "history",
    "repository",
    "repositories",
    "tracing",
    "engine",
    "cluster/catalog",
    "cluster/wire",
    "cluster/follow",
  ],
  cluster: [
    "base",
    "metrics",
    "tracing",
    "store",
    "ingest",
    "search/messages",
    "search/caller",
    "history",
    "repositories",
    "repository",
    "engine",
    "internals",
    "opened-engine",
    "cluster/objects",
    "cluster/postgres",
    "cluster/catalog",
    "cluster/local",
    "cluster/follow",
    "cluster/node",
    "cluster/front",
  ],
  mcp: [
    "base",
    "validation",
    "query",
    "search/messages",
    "search/caller",
    "repository",
    "repositories",
    "history",
    "engine",
  ],
  http: [
    "base",
    "metrics",
    "validation",
    "mcp",
    "query",
    "store",
    "search/messages",
    "search/caller",
    "history",
    "auth",
    "repository",
    "repositories",
    "tracing",
    "engine",
  ],
  cli: [
    "base",
    "validation",
    "query",
    "store",
    "ingest",
    "search/messages",
    "auth",
    "repository",
    "engine",
    "internals",
    "opened-engine",
    "workspace",
    "watch",
    "sync",
    "cluster/objects",
    "cluster/postgres",
    "cluster",
    "mcp",
    "http",
  ],
  "page/style": [],
  "page/wire": [],
  "page/frame": ["page/wire"],
  "page/search": ["page/wire", "page/frame"],
  "page/file": ["page/style", "page/wire", "page/frame", "page/search"],
  "page/history": ["page/wire", "page/frame", "page/file"],
  "page/app": ["page/wire", "page/frame", "page/search", "page/file", "page/history"],
  page: ["page/app", "page/style"],
  testing: ["auth", "cluster/objects"],
  index: [
    "base",
    "store",
    "ingest",
    "workspace",
    "search/messages",
    "search/caller",
    "history",
    "repository",
    "tracing",
    "engine",
    "opened-engine",
    "watch",
  ],
};

const isIn = (path: string, room: string): boolean => path === room || path.startsWith(`${room}/`);

/** Returns the innermost room of a file, which is given as its path without extension. */
const roomOf = (path: string): string | undefined =>
  Object.keys(ROOMS)
    .filter((room) => isIn(path, room))
    .toSorted((a, b) => b.length - a.length)[0];

const mayImport = (from: string, to: string): boolean =>
  from === to || ROOMS[from]!.some((room) => isIn(to, room));

const importsOf = (text: string): string[] =>
  [...text.matchAll(/\b(?:from|import)\b[\s(]*"(\.[^"]+)"/g)].map(([, spec]) => spec!);

test.each([
  ['import { a } from "./a.ts";', ["./a.ts"]],
  ['export * from "../b/a.ts";', ["../b/a.ts"]],
  ['import "./a.ts";', ["./a.ts"]],
  ['const a = await import("./a.ts");', ["./a.ts"]],
  ['type A = import(\n  "./a.ts"\n).A;', ["./a.ts"]],
  ['import fs from "node:fs"; new URL("./a.ts", import.meta.url)', []],
])("%j", (text, specs) => {
  expect(importsOf(text)).toEqual(specs);
});

test("a room imports only rooms that stand above it in the table", () => {
  const rooms = Object.keys(ROOMS);
  for (const [at, room] of rooms.entries())
    for (const other of ROOMS[room]!) {
      const last = rooms.findLastIndex((one) => isIn(one, other));
      expect(last, `${room} -> ${other}`).toBeGreaterThanOrEqual(0);
      expect(last, `${room} -> ${other}`).toBeLessThan(at);
    }
});

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("kernel/assembly/"));

test("there are sources to hold against the table", () => {
  expect(files.length).toBeGreaterThan(5);
});

const withoutEnding = (file: string): string => file.replace(/\.tsx?$/, "");

for (const file of files) {
  test(`${file} imports only what its room may`, () => {
    const from = roomOf(withoutEnding(file));
    if (from === undefined) return expect.fail(`${file} stands in no room`);
    for (const spec of importsOf(readFileSync(`src/${file}`, "utf8"))) {
      const path = withoutEnding(posix.join(posix.dirname(file), spec));
      const to = roomOf(path) ?? path;
      if (!mayImport(from, to)) expect.fail(`${from} may not import ${to}: ${file} -> ${path}`);
    }
  });
}

test("every room has a file", () => {
  const taken = new Set(files.map((file) => roomOf(withoutEnding(file))));
  expect(Object.keys(ROOMS).filter((room) => !taken.has(room))).toEqual([]);
});

const PICTURE = "docs/architecture.md";
/** Rooms whose inner rooms are not stages of a journey. */
const SHOWN_AS_ONE = ["page"];

test(`${PICTURE} shows every room, and no other`, () => {
  const page = readFileSync(PICTURE, "utf8");
  const list = /^## Folders\n.*?^## /ms.exec(page)![0];
  const shown = [...list.matchAll(/^- `([\w/-]+)`:/gm)].map(([, room]) => room!);
  const folders = new Set(files.map((file) => posix.dirname(file)));
  const rooms = Object.keys(ROOMS).filter((room) => [...folders].some((one) => isIn(one, room)));
  const isShown = (room: string) =>
    shown.includes(SHOWN_AS_ONE.find((one) => isIn(room, one)) ?? room);
  const missing = rooms.filter((room) => !isShown(room));
  const gone = shown.filter((room) => !rooms.includes(room));
  expect({ missing, gone }).toEqual({ missing: [], gone: [] });
  for (const diagram of page.matchAll(/^```text\n(.*?)^```$/gms))
    for (const [path] of diagram[1]!.matchAll(/\b(?:store|ingest|search)\/[\w/]+/g))
      expect(rooms, path).toContain(path);
});
