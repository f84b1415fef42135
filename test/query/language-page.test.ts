/**
 * What the user's page says of queries, row by row. A table's head says how it is read:
 *
 *   query | finds | but not             files of which the first is found and the second is not
 *   write | finds files that | here     what is said, and which of the page's files it is
 *   write | means                       the terms that it is parsed to
 *   word | write | because it is also   a word of other engines, which explain() has a hint for, and why no alias
 *   filter | short | value              the filter, and the values that are listed
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { open, type Engine, type Source } from "../../src/index.ts";
import { ALL } from "../../src/query/ast.ts";
import { FOREIGN_FILTERS, FOREIGN_OPERATORS, hintsOf } from "../../src/query/hints.ts";
import { parseQuery } from "../../src/query/parse.ts";
import { simplify } from "../../src/query/simplify.ts";
import { outcome } from "./outline.ts";

const page = readFileSync("docs/query-language.md", "utf8");
const LITERAL = { regex: false, caseSensitive: false };
const REGEX = { regex: true, caseSensitive: false };

interface Table {
  readonly head: string;
  readonly rows: readonly (readonly string[])[];
}

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

const tables: readonly Table[] = [...page.matchAll(/(?:^\|.*\|\n)+/gm)].map(([text]) => {
  const [head, , ...rows] = text.trimEnd().split("\n").map(cellsOf);
  return { head: head!.join(" | "), rows: rows! };
});

const rowsOf = (...heads: string[]) =>
  tables.filter(({ head }) => heads.includes(head)).flatMap(({ rows }) => rows);

/** Returns the only code in a cell. */
const code = (cell: string): string => /^`(.+)`$/.exec(cell)![1]!;
const codes = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, one]) => one!);

const FINDS = ["query | finds | but not", "query in the regex dialect | finds | but not"] as const;
const SAYS = "write | finds files that | here";
const MEANS = ["write | means", "write | means in the regex dialect"] as const;
const FOREIGN = "word | write | because it is also";
const FILTERS = "filter | short | value";

test("every table of the page is checked", () => {
  const heads = tables.map(({ head }) => head);
  expect(new Set(heads)).toEqual(new Set([...FINDS, SAYS, ...MEANS, FOREIGN, FILTERS]));
  expect(rowsOf(...FINDS).length).toBeGreaterThan(25);
});

/** Returns a word of another engine as a user would type it. */
const typed = (word: string): string => `x ${word.endsWith(":") ? `${word}y*.c` : word} y`;

test.each(rowsOf(FOREIGN).flatMap(([words]) => codes(words!)))("%s has a hint", (word) => {
  const parse = () => parseQuery(typed(word), LITERAL);
  if (word.startsWith("file:")) expect(parse).toThrow(/as a glob it is/);
  else expect(hintsOf(typed(word), LITERAL)).toHaveLength(1);
});

const foreign = [
  ...Object.keys(FOREIGN_FILTERS).map((name) => `${name}:`),
  ...Object.keys(FOREIGN_OPERATORS),
];

test.each(foreign)("%s has a row", (word) => {
  expect(rowsOf(FOREIGN).filter(([words]) => codes(words!).includes(word))).toHaveLength(1);
});

test("every word has a reason", () => {
  for (const [words, , reason] of rowsOf(FOREIGN)) expect(reason, words).toMatch(/\w/);
});

interface File {
  readonly repository: string;
  readonly path: string;
  readonly content: string;
  readonly revision: string;
  readonly state: string | undefined;
}

/**
 * The file at `path` in `repository`, whose state at `revision` is `content`. Everything except the content may be
 * omitted.
 */
const FILE =
  /^`([^`]+)`(?: in `([^`]+)`)?(?: of `([^`]+)`)?(?:, (archived|public))?(?: at `([^`]+)`)?$/;

function fileOf(cell: string, n: string): File {
  const parts = FILE.exec(cell);
  if (parts === null) throw new Error(`no file: ${cell}`);
  const [, content, path = `file-${n}`, repository = "page", state, revision = "main"] = parts;
  return { repository, path, content: content!, revision, state };
}

const examples = FINDS.flatMap((head, dialect) =>
  rowsOf(head).map(([query, found, other], n) => ({
    query: code(query!),
    isRegexEnabled: dialect === 1,
    found: fileOf(found!, `${dialect}-${n}`),
    other: fileOf(other!, `${dialect}-${n}-not`),
  })),
);

/** The files that the page names before the table of queries that find them. */
const letters = codes(/^Suppose there are six files [^:]*:/m.exec(page)![0]).map((path): File => {
  const content = path.replace("x/", "").replaceAll("-", " ");
  return { repository: "letters", path, content, revision: "main", state: undefined };
});

function sourceOf(name: string, files: readonly File[]): Source {
  const names = [...new Set(["main", ...files.map(({ revision }) => revision)])];
  const has = (state: string): boolean => files.some((file) => file.state === state);
  return {
    name,
    metadata: { archived: has("archived"), public: has("public") },
    open: async () => ({
      revisions: names.map((revision) => ({ name: revision })),
      async *entries() {
        yield files.map(({ path, content, revision }) => ({
          kind: "file" as const,
          path,
          revisions: [names.indexOf(revision)],
          content: { bytes: Buffer.from(content) },
        }));
      },
      close: async () => {},
    }),
  };
}

const folder = mkdtempSync(join(tmpdir(), "quern-language-"));
let engine: Engine;

/** Returns the sets of repositories that the page names. */
const contexts = (name: string) => (name === "backend" ? ["acme/orders", "acme/site"] : undefined);

beforeAll(async () => {
  engine = await open(folder, { workers: 0, contexts });
  const files = [...examples.flatMap(({ found, other }) => [found, other]), ...letters];
  const names = [...new Set(files.map(({ repository }) => repository))];
  await engine.index(
    names.map((name) => {
      const own = files.filter(({ repository }) => repository === name);
      return sourceOf(name, own);
    }),
  );
});

afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

async function placesOf(query: string, isRegexEnabled: boolean): Promise<string[]> {
  const { files } = await engine.search({ query, matches: 1000, isRegexEnabled });
  return files.map(({ repository, fileName }) => `${repository}: ${fileName.text}`);
}

const placeOf = ({ repository, path }: File): string => `${repository}: ${path}`;

test.each(examples)("$query", async ({ query, isRegexEnabled, found, other }) => {
  const places = await placesOf(query, isRegexEnabled);
  expect(places).toContain(placeOf(found));
  expect(places).not.toContain(placeOf(other));
});

/** Conditions on a file, by the words in which the page states them. */
const ASKS: Record<string, (has: (word: string) => boolean, path: string) => boolean> = {
  "contain both": (has) => has("a") && has("b"),
  "contain one or both": (has) => has("a") || has("b"),
  "contain both a and b, or c, because `or` binds less tightly": (has) =>
    (has("a") && has("b")) || has("c"),
  "contain c, and a or b": (has) => has("c") && (has("a") || has("b")),
  "do not have x in their path": (_, path) => !path.includes("x"),
  "do not contain both": (has) => !(has("a") && has("b")),
  "do not contain a": (has) => !has("a"),
};

test.each(rowsOf(SAYS))("%s: files that %s", async (query, says, here) => {
  const places = await placesOf(code(query!), false);
  const found = letters.filter((file) => places.includes(placeOf(file)));
  const asked = letters.filter(({ content, path }) =>
    ASKS[says!]!((word) => content.includes(word), path),
  );
  expect(found).toEqual(asked);
  expect(found.map(({ path }) => path)).toEqual(codes(here!));
});

/** Returns the meaning as an outline. Understands only the wordings that occur on the page. */
function meant(says: string, atom: "lit" | "re"): string {
  if (says === "nothing: no file matches") return "none";
  if (says === "every file") return "all";
  if (says === "an error") return "error";
  const words =
    /^(not both )?(?:a group: |a group and a term: )?the (term|expression)(s?) (`[^`]+`)(?: and (`[^`]+`))?$/;
  const [, not, kind, plural, ...named] = words.exec(says) ?? [];
  expect(kind, says).toBe(atom === "lit" ? "term" : "expression");
  const atoms = named.filter((one) => one !== undefined).map((one) => `${atom}:${code(one)}`);
  expect(atoms.length, says).toBe(plural === "s" ? 2 : 1);
  const all = atoms.length === 1 ? atoms[0]! : `(and ${atoms.join(" ")})`;
  return not === undefined ? all : `(not ${all})`;
}

describe.each([
  { head: MEANS[0], dialect: LITERAL, atom: "lit" },
  { head: MEANS[1], dialect: REGEX, atom: "re" },
] as const)("$head", ({ head, dialect, atom }) => {
  test.each(rowsOf(head))("%s: %s", (query, says) => {
    const is = outcome(code(query!), dialect).replace(/^(QUERY|REGEX)_.*/, "error");
    expect(is).toBe(meant(says!, atom));
  });
});

const isNoFilter = (text: string): boolean => simplify(parseQuery(text, LITERAL)) === ALL;

test.each(rowsOf(FILTERS))("the filter %s %s", (filter, short, value) => {
  const words = /^(archived|fork|visibility):$/.test(code(filter!))
    ? [...value!.matchAll(/`(\w+)`( \(no filter\))?/g)].map(([, word, no]) => ({ word, no }))
    : [];
  for (const { word, no } of words)
    expect(isNoFilter(`${code(filter!)}${word}`), word).toBe(no !== undefined);
  const one = words[0]?.word ?? "x";
  const long = outcome(`${code(filter!)}${one}`, LITERAL);
  expect(long).not.toMatch(/^QUERY_|^lit:\w+:/);
  if (short !== "") expect(outcome(`${code(short!)}${one}`, LITERAL)).toBe(long);
});

test("the error on the page is the one that is thrown", () => {
  const shown = /^```text\n(.*?)\n```$/ms.exec(page)![1];
  expect(() => parseQuery("alpha or or beta", LITERAL)).toThrow(
    expect.objectContaining({ message: shown }),
  );
});
