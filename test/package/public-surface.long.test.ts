/**
 * Nothing becomes public, or stops being public, without a change here. Every public name has an example, and every
 * number says its unit. Examples and the blocks of the pages compile, all in one program, because reading the sources
 * takes the compiler 5 s. In an example, the package's own names need no import, and `engine`, `tree`, `tokens` and
 * `users` exist.
 */

import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, test } from "vitest";
import { apiReport, publicEntries, REPORT, undeclared } from "../../scripts/api-report.ts";
import * as cluster from "../../src/cluster/index.ts";
import * as http from "../../src/http/index.ts";
import * as quern from "../../src/index.ts";
import * as sync from "../../src/sync/index.ts";
import * as testing from "../../src/testing.ts";
import { blocks } from "../blocks.ts";
import { complaints, lacks } from "../snippets.ts";

const surface = publicEntries();
const { program, entries } = surface;
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
  /** The name with its enclosing names, such as `Repository.symbols.done`. */
  readonly name: string;
  readonly member: ts.Symbol;
}

/** Returns every field and method in a declaration, including those of nameless types anywhere within it. */
function membersOf(name: string, declaration: ts.Node): Member[] {
  const found: Member[] = [];
  const visit = (node: ts.Node, within: string): void => {
    if (ts.isBlock(node)) return; // the body of a function is not public
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
  [/\.parallel$/, /\brepositories\b/],
  [/^(?:CallersOptions|NavigationCaller)\.depth$/, /\bcalls\b/],
  [/\.depth$/, /\bfolder levels\b/],
  [/^SyncProgress\.wanted$/, /\brepositories\b/],
  [/\.byteOffset$/, /0-based.*\bbytes\b/i],
  [/bytes|\.(size|maxFileSize|memoryBudget)$/i, /\bbytes\b/i],
  [/\.lineNumber$/, /1-based/],
  [/^(LineRange|Blame\.ranges)\./, /\blines?\b/],
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
  [/\.rank$|^FindWord\.alternatives\.weight$/, /\b0 to 1\b/],
  [/^FindReason\.weight$|^FoundPlace\.score$/, /\bscores?\b/i],
  [/^FindRequest\.places$/, /\bplaces\b/],
  [/^FindRequest\.maxTokens$/, /\btokens\b/],
  [/^History(?:Limits|Report)\.commits$/, /\bnumber of commits\b/],
  [/^FindRequest\.lines$|^PlaceLines\./, /\blines?\b/],
  [/^NavigationOptions\.limit$|^NavigationAnswer\.(?:leftOut|counts)/, /\bplaces\b/i],
  [/^NavigationTarget\.(?:line|column)$/, /\b(?:line|column)\b/],
  [/^FindWord\.frequency$/, /\bwindows\b/],
  [/\.workers$/, /\bthreads\b/i],
  [/\.contextLines$/, /\blines\b/i],
  [/\.max(Concurrent|Waiting)$/, /\bsearches\b/i],
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
  [/^Job\.failures$/, /\bhow (often|many times)\b/i],
  [/^ClusterOptions\.replicas$/, /\b(nodes|machines)\b/i],
  [/^ClusterStatus\.(?:shards|damaged)\.shard$/, /\bnumber\b/],
  [/^ClusterStatus\.shards\.(published|here)$/, /\bgeneration\b/],
  [/^migrateCluster\.(from|to)$/, /\bversion\b/],
];

function saysUnit(name: string, comment: string): boolean {
  const row = UNITS.find(([pattern]) => pattern.test(name));
  return row !== undefined && row[1].test(comment); // a number that no row covers needs a row
}

test("the surface has names, and the names have fields", () => {
  expect(names.length).toBeGreaterThan(50);
  expect(members.length).toBeGreaterThan(250);
  expect(members.map(({ name }) => name)).toContain("Explanation.segments.literals.grams.pages");
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
])("%s: %j does not give a unit", (name, comment) => {
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

test("every example and every code block of a page compiles", () => {
  const documented = [...names, ...members.map(({ name, member: symbol }) => ({ name, symbol }))];
  const snippets = documented.flatMap(({ name, symbol }) =>
    examplesOf(symbol).map((text) => ({ name, text: prelude(text) })),
  );
  expect(snippets.length).toBeGreaterThan(50);
  expect(complaints([...snippets, ...blocks], program)).toEqual({});
});

test("etc/quern.api.md equals the output of `npm run api-report`", async () => {
  expect(await apiReport(surface)).toBe(readFileSync(REPORT, "utf8"));
});

test("a type that the surface names but no entry exports is reported", async () => {
  const without = ["FlushReason", "Handler", "RepositoryMetadata"];
  const entries = surface.entries.map(({ name, symbols }) => ({
    name,
    symbols: symbols.filter((symbol) => !without.includes(symbol.name)),
  }));
  expect(undeclared({ ...surface, entries }).sort()).toEqual([
    "FlushReason (named by SearchStats)",
    "Handler (named by createHandler)",
    "Handler (named by toNodeListener)",
    "RepositoryMetadata (named by DirectoryOptions)",
    "RepositoryMetadata (named by DocumentsOptions)",
    "RepositoryMetadata (named by GitOptions)",
    "RepositoryMetadata (named by Repository)",
    "RepositoryMetadata (named by Source)",
    "RepositoryMetadata (named by WorkspaceOptions)",
  ]);
  await expect(apiReport({ ...surface, entries })).rejects.toThrow("FlushReason");
});

test("each entry exports its expected values", () => {
  expect(Object.keys(quern).sort()).toEqual([
    "QuernError",
    "directory",
    "documents",
    "git",
    "open",
    "remoteOf",
    "watch",
  ]);
  expect(Object.keys(http).sort()).toEqual([
    "answerUnreadable",
    "createApiKey",
    "createHandler",
    "lmdbAuditStore",
    "lmdbTokenStore",
    "lmdbUserStore",
    "memoryAuditStore",
    "memoryTokenStore",
    "memoryUserStore",
    "toNodeListener",
  ]);
  expect(Object.keys(cluster).sort()).toEqual([
    "directorySegments",
    "migrateCluster",
    "openCluster",
    "postgresAuditStore",
    "postgresCatalog",
    "postgresSegments",
    "postgresTokenStore",
    "postgresUserStore",
    "s3Segments",
  ]);
  expect(Object.keys(testing).sort()).toEqual([
    "auditStoreSuite",
    "segmentStoreSuite",
    "tokenStoreSuite",
    "userStoreSuite",
  ]);
  expect(Object.keys(sync).sort()).toEqual([
    "readSyncConfig",
    "startSync",
    "syncConfigSchema",
    "syncConnections",
  ]);
});
