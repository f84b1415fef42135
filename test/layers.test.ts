/** The architecture, as data: each folder of src and what it may import. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const MAY_IMPORT: Record<string, string[]> = {
  base: [],
  threads: ["base"],
  kernel: ["base"],
  regex: ["base", "kernel"],
  query: ["base", "kernel", "regex"],
  store: ["base", "kernel"],
  git: ["base"],
  ingest: ["base", "kernel", "store", "threads", "git"],
  search: ["base", "kernel", "regex", "query", "store", "threads"],
  auth: ["base", "store"],
  worker: ["base", "threads", "ingest", "search"],
  check: ["store"],
  outside: ["base"],
  repository: ["store"],
  engine: ["base", "kernel", "query", "store", "threads", "ingest", "search", "repository"],
  http: ["base", "query", "store", "search", "auth", "repository", "engine"],
  cli: ["base", "store", "ingest", "search", "auth", "repository", "engine", "http"],
  testing: ["base", "auth"],
  index: ["base", "store", "ingest", "search", "repository", "engine"],
};

const folderOf = (path: string) => path.split("/")[0]!.replace(/\.ts$/, "");

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

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts") && !name.startsWith("kernel/assembly/"));

test("there are sources to hold against the table", () => {
  expect(files.length).toBeGreaterThan(5);
});

for (const file of files) {
  test(`${file} imports only what its layer may`, () => {
    const from = folderOf(file);
    for (const spec of importsOf(readFileSync(`src/${file}`, "utf8"))) {
      const to = folderOf(new URL(spec, `file:///${file}`).pathname.slice(1));
      if (to !== from) expect(MAY_IMPORT[from], `${file} -> ${to}`).toContain(to);
    }
  });
}
