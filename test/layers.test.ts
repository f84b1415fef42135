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
  ingest: ["base", "kernel", "store", "threads"],
  search: ["base", "kernel", "regex", "query", "store", "threads"],
  auth: ["base", "store"],
  worker: ["base", "threads", "ingest", "search"],
  check: ["store"],
  outside: ["base"],
  repository: ["store"],
  engine: ["base", "kernel", "query", "store", "threads", "ingest", "search", "repository"],
  http: ["base", "store", "search", "auth", "repository", "engine"],
  cli: ["base", "store", "ingest", "search", "auth", "repository", "engine", "http"],
  testing: ["base", "auth"],
  index: ["base", "store", "ingest", "search", "repository", "engine"],
};

const folderOf = (path: string) => path.split("/")[0]!.replace(/\.ts$/, "");

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts") && !name.startsWith("kernel/assembly/"));

test("there are sources to hold against the table", () => {
  expect(files.length).toBeGreaterThan(5);
});

for (const file of files) {
  test(`${file} imports only what its layer may`, () => {
    const from = folderOf(file);
    for (const [, spec] of readFileSync(`src/${file}`, "utf8").matchAll(/from "(\.[^"]+)"/g)) {
      const to = folderOf(new URL(spec!, `file:///${file}`).pathname.slice(1));
      if (to !== from) expect(MAY_IMPORT[from], `${file} -> ${to}`).toContain(to);
    }
  });
}
