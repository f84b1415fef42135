/**
 * The borders of the rooms. A room is a folder of `src/`, or a file that stands there by itself. The README.md of a
 * folder says what its room is for. If other rooms may import only some of its files, it says which.
 */

import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";

/** The doors of the engine, and what several machines need. Each can be deleted without a change of the engine. */
const DOORS = ["cli", "cluster", "http", "mcp", "page", "sync"];
/** The packages that the engine needs. All others belong to doors. */
const PACKAGES = ["lmdb", "msgpackr", "zod"];

interface Room {
  /** What the room is for: the first paragraph. */
  readonly text: string;
  /** The files that other rooms may import. Undefined if they may import all. */
  readonly entries: readonly string[] | undefined;
}

const isIn = (room: string, other: string): boolean =>
  room === other || room.startsWith(`${other}/`);

const isDoor = (room: string): boolean => DOORS.some((door) => isIn(room, door));

/** Reads the README.md of a folder. */
function parseRoom(page: string): Room {
  const text = page.replaceAll("\n  ", " ");
  const entries = /^- Entered at: (.*)$/m.exec(text)?.[1];
  return {
    text: text.split("\n\n")[1]!.trim().replaceAll("\n", " "),
    entries: entries?.split(", ").map((one) => one.replaceAll("`", "")),
  };
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("kernel/assembly/"));
const folders = [...new Set(files.map((file) => posix.dirname(file)))].filter((one) => one !== ".");

const roomOf = (file: string): string =>
  posix.dirname(file) === "." ? posix.basename(file, ".ts") : posix.dirname(file);

const rooms = new Map(
  folders.map((folder) => {
    const page = readFileSync(`src/${folder}/README.md`, "utf8");
    expect(page.split("\n")[0]).toBe(`# ${folder}`);
    return [folder, parseRoom(page)] as const;
  }),
);

const importsOf = (text: string): string[] =>
  [...text.matchAll(/\b(?:from|import)\b[\s(]*"(\.[^"]+)"/g)].map(([, spec]) => spec!);

/** The packages that a file imports, without Node's own modules. */
const packagesOf = (text: string): string[] =>
  [
    ...text.matchAll(
      /^(?:import|export)\s(?:[\w*{},\s]+\sfrom\s)?"([^."][^"]*)"|\bimport\("([^."][^"]*)"\)/gm,
    ),
  ]
    .map(([, fixed, late]) => (fixed ?? late)!)
    .filter((name) => !name.startsWith("node:"))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]);

/** The files of src that each file imports, even if only types, or only when they are needed. */
const imported = new Map(
  files.map((file) => {
    const specs = importsOf(readFileSync(`src/${file}`, "utf8"));
    const paths = specs.map((spec) => posix.join(posix.dirname(file), spec));
    return [file, paths.filter((path) => /\.tsx?$/.test(path))] as const;
  }),
);

/** The imports that cross a border. */
const visits = [...imported]
  .flatMap(([file, paths]) =>
    paths.map((path) => ({
      from: roomOf(file),
      to: roomOf(path),
      entry: posix.basename(path),
      path,
    })),
  )
  .filter(({ from, to }) => from !== to);

/** Returns a path that leads from a node back to the node, or undefined if there is none. */
function cycleOf(nodes: Iterable<string>, next: (node: string) => Iterable<string>) {
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const one of next(node)) {
      const cycle = visit(one, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of nodes) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return undefined;
}

test.each([
  ['import { a } from "./a.ts";', ["./a.ts"]],
  ['export * from "../b/a.ts";', ["../b/a.ts"]],
  ['import "./a.ts";', ["./a.ts"]],
  ['const a = await import("./a.ts");', ["./a.ts"]],
  ['type A = import(\n  "./a.ts"\n).A;', ["./a.ts"]],
  ['import fs from "node:fs"; new URL("./a.ts", import.meta.url)', []],
])("finds the imports of %j", (text, specs) => {
  expect(importsOf(text)).toEqual(specs);
});

test.each([
  ['import fs from "node:fs";\nimport type { A } from "a/b.js";\nimport "./c.ts";', ["a"]],
  ['import {\n  a,\n} from "@a/b/c";\nconst d = await import("d");', ["@a/b", "d"]],
  [' * import { a } from "a";', []],
])("finds the packages of %j", (text, names) => {
  expect(packagesOf(text)).toEqual(names);
});

test("src/README.md lists every file that stands by itself, and no other", () => {
  const page = readFileSync("src/README.md", "utf8");
  const listed = [...page.matchAll(/^- `(.*?)`: /gm)].map(([, file]) => file!);
  expect(listed.toSorted()).toEqual(files.filter((file) => !file.includes("/")).toSorted());
});

test.each([...rooms])("%s is entered only at its entries", (name, { entries }) => {
  const guests = new Set(visits.filter(({ to }) => to === name).map(({ entry }) => entry));
  if (entries) expect([...guests].toSorted()).toEqual(entries.toSorted());
});

test.each(DOORS)("nothing but its own folder, other doors and entries import %s", (door) => {
  const guests = visits.filter(({ from, to }) => isIn(to, door) && !isDoor(from));
  // its suite for stores of segments is a part of the cluster
  expect(guests.filter(({ from }) => from !== "testing").map(({ path }) => path)).toEqual([]);
});

test("the engine imports only its own packages", () => {
  const own = files.filter((file) => !isDoor(roomOf(file)));
  const used = new Set(own.flatMap((file) => packagesOf(readFileSync(`src/${file}`, "utf8"))));
  expect([...used].toSorted()).toEqual(PACKAGES);
});

test("no room imports itself through others", () => {
  const next = (room: string) => visits.filter(({ from }) => from === room).map(({ to }) => to);
  expect(cycleOf(new Set(files.map(roomOf)), next)).toBeUndefined();
});

// if a file descriptor is missing when a module is loaded, Node.js never loads it again
test("modules that are loaded late are loaded by lazily()", () => {
  const isLibrary = (file: string) => !["cli", "page"].includes(file.split("/")[0]!);
  const loads = files
    .filter((file) => isLibrary(file))
    .flatMap((file) => readFileSync(`src/${file}`, "utf8").split("\n"))
    .filter((line) => /(?:=>|await) import\("/.test(line) && !/^\s*\*/.test(line));
  expect(loads.length).toBeGreaterThan(10);
  for (const line of loads) expect(line).toContain("lazily(() => import(");
});

test("no file imports itself through others", () => {
  expect(cycleOf(imported.keys(), (file) => imported.get(file) ?? [])).toBeUndefined();
});

test.each([
  [{ a: "b", b: "c" }, undefined],
  [{ a: "bc", b: "d", c: "d" }, undefined],
  [{ a: "b", b: "cd", d: "b" }, ["b", "d", "b"]],
])("the graph %j has the cycle %j", (graph: Record<string, string>, cycle) => {
  expect(cycleOf(Object.keys(graph), (node) => graph[node] ?? "")).toEqual(cycle);
});

const PICTURE = "docs/architecture.md";
/** Rooms whose inner rooms are not stages of a journey. */
const SHOWN_AS_ONE = ["page"];

test(`${PICTURE} shows every room, and no other`, () => {
  const page = readFileSync(PICTURE, "utf8");
  const list = /^## Folders\n.*?^## /ms.exec(page)![0].replaceAll("\n  ", " ");
  const shown = new Map(
    [...list.matchAll(/^- `([\w/-]+)`: (.*)$/gm)].map(([, room, text]) => [room!, text!]),
  );
  const isInner = (room: string) => SHOWN_AS_ONE.some((one) => room !== one && isIn(room, one));
  const want = folders.filter((room) => !isInner(room));
  expect([...shown.keys()].toSorted()).toEqual(want.toSorted());
  for (const [room, text] of shown)
    expect(rooms.get(room)!.text).toBe(`${text[0]!.toUpperCase()}${text.slice(1)}.`);
  const order = [...shown.keys()];
  for (const { from, to } of visits)
    if (shown.has(from) && shown.has(to))
      expect(order.indexOf(to), `${from} -> ${to}`).toBeLessThan(order.indexOf(from));
  for (const diagram of page.matchAll(/^```text\n(.*?)^```$/gms))
    for (const [path] of diagram[1]!.matchAll(/\b(?:store|ingest|search)\/[\w/]+/g))
      expect(order).toContain(path);
});
