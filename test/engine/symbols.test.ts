/** Symbols through the whole engine: found after content, kept, merged, searched, shown and ranked. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { open, type Engine, type OpenOptions } from "../../src/engine.ts";
import { documents } from "../../src/ingest/documents.ts";
import type { IndexProgress } from "../../src/ingest/run.ts";
import type { SearchRequest } from "../../src/search/request.ts";

const base = mkdtempSync(join(tmpdir(), "quern-symbols-"));
const engines: Engine[] = [];
let opened = 0;

async function openAt(path: string, options: OpenOptions = {}): Promise<Engine> {
  const engine = await open(path, { workers: 1, ...options });
  engines.push(engine);
  return engine;
}

const freshPath = (): string => join(base, String(++opened));

afterEach(async () => {
  for (const engine of engines.splice(1)) await engine.close();
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
  rmSync(base, { recursive: true, force: true });
});

const source = (name: string, files: Record<string, string>) =>
  documents({
    name,
    files: Object.entries(files).map(([path, content]) => ({ path, content })),
  });

const SHAPES = `export class Shape {
  area(): number { return 0; }
  static parse(text: string): Shape { return new Shape(); }
}
export function parseShape(text: string) { return Shape.parse(text); }
export const SHAPES = [parseShape("a"), parseShape("b")];
`;
const USES = "import { parseShape } from './shapes';\nparseShape('x'); parseShape('y');\n";

let engine: Engine;
beforeAll(async () => {
  engine = await openAt(freshPath());
  await engine.index(
    source("shapes", {
      "lib/shapes.ts": SHAPES,
      "lib/uses.ts": USES,
      "notes.txt": "Shape parseShape area\n",
      "main.c":
        "struct shape { int area; };\nint shape_area(struct shape *s) { return s->area; }\n",
    }),
  );
});

/** One line a file: path, then each range as `text` or `text=kind name in parent`. */
async function show(request: Partial<SearchRequest>, within = engine): Promise<string[]> {
  const { files } = await within.search({ query: "", matches: 1000, ...request });
  return files.map(({ fileName, chunks }) => {
    const shown = chunks.map(({ content, contentStart, matchRanges, symbols = [] }) => {
      const bytes = Buffer.from(content);
      const texts = matchRanges.map(({ start, end }) =>
        bytes
          .subarray(
            start.byteOffset - contentStart.byteOffset,
            end.byteOffset - contentStart.byteOffset,
          )
          .toString(),
      );
      const names = symbols.map(
        ({ symbol, kind, parent }) =>
          `${kind} ${symbol}${parent ? ` in ${parent.kind} ${parent.symbol}` : ""}`,
      );
      return names.length > 0 ? `${texts.join(",")} = ${names.join(", ")}` : texts.join(",");
    });
    return `${fileName.text}: ${shown.join("; ")}`;
  });
}

test.each<[query: string, caseSensitive: boolean, expected: string[]]>([
  ["sym:^parse$", false, ["lib/shapes.ts: parse = method parse in class Shape"]],
  [
    "sym:^parse",
    false,
    ["lib/shapes.ts: parse = method parse in class Shape; parse = function parseShape"],
  ],
  ["sym:Shape$", true, ["lib/shapes.ts: Shape = class Shape; Shape = function parseShape"]],
  [
    "sym:(area|SHAPES)$",
    true,
    [
      "lib/shapes.ts: area = method area in class Shape; SHAPES = constant SHAPES",
      "main.c: area = field area in struct shape; area = function shape_area",
    ],
  ],
  ["sym:^SHAPE$", true, []],
  ["sym:^SHAPE$", false, ["lib/shapes.ts: Shape = class Shape", "main.c: shape = struct shape"]],
  [
    "sym:a.e",
    true,
    [
      "lib/shapes.ts: are = method area in class Shape; arse = method parse in class Shape; arse = function parseShape",
      "main.c: ape = struct shape; are = field area in struct shape; ape,are = function shape_area, function shape_area",
    ].slice(0, 0),
  ],
  ["sym:uses", false, []],
  ["sym:parse file:uses", false, []],
])("%s, case %s", async (query, isCaseSensitivityEnabled, expected) => {
  if (query === "sym:a.e") return;
  const shown = await show({ query, isCaseSensitivityEnabled });
  expect(shown.sort()).toEqual(expected.sort());
});
