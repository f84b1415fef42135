/**
 * Implements the tool `history`. It lists commits, shows one commit, compares two revisions, shows the commits that last
 * changed the lines of a file, or finds the changes that added or removed a text.
 */

import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import { newPause, type Pause } from "../base/yield.ts";
import { coreOf } from "../core-of.ts";
import type { Blame, Commit, FileDiff, History } from "../history/history.ts";
import { placeOf, tellList, type List, type ListPlace } from "./listing.ts";
import { quote } from "../query/ast.ts";
import type { Chunk } from "../search/messages/response.ts";
import { scopeOf, searchOptions, soleRepository, splitPath } from "./scope.ts";
import { cutLong, lineRange, rangeOf } from "./line-range.ts";
import { named } from "./delimit.ts";
import { grouped, plural } from "./plural.ts";
import { TextLines } from "./text-lines.ts";
import { cursor, maxTokens, text, tool, type Outcome, type ToolContext } from "./tool.ts";

const input = z.object({
  repository: text,
  path: text,
  query: text.describe("part of a message"),
  author: text,
  since: text.describe("date or 2 weeks ago"),
  until: text,
  revision: text,
  diff: text.describe("commit or BASE..HEAD"),
  blame: lineRange.describe("lines of path"),
  changed: text.describe("added or removed text"),
  maxTokens,
  cursor,
});
type Args = z.output<typeof input>;

export const history = tool({
  name: "history",
  title: "Git history",
  description: "Commits, newest first; a diff; blame.",
  input,
  output: ["shown", "complete", "cursor"],
  async run(given, context) {
    const place = placeOf("history", splitPath(given), context);
    const { args } = place;
    const repository = await soleRepository(args.repository, context);
    if (args.changed !== undefined)
      return tellChanges(args.changed, { place, args: { ...args, repository }, context });
    const asked = { place, args, context, history: await openHistory(repository, context) };
    if (args.diff !== undefined) return tellDiff(args.diff, asked);
    if (args.blame !== undefined) return tellBlame(args.blame, asked);
    return tellCommits(asked);
  },
});

interface Asked {
  readonly place: ListPlace<Args>;
  readonly args: Args;
  readonly context: ToolContext;
  readonly history: History;
}

/**
 * Opens the history of a repository. If there is none, throws an error that says why. An engine that a host has
 * wrapped does not know the reason.
 */
async function openHistory(repository: string, { engine, viewer }: ToolContext): Promise<History> {
  const found = await coreOf(engine).history(repository, viewer);
  if (found) return found;
  throw new QuernError("HISTORY_NOT_AVAILABLE", `${named(repository)} has no git history here`);
}

/** The number of digits that are shown of the id of a commit. git accepts shortened ids. */
const ID_DIGITS = 10;

type LineOfCommit = Pick<Commit, "hash" | "date" | "authorName" | "message">;

const commitLine = ({ hash, date, authorName, message }: LineOfCommit): string =>
  `${hash.slice(0, ID_DIGITS)} ${date.slice(0, 10)} ${authorName}: ${message}`;

async function mustFind(revision: string, { history: log, context }: Asked) {
  const commit = await log.commit(revision, { signal: context.signal });
  if (commit) return commit;
  throw new QuernError(
    "INVALID_GIT_REF",
    `there is no branch, tag or commit ${JSON.stringify(revision.slice(0, 80))}`,
  );
}

// ── commits ──

/** The maximum number of commits that one call reads from the history. */
const MOST_LISTED = 1_000;
/** The minimum number of tokens of a line that describes a commit. */
const LEAST_OF_A_COMMIT = 12;

/**
 * Answers with a page of the list of commits. All pages belong to one list, because the cursor keeps the id of the
 * commit from which the list starts. Commits that arrive later are not in this list.
 */
async function tellCommits(asked: Asked): Promise<Outcome> {
  const { args, context, history: log } = asked;
  const { path, query, author, since, until } = args;
  const { hash: revision } = await mustFind(args.revision ?? "HEAD", asked);
  const place = { ...asked.place, args: { ...args, revision } };
  const { from } = place;
  const { commits, total } = await log.commits({
    ...defined({ path, query, author, since, until }),
    revision,
    skip: from,
    limit: Math.min(MOST_LISTED, Math.ceil(args.maxTokens / LEAST_OF_A_COMMIT)),
    signal: context.signal,
  });
  const where = named(`${log.repository}${path ? `:${path}` : ""}`);
  const list = { lines: commits.map(commitLine), before: from, total };
  const all = { ...asked, place };
  if (total > 0)
    return listed(list, { head: [`${plural(total, "commit")} of ${where}, newest first.`] }, all);
  const none = `No matching commit of ${where} up to ${named(args.revision ?? "HEAD")}.`;
  const { words, intro } = await newest(asked);
  return listed(list, { head: [none, words], intro }, all);
}

/**
 * Describes the newest commit that changed `path`. If the request has no `path`, describes the newest
 * commit of the revision. The answer shows this line if the filters of the request match no commit, because a date or
 * a name in such a request is often wrong.
 */
async function newest({
  args: { path, revision },
  context,
  history: log,
}: Asked): Promise<{ readonly words: string; readonly intro: readonly string[] }> {
  const { signal } = context;
  const first = { revision: revision ?? "HEAD", skip: 0, limit: 1, signal };
  const ofPath = path === undefined ? undefined : await log.commits({ ...first, path });
  if (ofPath?.total === 0) return { words: "No commit touches the path at all.", intro: [] };
  const { commits, total } = ofPath ?? (await log.commits(first));
  return {
    words: `Without filters there are ${grouped(total)}; the newest:`,
    intro: commits.map(commitLine),
  };
}

function defined<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** What comes before a list: own words, and lines of the repository. */
interface Beginning {
  readonly head: readonly string[];
  readonly intro?: readonly string[];
}

function listed(
  list: List,
  beginning: Beginning,
  { place, context }: Pick<Asked, "place" | "context">,
): Outcome {
  const { text: told, facts } = tellList(list, { tool: "history", place, ...beginning, context });
  const { files: _lines, ...own } = facts;
  return { text: told, facts: own };
}

/**
 * Answers with a page of a list that is in memory as a whole. Later pages begin only with the first own words and the
 * first line of the repository.
 */
function listedWhole(
  lines: readonly string[],
  { head, intro = [] }: Beginning,
  asked: Asked,
): Outcome {
  const isFirst = asked.place.from === 0;
  const beginning = isFirst
    ? { head, intro }
    : { head: head.slice(0, 1), intro: intro.slice(0, 1) };
  return listed({ lines }, beginning, asked);
}

// ── differences ──

/**
 * Answers with the difference of two revisions, or with one commit. All pages compare the commits to which the names
 * referred when the first page was made.
 */
async function tellDiff(diff: string, asked: Asked): Promise<Outcome> {
  const { args, context, history: log } = asked;
  const [, base, head] = /^(.+?)\.{2,3}(.+)$/s.exec(diff) ?? [];
  if (base === undefined || head === undefined) return tellCommit(diff, asked);
  const ends = [(await mustFind(base, asked)).hash, (await mustFind(head, asked)).hash] as const;
  const place = { ...asked.place, args: { ...args, diff: ends.join("..") } };
  const { signal } = context;
  const files = await log.diff({ base: ends[0], head: ends[1], ...pathOf(args), signal });
  return tellFiles(
    files,
    { head: [`${named(log.repository)}: ${named(diff)}`] },
    { ...asked, place },
  );
}

const pathOf = ({ path }: Args): { path?: string } => (path === undefined ? {} : { path });

async function tellCommit(revision: string, given: Asked): Promise<Outcome> {
  const { args, context, history: log } = given;
  const { signal } = context;
  const commit = await mustFind(revision, given);
  const { hash, parents, body, authorEmail, refs } = commit;
  const asked = { ...given, place: { ...given.place, args: { ...args, diff: hash } } };
  const intro = [
    `${commitLine(commit)} <${authorEmail}>${refs ? ` (${refs})` : ""}`,
    ...body.split("\n").filter((line) => line.trim() !== ""),
  ];
  const head = parents.length > 1 ? [`A merge of ${parents.length}, compared with the first.`] : [];
  const [parent] = parents;
  if (parent !== undefined)
    return tellFiles(
      await log.diff({ base: parent, head: hash, ...pathOf(args), signal }),
      { head, intro },
      asked,
    );
  const added = (await log.paths({ revision: hash, signal })) ?? [];
  const words = `The first commit: it adds ${plural(added.length, "file")}.`;
  return listedWhole(
    added.map(({ path }) => path),
    { head: [...head, words], intro },
    asked,
  );
}

/**
 * Answers with the changes of each file. If there are several files, first lists how many lines were added to each
 * file and deleted from it.
 */
function tellFiles(
  files: readonly FileDiff[],
  { head, intro = [] }: Beginning,
  asked: Asked,
): Outcome {
  const lines = files.flatMap((file) => [
    titleOf(file),
    ...file.hunks.flatMap(({ newRange, heading, body }) => [
      `@@ ${newRange.start}${heading ? ` ${heading}` : ""}`,
      ...body.split("\n").map((line) => cutLong(line)),
    ]),
  ]);
  const overview = files.length > 1 ? files.map((file) => titleOf(file)) : [];
  const words = files.length === 0 ? "No difference." : `${plural(files.length, "file")}.`;
  return listedWhole([...overview, ...lines], { head: [...head, words], intro }, asked);
}

function titleOf({ oldPath, newPath, hunks }: FileDiff): string {
  const changes = hunks.flatMap(({ body }) => body.split("\n"));
  const count = (sign: string): number => changes.filter((line) => line.startsWith(sign)).length;
  return `${newPath ?? oldPath}${changeOf(oldPath, newPath)} +${count("+")} -${count("-")}`;
}

function changeOf(oldPath: string | null, newPath: string | null): string {
  if (oldPath === null) return " (added)";
  if (newPath === null) return " (deleted)";
  return oldPath === newPath ? "" : ` (was ${oldPath})`;
}

// ── changes of a text ──

/** The maximum number of ranges that are searched for an answer and its later pages. */
const MOST_CHANGED = 5_000;

/** Answers with the changes that added or removed a line with a text, from the indexed history. */
async function tellChanges(
  changed: string,
  { place, args, context }: Pick<Asked, "place" | "args" | "context">,
): Promise<Outcome> {
  const { repository, path, revision, query, author, since, until } = args;
  const { filter, viewer } = await scopeOf({ repository, path, revision }, context);
  const filters = Object.entries({ message: query, author, after: since, before: until });
  const parts = [
    "type:diff",
    quote(changed),
    ...(filter === "" ? [] : [filter]),
    ...filters.flatMap(([name, value]) => (value === undefined ? [] : [`${name}:${quote(value)}`])),
  ];
  const { files, stats, isSearchExhaustive } = await context.engine.search(
    { query: parts.join(" "), matches: MOST_CHANGED },
    searchOptions(context, viewer),
  );
  const lines = files.flatMap(({ commit, fileName, chunks }) => [
    `${commitLine({ ...commit!, message: commit!.message.split("\n", 1)[0]! })} · ${fileName.text}`,
    ...chunks.flatMap(changedLines),
  ]);
  const { fileCount, actualMatchCount, totalMatchCount } = stats;
  const head = [
    `${plural(fileCount, "change")} of ${named(repository!)} with ${JSON.stringify(changed)}, newest first.`,
    ...(actualMatchCount < totalMatchCount
      ? [
          `Only the newest ${grouped(actualMatchCount)} of ${plural(totalMatchCount, "match", "matches")}.`,
        ]
      : []),
    ...(isSearchExhaustive ? [] : ["Incomplete: some commits were not searched."]),
  ];
  return listed(
    { lines },
    { head: place.from === 0 ? head : head.slice(0, 1) },
    { place, context },
  );
}

function changedLines({ content, contentStart, side }: Chunk): string[] {
  const sign = side === "added" ? "+" : "-";
  const lines = content.replace(/\n$/, "").split("\n");
  return lines.map((line, i) => `${sign}${contentStart.lineNumber + i}: ${cutLong(line)}`);
}

// ── lines ──

async function tellBlame(blame: string, asked: Asked): Promise<Outcome> {
  const { args, context, history: log } = asked;
  const { path, revision: name = "HEAD" } = args;
  if (path === undefined) throw new QuernError("INVALID_REQUEST", "blame needs the path of a file");
  const { signal } = context;
  const { hash: revision } = await mustFind(name, asked);
  const found = await log.blame({ path, revision, signal });
  const file = await log.read({ path, revision, signal });
  if (!found || !file)
    throw new QuernError(
      "INVALID_REQUEST",
      `${named(log.repository)} has no file ${JSON.stringify(path)} in ${named(name)}`,
    );
  const head = [
    `${named(`${log.repository}:${path}`)} at ${named(name)}.`,
    ...((await isEdited(file.content, path, asked))
      ? ["The file differs from what was committed: line numbers are those of the commit."]
      : []),
  ];
  const pause = newPause({ signal });
  const text = await TextLines.of(file.bytes, pause);
  const lines = await linesOfBlame(found, { text, ...rangeOf(blame), pause });
  const place = { ...asked.place, args: { ...args, revision } };
  return listedWhole(lines, { head }, { ...asked, place });
}

interface BlamedLines {
  readonly text: TextLines;
  readonly first: number;
  readonly last: number;
  readonly pause: Pause;
}

/** Lists the lines of a file. A line about a commit comes before the lines that this commit last changed. */
async function linesOfBlame(
  { ranges, commits }: Blame,
  { text, first, last, pause }: BlamedLines,
): Promise<string[]> {
  const told: string[] = [];
  let said: string | undefined;
  for (const { hash, startLine, lineCount } of ranges) {
    const from = Math.max(first, startLine);
    const to = Math.min(last, startLine + lineCount - 1);
    if (from > to) continue;
    if (said !== hash) told.push(commitLine(commits[hash]!));
    said = hash;
    for (let line = from; line <= to; line++) {
      told.push(`${line}: ${cutLong(text.at(line))}`);
      await pause();
    }
  }
  return told;
}

/**
 * Whether the indexed file, which the other tools read, differs from the committed file. Resolves to false if the
 * request names a revision.
 */
async function isEdited(
  committed: string,
  path: string,
  { args, context: { engine, viewer }, history: log }: Asked,
): Promise<boolean> {
  if (args.revision !== undefined) return false;
  const options = viewer ? { viewer } : {};
  const current = await engine.read({ repository: log.repository, path }, options);
  return current !== undefined && current.content !== committed;
}
