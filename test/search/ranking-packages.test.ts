/**
 * Twenty questions as people type them, over real packages. The expected first result is named here. The first five are
 * in ranking-packages.golden.txt, so that a change of ranking appears as a diff. UPDATE_GOLDEN=1 writes that file
 * again, which a newer version of a package may also make necessary.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { directory, open, type Engine } from "../../src/index.ts";

const LISTING = fileURLToPath(new URL("ranking-packages.golden.txt", import.meta.url));
const SHOWN = 5;

/** Sources of packages that the tests need anyway, by their names here. */
const PACKAGES = {
  express: "express/lib",
  fastify: "fastify/lib",
  lmdb: "lmdb/dependencies/lmdb",
  "lmdb-js": "lmdb/src",
  preact: "preact/src",
  "tree-sitter": "web-tree-sitter/lib",
  "tree-sitter-js": "web-tree-sitter/src",
  zod: "zod/src/v4",
};

const QUESTIONS: readonly (readonly [query: string, first: string])[] = [
  ["struct MDB_env", "lmdb/libraries/liblmdb/mdb.c"],
  ["class EnvWrap", "lmdb-js/lmdb-js.h"],
  ["class Parser", "tree-sitter-js/parser.ts"],
  ["interface ZodType", "zod/classic/schemas.ts"],
  ["type Infer", "zod/classic/compat.ts"],
  ["function diff", "preact/diff/index.js"],
  ["diff children", "preact/diff/children.js"],
  ["function createElement", "preact/index.d.ts"],
  ["create application", "express/express.js"],
  ["res send", "express/response.js"],
  ["content type parser", "fastify/content-type-parser.js"],
  ["decorate reply", "fastify/decorate.js"],
  ["ts_parser_parse", "tree-sitter/parser.c"],
  ["static inline Length", "tree-sitter/length.h"],
  ["struct Lexer", "tree-sitter/lexer.h"],
  ["open env", "lmdb-js/env.cpp"],
  ["cursor get", "lmdb/libraries/liblmdb/mdb.c"],
  ["Component prototype", "preact/component.js"],
  ["setState", "preact/component.js"],
  ["safe parse", "zod/classic/schemas.ts"],
];

const path = mkdtempSync(join(tmpdir(), "quern-packages-"));
let engine: Engine;
beforeAll(async () => {
  engine = await open(path, { workers: 0, warmUp: false });
  const sources = Object.entries(PACKAGES).map(([name, folder]) =>
    directory(join("node_modules", folder), { name, gitignore: false }),
  );
  await engine.index(sources);
});
afterAll(async () => {
  await engine.close();
  rmSync(path, { recursive: true, force: true });
});

async function firstFiles(query: string): Promise<string[]> {
  const { files } = await engine.search({ query, matches: 100_000, matchesPerFile: 1 });
  return files.slice(0, SHOWN).map(({ repository, fileName }) => `${repository}/${fileName.text}`);
}

test.each(QUESTIONS)("%s: %s", async (query, first) => {
  expect((await firstFiles(query))[0]).toBe(first);
});

test("the first results are those of the listing", async () => {
  const parts: string[] = [];
  for (const [query] of QUESTIONS)
    parts.push([query, ...(await firstFiles(query)).map((file) => `  ${file}`)].join("\n"));
  const now = `${parts.join("\n\n")}\n`;
  if (process.env["UPDATE_GOLDEN"]) writeFileSync(LISTING, now);
  expect(now).toBe(readFileSync(LISTING, "utf8"));
});
