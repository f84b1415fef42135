/**
 * Every public name says what it is, with the unit of every number, and has an example that compiles.
 * In an example the package's own names need no import, and `engine`, `tree`, `tokens` and `users` are there.
 */

import ts from "typescript";
import { expect, test } from "vitest";
import { publicEntries } from "../../scripts/api-report.ts";
import { complaints, lacks } from "../snippets.ts";

const { program, entries } = publicEntries();
const checker = program.getTypeChecker();
const names = entries.flatMap(({ name: from, symbols }) =>
  symbols.map((symbol) => ({ name: symbol.name, from, symbol })),
);

const commentOf = (symbol: ts.Symbol): string =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker));

const examplesOf = (symbol: ts.Symbol): string[] =>
  symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === "example")
    .map(({ text }) => ts.displayPartsToString(text));

interface Member {
  /** The name with the names around it: `Repository.symbols.done`. */
  readonly name: string;
  readonly member: ts.Symbol;
}

/** Returns every field and method in a declaration, including those of nameless types anywhere within it. */
function membersOf(name: string, declaration: ts.Node): Member[] {
  const found: Member[] = [];
  const visit = (node: ts.Node, within: string): void => {
    if (ts.isBlock(node)) return; // what a function does is not public
    const isMember = ts.isTypeElement(node) || ts.isClassElement(node);
    const own = isMember || ts.isParameter(node) ? node.name : undefined;
    const path = own ? `${within}.${own.getText()}` : within;
    const member = isMember && own && checker.getSymbolAtLocation(own);
    if (member) found.push({ name: path, member });
    ts.forEachChild(node, (child) => visit(child, path));
  };
  ts.forEachChild(declaration, (child) => visit(child, name));
  return found;
}

const members = names.flatMap(({ name, symbol }) =>
  symbol.declarations!.flatMap((declaration) => membersOf(name, declaration)),
);

/** Whether a type is a number, or a list or set of numbers. */
function holdsNumbers(type: ts.Type): boolean {
  if (type.isUnion()) return type.types.some(holdsNumbers);
  if (type.flags & ts.TypeFlags.NumberLike) return true;
  const isReference = ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0;
  return isReference && checker.getTypeArguments(type as ts.TypeReference).some(holdsNumbers);
}

/** What the comment on a number must say, by the number's name: the first row that fits. */
const UNITS: readonly (readonly [name: RegExp, unit: RegExp])[] = [
  [/Ms$/, /\bmilliseconds\b/i],
  [/\.(duration|wait|matchTree\w+)$/, /\bnanoseconds\b/i],
  [/\.largerThanMB$/, /\bbytes\b/],
  [/\.parallel$/, /\bclones\b/],
  [/\.depth$/, /\bfolders\b/],
  [/^SyncProgress\.wanted$/, /\brepositories\b/],
  [/\.byteOffset$/, /0-based.*\bbytes\b/i],
  [/bytes|\.(size|maxFileSize|memoryBudget|textCache)$/i, /\bbytes\b/i],
  [/\.lineNumber$/, /1-based/],
  [/^(LineRange|Blame\.ranges)\./, /\blines\b/],
  [/\.commitCount$|^(CommitsOptions|History\.commits)\./, /\bcommits\b/],
  [/^RepositoriesOptions\./, /\brepositories\b/i],
  [/^AuditStore\.list|\.maxRecords$/, /\brecords\b/],
  [/^(AuthorsOptions|History\.authors)\./, /\bauthors\b/],
  [/\.column$/, /1-based.*\bcode points\b/],
  [/\.position$/, /\bUTF-16\b/],
  [/\.pending$/, /\bfiles\b/],
  [/Entry\.revisions$/, /\b0-based positions\b/],
  [/\.generation$/, /\bgeneration\b/],
  [/\.overlaid$/, /\btexts\b/],
  [/\.(id|segment|repositoryIds?)$/, /\bids?\b/i],
  [/\.status$/, /\bHTTP status\b/],
  [/\.rank$/, /\b0 to 1\b/],
  [/\.workers$/, /\bthreads\b/i],
  [/\.contextLines$/, /\blines\b/i],
  [/\.maxConcurrent$/, /\bsearches\b/i],
  [/\.((max)?matches(PerFile)?|\w+MatchCount)$/i, /\branges\b/i],
  [/files|\.(fileCount|done|total|added|removed|unchanged)$/i, /\bfiles\b/i],
  [/\.(segments\w*|shards\w+|crashes)$/, /\bsegments\b/i],
  [/\.(facets|more)$/, /\bvalues\b/],
  [/\.(pages|candidatePages|ngramMatches)$/, /\bpages\b/i],
  [/\.ngramLookups$/, /\bgrams\b/i],
  [/\.regexpsConsidered$/, /\bpairs\b/i],
  [/\.symbols$/, /\bdefinitions\b/i],
  [/\.rowCount$/, /\brows\b/],
  [/^ClusterStatus\.queue\.|^WorkOptions\.concurrency$/, /\bjobs\b/i],
  [/^ClusterStatus\.nodes\.ready$|\.slices$/, /\bslices\b/i],
  [/^CollectReport\.manifests$/, /\bgenerations\b/i],
  [/^CollectReport\.(states|objects)$/, /\b(states|objects)\b/i],
  [/^Job\.failures$/, /\bhow often\b/i],
  [/^ClusterOptions\.replicas$/, /\b(nodes|machines)\b/i],
  [/^ClusterStatus\.shards\.shard$/, /\bnumber\b/],
  [/^ClusterStatus\.shards\.(published|here)$/, /\bgeneration\b/],
  [/^migrateCluster\.(from|to)$/, /\bversion\b/],
];

function saysUnit(name: string, comment: string): boolean {
  const row = UNITS.find(([pattern]) => pattern.test(name));
  return row !== undefined && row[1].test(comment); // a number of no row wants one
}

test("there are names, and fields of them", () => {
  expect(names.length).toBeGreaterThan(50);
  expect(members.length).toBeGreaterThan(250);
  expect(members.map(({ name }) => name)).toContain("Explanation.segments.literals.grams.pages");
});

test("every name has a comment", () => {
  expect(names.filter(({ symbol }) => commentOf(symbol) === "").map(({ name }) => name)).toEqual(
    [],
  );
});

test("every field has a comment", () => {
  const silent = members.filter(({ member }) => commentOf(member) === "");
  expect([...new Set(silent.map(({ name }) => name))]).toEqual([]);
});

test("every number has a unit", () => {
  const numbers = members.filter(({ member }) => holdsNumbers(checker.getTypeOfSymbol(member)));
  expect(numbers.length).toBeGreaterThan(60);
  const bare = numbers.filter(({ name, member }) => !saysUnit(name, commentOf(member)));
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test.each([
  ["SearchOptions.timeoutMs", "After this the search answers with the files it has found."],
  ["SearchStats.duration", "Milliseconds from the call to the response."],
  ["IndexProgress.bytes", "How many there are."],
  ["Repository.revisions.files", "How many there are."],
  ["Position.lineNumber", "0-based."],
  ["Engine.unheardOf", "Files, bytes, milliseconds."],
])("%s: %j is no unit", (name, comment) => {
  expect(saysUnit(name, comment)).toBe(false);
});

test("every name has an example", () => {
  const without = names.filter(({ symbol }) => examplesOf(symbol).length === 0);
  expect(without.map(({ name }) => name)).toEqual([]);
});

test("every method has an example", () => {
  const methods = members.filter(({ member }) => member.flags & ts.SymbolFlags.Method);
  expect(methods.length).toBeGreaterThan(20);
  const without = methods.filter(({ member }) => examplesOf(member).length === 0);
  expect(without.map(({ name }) => name)).toEqual([]);
});

const GIVEN = {
  audits: "AuditStore",
  config: "SyncConfig",
  engine: "Engine",
  tree: "Workspace",
  tokens: "TokenStore",
  users: "UserStore",
};

/** Returns the declarations that a reader of an example takes for granted. */
function prelude(text: string): string {
  const given = Object.entries(GIVEN)
    .filter(([name]) => lacks(text, name))
    .map(([name, type]) => `declare const ${name}: ${type};`);
  const whole = [...given, text].join("\n");
  const used = names.filter(({ name }) => lacks(whole, name));
  return [...used.map(({ name, from }) => `import { ${name} } from "${from}";`), whole].join("\n");
}

test("every example compiles", () => {
  const documented = [...names, ...members.map(({ name, member: symbol }) => ({ name, symbol }))];
  const snippets = documented.flatMap(({ name, symbol }) =>
    examplesOf(symbol).map((text) => ({ name, text: prelude(text) })),
  );
  expect(complaints(snippets)).toEqual({});
});
