/** Random queries that match, because their terms are taken from the searched documents. */

import fc from "fast-check";
import { formatQuery, SELECTIONS, VISIBILITIES, type Query } from "../../src/query/ast.ts";
import type { SearchRequest, Viewer } from "../../src/search/messages/request.ts";
import type { Corpus } from "./corpus.ts";
import { corpora, REPOSITORY_NAMES, type CorpusShape } from "./corpora.ts";
import { ODD, WORDS } from "./documents.ts";
import type { OracleOptions } from "./oracle.ts";

/**
 * Returns text from one line of a document, mostly of 1 to 40 characters, sometimes of more than 128 bytes, sometimes
 * changed.
 */
export function literals(corpus: Corpus): fc.Arbitrary<string> {
  const lines = linesOf(corpus);
  const cut = fc
    .tuple(
      fc.constantFrom(...lines),
      fc.nat(),
      fc.oneof(lengths(1, 4), lengths(1, 40), lengths(60, 300)),
    )
    .map(([line, place, length]) => {
      const characters = Array.from(line);
      const from = place % characters.length;
      return characters.slice(from, from + length).join("");
    });
  return fc.oneof(
    { weight: 6, arbitrary: cut },
    { weight: 3, arbitrary: fc.constantFrom(...WORDS, ...ODD) },
    { weight: 3, arbitrary: fc.tuple(cut, fc.nat(), fc.constantFrom(...ODD, "x", "")).map(change) },
  );
}

const lengths = (min: number, max: number) => fc.integer({ min, max });

/** Returns the lines that are not empty, without their newlines, which no literal can contain. */
function linesOf(corpus: Corpus): string[] {
  const lines = corpus.repositories
    .flatMap(({ revisions }) => revisions.flatMap(({ files }) => files))
    .flatMap(({ bytes }) => Buffer.from(bytes).toString().split("\n"))
    .filter((line) => line !== "");
  return lines.length === 0 ? ["foo"] : [...new Set(lines)];
}

/** Replaces one character by another, or by its other case. */
function change([text, place, other]: [string, number, string]): string {
  const characters = Array.from(text);
  const at = place % characters.length;
  const was = characters[at]!;
  const swapped = was === was.toUpperCase() ? was.toLowerCase() : was.toUpperCase();
  characters[at] = other === "" ? swapped : other;
  return characters.join("");
}

const PARTS =
  ". \\w \\W \\d \\s \\S [a-f] [^a] [fb]o [kſ] [[:upper:]] \\pL ^ $ \\b \\B \\A \\z (?i:K) (?-i:foo) (?s:.) \\n x* \\C \\x{d800} \\x{fffd}".split(
    " ",
  );

/** Returns expressions with every construct. RE2 accepts all of them. */
export function expressions(corpus: Corpus): fc.Arbitrary<string> {
  const escaped = literals(corpus).map((text) =>
    Array.from(text)
      .slice(0, 30)
      .join("")
      .replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"),
  );
  const leaf = fc.oneof(
    { weight: 6, arbitrary: escaped },
    {
      weight: 5,
      arbitrary: fc.constantFrom(...PARTS),
    },
  );
  return fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 3, depthIdentifier: "expression" },
      leaf,
      fc.array(tie("expression"), { minLength: 2, maxLength: 3 }).map((parts) => parts.join("")),
      fc
        .array(tie("expression"), { minLength: 2, maxLength: 3 })
        .map((parts) => `(${parts.join("|")})`),
      fc
        .tuple(tie("expression"), fc.constantFrom("*", "+", "?", "{2}", "{0,3}", "*?", "+?", "??"))
        .map(([part, times]) => `(?:${part})${times}`),
    ),
  })).expression;
}

export interface QueryShape {
  readonly regex: boolean;
  /** Whether `rev:` may occur. Default true. */
  readonly revisions?: boolean;
  /** Names that `sym:` searches, in whole or in part. */
  readonly names?: readonly string[];
  /** The weight of `sym:`; the weight of content is 12. Default 2. */
  readonly symbols?: number;
}

/** Returns trees of every operator and prefix, up to 5 deep, in a form that parses; often a single content atom. */
export function queries(corpus: Corpus, shape: QueryShape): fc.Arbitrary<string> {
  const tree = fc.letrec<{ query: Query }>((tie) => ({
    query: fc.oneof(
      { maxDepth: 5, depthIdentifier: "query", withCrossShrink: true },
      { weight: 5, arbitrary: atoms(corpus, shape) },
      { weight: 2, arbitrary: several("and", tie("query")) },
      { weight: 2, arbitrary: several("or", tie("query")) },
      { weight: 1, arbitrary: tie("query").map((child): Query => ({ kind: "not", child })) },
    ),
  })).query;
  const everywhere: Query = { kind: "revision", value: "*" };
  const inAllRevisions = tree.map((child): Query => ({
    kind: "and",
    children: [child, everywhere],
  }));
  return fc
    .oneof(
      { weight: 2, arbitrary: contentAtoms(corpus, shape) },
      { weight: 2, arbitrary: tree },
      { weight: shape.revisions === false ? 0 : 1, arbitrary: inAllRevisions },
    )
    .map(formatQuery)
    .chain((text) => fc.constantFrom(text, text, inShort(text)));
}

/** Matches prefixes. In quotes they are ordinary text, so a replacement there changes the query. */
const LONG = /(?<=^|[\s(-])(file|repo|content):/g;

const inShort = (text: string): string => text.replace(LONG, (prefix) => `${prefix[0]}:`);

function contentAtoms(corpus: Corpus, { regex }: QueryShape): fc.Arbitrary<Query> {
  return regex
    ? expressions(corpus).map((pattern) => regexOf("content", pattern || "()"))
    : literals(corpus).map((text): Query => ({ kind: "literal", text, caseSensitive: false }));
}

function several(kind: "and" | "or", query: fc.Arbitrary<Query>): fc.Arbitrary<Query> {
  return fc.array(query, { minLength: 2, maxLength: 3 }).map((children) => ({ kind, children }));
}

function atoms(corpus: Corpus, shape: QueryShape): fc.Arbitrary<Query> {
  const patterns = fc.constantFrom(
    "foo",
    "\\.go$",
    "^lib/",
    "main|bar",
    "O",
    "[é]",
    "/",
    "x*",
    "(a)",
  );
  return fc.oneof(
    { weight: 12, arbitrary: contentAtoms(corpus, shape) },
    { weight: 3, arbitrary: patterns.map((pattern) => regexOf("file", pattern)) },
    { weight: 6, arbitrary: fc.oneof(...filters(shape)) },
    {
      weight: shape.symbols ?? 2,
      arbitrary: symbolExpressions(shape.names ?? NAMES).map((name) => regexOf("symbol", name)),
    },
  );
}

const NAMES = ["foo", "bar", "parse", "fooBar", "foo_bar", "nothing"];

/** Returns expressions that match parts of names, in either case: anchored, repeated, alternatives. */
export function symbolExpressions(names: readonly string[]): fc.Arbitrary<string> {
  const part = fc
    .tuple(fc.constantFrom(...names), fc.nat(), lengths(1, 9), fc.nat(3))
    .map(([name, place, length, how]) => {
      const characters = Array.from(name);
      const from = place % characters.length;
      const cut = characters.slice(from, from + length).join("");
      return how === 0 ? change([cut, place, ""]) : cut;
    });
  const whole = fc.constantFrom(...names);
  const piece = fc.oneof(
    { weight: 5, arbitrary: part },
    { weight: 3, arbitrary: whole },
    {
      weight: 3,
      arbitrary: fc.constantFrom(..."o+ x* . .* \\w [a-f] [A-Z] (?i:K) \\b _ é".split(" ")),
    },
  );
  const row = fc.array(piece, { minLength: 1, maxLength: 2 }).map((pieces) => pieces.join(""));
  const several = fc.array(row, { minLength: 2, maxLength: 3 }).map((rows) => rows.join("|"));
  const anchored = fc
    .tuple(fc.constantFrom("", "", "^"), fc.oneof(row, several), fc.constantFrom("", "", "$"))
    .map(([start, inner, end]) => `${start}${inner}${end}`);
  const group = fc
    .tuple(fc.constantFrom("", "^"), several, fc.constantFrom("", "$"))
    .map(([start, inner, end]) => `${start}(${inner})${end}`);
  return fc.oneof(
    anchored,
    group,
    whole.map((name) => `^${name}$`),
  );
}

function filters({ revisions = true }: QueryShape): fc.Arbitrary<Query>[] {
  const languages = ["go", "golang", "Java", "PYTHON", "python3", "nobody"];
  const revs = [
    "*",
    "HEAD",
    "main",
    "e",
    "v1",
    Buffer.from("main").toString("hex").padEnd(40, "0"),
    Buffer.from("main").toString("hex"), // a part of this commit id names nothing
  ];
  const sets = fc.uniqueArray(fc.constantFrom(...REPOSITORY_NAMES), { minLength: 1, maxLength: 2 });
  const selection = fc.constantFrom(...SELECTIONS);
  return [
    fc.constantFrom(...languages).map((name): Query => ({ kind: "language", name })),
    fc.constantFrom("acme", "^A", "web$", "i|r", ".").map((pattern) => regexOf("repo", pattern)),
    sets.map((each): Query => ({ kind: "reposet", names: each })),
    fc.constantFrom(...Object.keys(CONTEXTS)).map((name): Query => ({ kind: "context", name })),
    fc.record({ kind: fc.constantFrom("archived" as const, "fork" as const), value: selection }),
    fc.constantFrom(...VISIBILITIES).map((value): Query => ({ kind: "visibility", value })),
    fc.constant<Query>({ kind: "all" }),
    fc.constant<Query>({ kind: "none" }),
    ...(revisions
      ? [fc.constantFrom(...revs).map((value): Query => ({ kind: "revision", value }))]
      : []),
  ];
}

function regexOf(field: "content" | "file" | "repo" | "symbol", pattern: string): Query {
  return { kind: "regex", field, pattern, caseSensitive: false };
}

/** The sets of repositories that random queries name. */
export const CONTEXTS: Readonly<Record<string, readonly string[]>> = {
  team: ["acme/api", "Acme/Tools"],
  "the web": ["acme/web", "acme/gone"],
  empty: [],
};

export interface SearchCase {
  readonly corpus: Corpus;
  readonly request: SearchRequest;
  readonly options: OracleOptions;
}

/** One corpus with several queries, because indexing it takes longer than a search. */
export interface SearchState {
  readonly corpus: Corpus;
  readonly asked: readonly Omit<SearchCase, "corpus">[];
}

type CaseShape = CorpusShape & Omit<QueryShape, "regex">;

/** Returns a corpus with a query for it, in either dialect. Sometimes a limit cuts the answer. */
export function searchCases(shape: CaseShape = {}, prepare?: Prepare): fc.Arbitrary<SearchCase> {
  return searchStates(1, shape, prepare).map(({ corpus, asked }) => ({ corpus, ...asked[0]! }));
}

/** Changes the corpus as an engine does. */
type Prepare = (corpus: Corpus) => Corpus;

/** Returns a corpus with this many queries for it, in one of the dialects. */
export function searchStates(
  queriesEach: number,
  shape: CaseShape = {},
  prepare: Prepare = (corpus) => corpus,
): fc.Arbitrary<SearchState> {
  const isSeldom = fc.nat(7).map((n) => n === 0);
  return fc.tuple(fc.boolean(), isSeldom).chain(([regex, isLarge]) =>
    corpora({ pages: !regex || isLarge, ...shape })
      .map(prepare)
      .chain((corpus) =>
        fc.record({
          corpus: fc.constant(corpus),
          asked: searches(corpus, queriesEach, { ...shape, regex }),
        }),
      ),
  );
}

/** Returns this many queries for a corpus, each with its viewer. */
export function searches(
  corpus: Corpus,
  count: number,
  shape: QueryShape,
): fc.Arbitrary<Omit<SearchCase, "corpus">[]> {
  const contexts = (name: string) => CONTEXTS[name];
  const one = fc.record({
    request: requests(corpus, shape),
    options: viewers(corpus).map((viewer) => ({ ...viewer, contexts })),
  });
  return fc.array(one, { minLength: count, maxLength: count });
}

export function requests(corpus: Corpus, shape: QueryShape): fc.Arbitrary<SearchRequest> {
  return fc.record({
    query: queries(corpus, shape),
    matches: fc.oneof(
      { weight: 3, arbitrary: fc.constant(1e9) },
      { weight: 2, arbitrary: fc.nat(4) },
      { weight: 1, arbitrary: fc.nat(100) },
    ),
    contextLines: fc.constantFrom(0, 0, 1, 2, 30),
    whole: fc.boolean(),
    enclosing: fc.boolean(),
    isRegexEnabled: fc.constant(shape.regex),
    isCaseSensitivityEnabled: fc.boolean(),
  });
}

/** Returns viewers. Most see everything; the others see some of the repositories, and one that does not exist. */
export function viewers(corpus: Corpus): fc.Arbitrary<{ viewer?: Viewer }> {
  const ids = [...corpus.repositories.map(({ id }) => id), 999];
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.subarray(ids).map((some) => ({ viewer: { repositoryIds: new Set(some) } })),
    },
  );
}
