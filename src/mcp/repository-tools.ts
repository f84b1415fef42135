/** repositories and tree. */

import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import type { Repository } from "../repository.ts";
import { Answer } from "./answer.ts";
import { plural } from "./match-pages.ts";
import { findRepository, visibleRepositories } from "./scope.ts";
import { cursor, maxTokens, text, tool, type Outcome, type ToolContext } from "./tool.ts";

export const repositories = tool({
  name: "repositories",
  title: "List repositories",
  description: "What is indexed: revisions, sizes, state, what is not searchable and why.",
  input: z.object({ query: text, maxTokens, cursor }),
  async run(args, context) {
    const words = (args.query ?? "").toLowerCase().split(/\s+/);
    const all = await visibleRepositories(context);
    const fitting = all.filter(({ name }) =>
      words.every((word) => name.toLowerCase().includes(word)),
    );
    const head = `${fitting.length} of ${plural(all.length, "repository", "repositories")}.`;
    return tellList("repositories", fitting.map(describe), { head, args, context });
  },
});

const MOST_REASONS = 3;

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
    ...(isBehind ? [`definitions of ${symbols.done} of ${symbols.total} files are known`] : []),
    ...(others.length > 0 ? [`also ${others.join(", ")}`] : []),
    ...(skipped.length > 0 ? [`not searchable: ${reasonsOf(skipped)}`] : []),
  ].join("; ");
}

function reasonsOf(skipped: Repository["skipped"]): string {
  const counts = new Map<string, number>();
  for (const { reason } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .slice(0, MOST_REASONS)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", ");
}

interface Listing {
  readonly head: string;
  readonly args: { readonly maxTokens: number; readonly cursor?: string | undefined };
  readonly context: ToolContext;
}

/** Lines of a list as far as there is room, from where the cursor says. */
function tellList(
  name: string,
  lines: readonly string[],
  { head, args, context }: Listing,
): Outcome {
  const from =
    args.cursor === undefined ? 0 : context.cursors.find<{ from: number }>(name, args.cursor).from;
  const answer = new Answer(args.maxTokens, context.count);
  answer.head(head);
  for (const words of context.behind()) answer.head(words);
  const told = answer.takeSome(lines.slice(from));
  answer.add(told);
  const end = from + told.length;
  const facts = { files: lines.length, shown: told.length };
  if (end === lines.length || told.length === 0)
    return {
      text: answer.text,
      facts: { ...facts, complete: end === lines.length && context.behind().length === 0 },
    };
  const kept = context.cursors.keep(name, { from: end });
  answer.tail(`Not all shown. The next ones: the same arguments and cursor "${kept}"`);
  return { text: answer.text, facts: { ...facts, complete: false, cursor: kept } };
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
  async run(args, context) {
    const repository = await repositoryOf(args.repository, context);
    const path = (args.path ?? "").replace(/^\.?\/+|\/+$/g, "");
    const walk = { left: MOST_FOLDERS, lines: [] as string[] };
    await list(
      { repository, path, depth: args.depth, level: 0, revision: args.revision },
      walk,
      context,
    );
    if (walk.lines.length === 0)
      throw new QuernError(
        "INVALID_REQUEST",
        `there is no folder ${JSON.stringify(path)} in ${repository}`,
      );
    const head = `${repository}:${path === "" ? "/" : path}, ${plural(walk.lines.length, "entry", "entries")} to depth ${args.depth}.`;
    return tellList("tree", walk.lines, { head, args, context });
  },
});

async function repositoryOf(name: string | undefined, context: ToolContext): Promise<string> {
  if (name !== undefined) return (await findRepository(name, context)).name;
  const all = await visibleRepositories(context);
  if (all.length === 1) return all[0]!.name;
  throw new QuernError(
    "INVALID_REQUEST",
    `name a repository: ${plural(all.length, "repository is", "repositories are")} indexed here`,
  );
}

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
