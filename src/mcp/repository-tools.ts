/** Implements the tools `repositories` and `tree`. */

import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import type { Repository } from "../repository.ts";
import { named } from "./delimit.ts";
import { placeOf, tellList } from "./listing.ts";
import { reasonsOf } from "./partial-words.ts";
import { grouped, plural } from "./plural.ts";
import {
  countRepositories,
  folderPath,
  repositoriesBehind,
  soleRepository,
  splitPath,
} from "./scope.ts";
import { cursor, LISTED, maxTokens, text, tool, type ToolContext } from "./tool.ts";

export const repositories = tool({
  name: "repositories",
  title: "List repositories",
  description: "Indexed repositories: revisions, sizes, state, unsearchable files and why.",
  input: z.object({ query: text, maxTokens, cursor }),
  output: LISTED,
  async run(given, context) {
    const place = placeOf("repositories", given, context);
    const { args, from, last } = place;
    const words = (args.query ?? "").toLowerCase().match(/\S+/g) ?? [];
    const [all, page] = await Promise.all([
      countRepositories("", context),
      pageOfWords(words, { after: last, limit: mostLines(args.maxTokens) }, context),
    ]);
    const head = [`${grouped(page.total)} of ${plural(all, "repository", "repositories")}.`];
    const lines = page.repositories.map(describe);
    const names = page.repositories.map(({ name }) => name);
    const end = from + lines.length;
    const total = page.isLast ? end : Math.max(page.total, end + 1);
    return tellList(
      { lines, names, before: from, total },
      { tool: "repositories", place, head, context },
    );
  },
});

/**
 * Returns how many repositories to request. These are more than fit into the answer, because the line of a repository
 * takes about twenty tokens or more.
 */
const mostLines = (maxTokens: number): number => Math.ceil(maxTokens / 15);

interface NamesBehind {
  /** The last name that was shown, or '' at the start. */
  readonly after: string;
  readonly limit: number;
}

interface NamesPage {
  readonly repositories: readonly Repository[];
  /** The number of repositories on all pages. */
  readonly total: number;
  readonly isLast: boolean;
}

/** Resolves to the next repositories, after the name `after`, whose names contain all words. */
async function pageOfWords(
  words: readonly string[],
  { after, limit }: NamesBehind,
  context: ToolContext,
): Promise<NamesPage> {
  const [longest = "", ...others] = words.toSorted((a, b) => b.length - a.length);
  const ask = (from: string, most: number) =>
    repositoriesBehind(from, { query: longest, limit: most }, context);
  if (others.length === 0) {
    const repositories = await ask(after, limit);
    const total = await countRepositories(longest, context);
    return { repositories, total, isLast: repositories.length < limit };
  }
  const found: Repository[] = [];
  for (let last = "", isLast = false; !isLast;) {
    const page = await ask(last, MOST_AT_ONCE);
    found.push(
      ...page.filter(({ name }) => others.every((word) => name.toLowerCase().includes(word))),
    );
    isLast = page.length < MOST_AT_ONCE;
    last = page.at(-1)?.name ?? last;
  }
  const behind = found.filter(({ name }) => name > after);
  const repositories = behind.slice(0, limit);
  return { repositories, total: found.length, isLast: repositories.length === behind.length };
}

/** The number of repositories that are read at a time to compare their names with several words. */
const MOST_AT_ONCE = 1_000;

function describe({
  name,
  revisions,
  state,
  symbols,
  contentBytes,
  skipped,
  indexedAt,
}: Repository): string {
  const [main] = revisions;
  const others = revisions.slice(1).map((revision) => revision.name);
  const isBehind = symbols.done < symbols.total;
  return [
    `${name}@${main?.name ?? ""}: ${plural(main?.files ?? 0, "file")}, ${(contentBytes / 2 ** 20).toFixed(1)} MiB, indexed ${indexedAt.toISOString().slice(0, 16)}Z`,
    ...(state === "indexing" ? ["STILL BEING INDEXED"] : []),
    ...(isBehind
      ? [`definitions of ${symbols.done} of ${plural(symbols.total, "file")} are known`]
      : []),
    ...(others.length > 0 ? [`also ${others.join(", ")}`] : []),
    ...(skipped.length > 0 ? [`not searchable: ${reasonsOf(skipped)}`] : []),
  ].join("; ");
}

const treeInput = z.object({
  repository: text,
  path: text,
  depth: z.int().min(1).max(20).default(2),
  revision: text,
  maxTokens,
  cursor,
});

const MOST_FOLDERS = 2_000;

export const tree = tool({
  name: "tree",
  title: "List a folder",
  description: "Folders and files.",
  input: treeInput,
  output: LISTED,
  async run(given, context) {
    const place = placeOf("tree", splitPath(given), context);
    const { args } = place;
    const repository = await soleRepository(args.repository, context);
    const path = folderPath(args.path);
    const walk = { left: MOST_FOLDERS, lines: [] as string[] };
    await list(
      { repository, path, depth: args.depth, level: 0, revision: args.revision },
      walk,
      context,
    );
    if (walk.lines.length === 0)
      throw new QuernError(
        "INVALID_REQUEST",
        `there is no folder ${JSON.stringify(path)} in ${named(repository)}`,
      );
    const isCut = walk.left < 0;
    const head = [
      `${named(`${repository}:${path === "" ? "/" : path}`)}, ${plural(walk.lines.length, "entry", "entries")} to depth ${args.depth}.`,
      ...(isCut
        ? [
            `INCOMPLETE: only ${plural(MOST_FOLDERS, "folder")} were opened: ask for a folder below, or for less depth.`,
          ]
        : []),
    ];
    const told = tellList({ lines: walk.lines }, { tool: "tree", place, head, context });
    return isCut ? { ...told, facts: { ...told.facts, complete: false } } : told;
  },
});

interface Folder {
  readonly repository: string;
  readonly path: string;
  readonly depth: number;
  readonly level: number;
  readonly revision: string | undefined;
}

async function list(
  folder: Folder,
  walk: { left: number; lines: string[] },
  context: ToolContext,
): Promise<void> {
  const { repository, path, depth, level, revision } = folder;
  if (walk.left-- <= 0) return;
  const asked = { repository, path, ...(revision !== undefined && { revision }) };
  const entries = await context.engine.list(
    asked,
    context.viewer ? { viewer: context.viewer } : {},
  );
  for (const entry of entries ?? []) {
    walk.lines.push(`${"  ".repeat(level)}${entry.name}${entry.type === "folder" ? "/" : ""}`);
    if (entry.type === "folder" && depth > 1)
      await list(
        { ...folder, path: entry.path, depth: depth - 1, level: level + 1 },
        walk,
        context,
      );
  }
}
