/**
 * The borders of the rooms. A room is a folder of `src/`, or a file that stands there by itself. The README.md of a
 * folder says what its room imports, and which rooms import it. If these may import only some of its files, it says
 * which. `src/README.md` has the same for the single files. A room in such a list stands for the rooms inside it, too.
 */

import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";

interface Room {
  /** What the room is for: the first paragraph. */
  readonly text: string;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
  readonly importedBy: readonly string[];
  /** The files that other rooms may import. Undefined if they may import all. */
  readonly doors: readonly string[] | undefined;
}

const isIn = (room: string, other: string): boolean =>
  other === "all" || room === other || room.startsWith(`${other}/`);

const isCovered = (room: string, by: readonly string[]): boolean =>
  by.some((one) => isIn(room, one));

/** Reads the part of a README.md that is about one room. */
function parseRoom(part: string): Room {
  const text = part.replaceAll("\n  ", " ");
  const listOf = (name: string) => {
    const line = new RegExp(`^- ${name}: (.*)$`, "m").exec(text)?.[1];
    return line?.split(", ").map((one) => one.replaceAll("`", ""));
  };
  return {
    text: text.split("\n\n")[1]!.replaceAll("\n", " "),
    imports: (listOf("Imports") ?? []).filter((one) => one !== "nothing"),
    packages: listOf("Packages") ?? [],
    importedBy: listOf("Imported by") ?? [],
    doors: listOf("Entered at"),
  };
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("kernel/assembly/"));
const folders = [...new Set(files.map((file) => posix.dirname(file)))].filter((one) => one !== ".");

const roomOf = (file: string): string =>
  posix.dirname(file) === "." ? posix.basename(file, ".ts") : posix.dirname(file);

function readRooms(): Map<string, Room> {
  const rooms = new Map<string, Room>();
  for (const folder of folders) {
    const page = readFileSync(`src/${folder}/README.md`, "utf8");
    expect(page.split("\n")[0]).toBe(`# ${folder}`);
    rooms.set(folder, parseRoom(page));
  }
  for (const part of readFileSync("src/README.md", "utf8").split("\n## ").slice(1))
    rooms.set(/^(.*)\.ts\n/.exec(part)![1]!, parseRoom(part));
  return rooms;
}

const rooms = readRooms();

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
      door: posix.basename(path),
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

test("every file is in a room, and every room has a file", () => {
  expect(new Set(files.map(roomOf))).toEqual(new Set(rooms.keys()));
});

test.each([...rooms])(
  "%s imports exactly what its list says, from rooms that allow it",
  (name, room) => {
    const out = visits.filter(({ from }) => from === name);
    const isAllowed = ({ to, door }: (typeof visits)[number]) => {
      const { importedBy, doors = [door] } = rooms.get(to)!;
      return isCovered(to, room.imports) && isCovered(name, importedBy) && doors.includes(door);
    };
    expect(out.filter((one) => !isAllowed(one)).map(({ path }) => path)).toEqual([]);
    expect(room.imports.filter((one) => !out.some(({ to }) => isIn(to, one)))).toEqual([]);
  },
);

test.each([...rooms])("%s imports exactly the packages that its list says", (name, room) => {
  const own = files.filter((file) => roomOf(file) === name);
  const used = new Set(own.flatMap((file) => packagesOf(readFileSync(`src/${file}`, "utf8"))));
  expect([...used].toSorted()).toEqual(room.packages);
});

test.each([...rooms])("%s names exactly the rooms that import it", (name, room) => {
  const guests = visits.filter(({ to }) => to === name);
  const { importedBy, doors = [] } = room;
  expect(importedBy.filter((one) => !guests.some(({ from }) => isIn(from, one)))).toEqual([]);
  expect(doors.filter((one) => !guests.some(({ door }) => door === one))).toEqual([]);
});

test("no room imports itself through others", () => {
  const next = (room: string) => visits.filter(({ from }) => from === room).map(({ to }) => to);
  expect(cycleOf(rooms.keys(), next)).toBeUndefined();
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
