/**
 * Converts the filters of a tool call to a part of a query, and to a viewer who sees only the named repository. Also
 * finds repositories by name.
 */

import { editDistance } from "../base/edit-distance.ts";
import { QuernError } from "../base/errors.ts";
import { languageNamed, nearestLanguage } from "../base/languages.ts";
import { newPause } from "../base/yield.ts";
import { formatQuery, quote } from "../query/ast.ts";
import { parseInSlices } from "../query/parse.ts";
import { named } from "./delimit.ts";
import { plural } from "./plural.ts";
import { coreOf } from "../core-of.ts";
import type { Repository } from "../repository.ts";
import type { SearchOptions, SearchRequest, Viewer } from "../search/messages/request.ts";
import type { Filters, ToolContext } from "./tool.ts";

export interface Scope {
  /** The filters as a part of a query, or '' if there are none. */
  readonly filter: string;
  readonly viewer: Viewer | undefined;
}

export async function scopeOf(filters: Filters, context: ToolContext): Promise<Scope> {
  const { repository, path, language, revision } = filters;
  const viewer =
    repository === undefined ? context.viewer : viewerOf(await findRepository(repository, context));
  const parts = [
    ...(path ? [pathFilter(path)] : []),
    ...(language ? [languageFilter(language)] : []),
    ...(revision ? [`rev:${quote(revision)}`] : []),
  ];
  return { filter: parts.join(" "), viewer };
}

const viewerOf = ({ id }: Repository): Viewer => ({ repositoryIds: new Set([id]) });

/** Returns the options of a search in a scope. */
export const searchOptions = (
  { signal, timeoutMs }: ToolContext,
  viewer: Viewer | undefined,
): SearchOptions => ({
  signal,
  ...(timeoutMs !== undefined && { timeoutMs }),
  ...(viewer && { viewer }),
});

const optional = ({ viewer }: ToolContext): { viewer?: Viewer } => (viewer ? { viewer } : {});

/** Counts the visible repositories whose names contain a text. */
export async function countRepositories(query: string, context: ToolContext): Promise<number> {
  const { engine, viewer } = context;
  const order = { sort: "name", direction: "asc" } as const;
  return (await coreOf(engine).repositories.page({ viewer, query, ...order, skip: 0, limit: 0 }))
    .total;
}

/**
 * Lists repositories whose names contain a text, ordered by name. Begins after the name `after`, or with the first
 * name if `after` is ''.
 */
export const repositoriesBehind = (
  after: string,
  { query, limit }: { readonly query: string; readonly limit: number },
  context: ToolContext,
): Promise<Repository[]> =>
  context.engine.repositories({
    ...optional(context),
    query,
    limit,
    ...(after !== "" && { after }),
  });

/** Lists the first `limit` names of repositories that begin with a text, in order. */
export async function namesThatBegin(
  begun: string,
  limit: number,
  context: ToolContext,
): Promise<string[]> {
  const { engine } = context;
  const exact = begun === "" ? undefined : await engine.repository(begun, optional(context));
  const behind = await repositoriesBehind(begun, { query: begun, limit }, context);
  const names = [...(exact ? [exact] : []), ...behind].map(({ name }) => name);
  return names.filter((name) => name.startsWith(begun)).slice(0, limit);
}

const NEAR = 3;
/**
 * If there are fewer repositories than this, the names of all are compared with the wanted name. Otherwise, only names
 * that contain one half of the wanted name are compared.
 */
const FEW = 1_000;

/**
 * Finds the repository with this name, or the only one whose name ends with a '/' and this name. Otherwise throws an
 * error that lists similar names.
 */
export async function findRepository(name: string, context: ToolContext): Promise<Repository> {
  const exact = await context.engine.repository(name, optional(context));
  if (exact) return exact;
  const ending = (await namesHolding(`/${name}`, context)).filter((one) =>
    one.endsWith(`/${name}`),
  );
  const only =
    ending.length === 1 && (await context.engine.repository(ending[0]!, optional(context)));
  if (only) return only;
  const near = nearest(name, await namesLike(name, context));
  const words =
    near.length > 0 ? `Near names: ${near.map(named).join(", ")}` : await indexedWords(context);
  throw new QuernError(
    "INVALID_REQUEST",
    `there is no repository ${JSON.stringify(name)} here. ${words}`,
  );
}

/** Says how many repositories are indexed, and names some of them. */
async function indexedWords(context: ToolContext): Promise<string> {
  const some = await repositoriesBehind("", { query: "", limit: NEAR }, context);
  if (some.length === 0) return "Nothing is indexed.";
  const count = await countRepositories("", context);
  const names = some.map((one) => named(one.name)).join(", ");
  return `${plural(count, "repository is", "repositories are")} indexed, such as ${names}.`;
}

async function namesHolding(query: string, context: ToolContext): Promise<string[]> {
  const found = await repositoriesBehind("", { query, limit: FEW }, context);
  return found.map((one) => one.name);
}

/**
 * Lists names of repositories that may be similar to `name`. If only one letter of `name` is wrong, one of its halves
 * is right.
 */
async function namesLike(name: string, context: ToolContext): Promise<string[]> {
  const all = await namesHolding("", context);
  if (all.length < FEW) return all;
  const last = name.split("/").at(-1)!;
  const end = last.slice(last.length >> 1);
  const halves = [name.slice(0, name.length - end.length), end];
  const held = await Promise.all(halves.map((half) => namesHolding(half, context)));
  return [...new Set(held.flat())];
}

/**
 * Resolves to the full name of the given repository. If none is given, resolves to the name of the only repository, and
 * throws if there is not exactly one.
 */
export async function soleRepository(
  name: string | undefined,
  context: ToolContext,
): Promise<string> {
  if (name !== undefined) return (await findRepository(name, context)).name;
  const some = await context.engine.repositories({ ...optional(context), limit: NEAR });
  if (some.length === 1) return some[0]!.name;
  const count = await countRepositories("", context);
  const names = some.map((one) => named(one.name)).join(", ");
  throw new QuernError(
    "INVALID_REQUEST",
    `name a repository: ${plural(count, "repository is", "repositories are")} indexed here${names && `, such as ${names}`}`,
  );
}

/**
 * Splits a path of the form `repository:path`, in which answers name files. If a repository was given separately,
 * does not split the path.
 */
export function splitPath<
  Asked extends { path?: string | undefined; repository?: string | undefined },
>(asked: Asked): Asked {
  const [, repository, path] = /^([^:]+):(.*)$/s.exec(asked.path ?? "") ?? [];
  return repository === undefined || asked.repository !== undefined
    ? asked
    : { ...asked, repository, path };
}

/** Removes `./` and slashes from the beginning of a folder's path, and slashes from its end. Returns '' for `.`. */
export const folderPath = (path: string | undefined): string =>
  (path ?? "").replace(/^(?:\.?\/+|\.$)|\/+$/g, "");

/**
 * The minimum number of characters of a half. A shorter half would be useless, because every second name contains it.
 */
const LEAST_HALF = 3;

/** Returns an expression that matches either half of a name. If one letter is wrong, one half of the name is right. */
export function eitherHalf(name: string): string {
  const first = name.slice(0, Math.max(LEAST_HALF, Math.ceil(name.length / 2)));
  const last = name.slice(-Math.max(LEAST_HALF, name.length >> 1));
  return `${escapeExpression(first)}|${escapeExpression(last)}`;
}

/**
 * The maximum length of a name that is compared with others. A comparison takes time in proportion to the product of
 * both lengths.
 */
const MOST_NAME = 200;

/**
 * Returns at most three similar names. Two names are similar if one contains the other, or if their last parts differ
 * in few letters.
 */
export function nearest(name: string, names: readonly string[]): string[] {
  if (name.length > MOST_NAME) return [];
  const wanted = name.toLowerCase();
  const lastPart = (path: string): string => path.split(/[/:]/).at(-1)!;
  const rated = (other: string) => {
    const text = other.toLowerCase();
    const distance = editDistance(lastPart(wanted), lastPart(text));
    return { other, distance, isPart: text.includes(wanted) || wanted.includes(text) };
  };
  return [...new Set(names)]
    .map(rated)
    .filter(({ distance, isPart }) => isPart || distance <= Math.max(1, wanted.length / 3))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEAR)
    .map(({ other }) => other);
}

function languageFilter(language: string): string {
  const near = nearestLanguage(language);
  if (languageNamed(language) === undefined)
    throw new QuernError(
      "INVALID_REQUEST",
      `there is no language ${JSON.stringify(language)}.${near ? ` Did you mean ${near}?` : ""}`,
    );
  return `lang:${quote(language)}`;
}

export const isGlob = (text: string): boolean => /[*?[{]/.test(text);

/**
 * Returns the filter for files whose path contains `path`. If `path` is a glob with a '/', the glob must match the
 * whole path of a file. A glob without '/' must match the base name.
 */
export function pathFilter(path: string): string {
  const text = path.replace(/^\.?\//, "");
  return `file:${quote(isGlob(text) ? globExpression(text) : escapeExpression(text))}`;
}

export const escapeExpression = (text: string): string =>
  text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

const GLOB = /\*\*\/|\*\*|\*|\?|\{[^{}]*\}|\[[^[\]]*\]|[^*?{[]+|./g;

function globExpression(glob: string): string {
  const parts = glob.match(GLOB)!.map((part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (/^\{.*\}$/.test(part))
      return `(?:${part.slice(1, -1).split(",").map(escapeExpression).join("|")})`;
    if (/^\[[!\w-]+\]$/.test(part)) return part.replace("[!", "[^");
    return escapeExpression(part);
  });
  return `${glob.includes("/") ? "^" : "(?:^|/)"}${parts.join("")}$`;
}

/** Joins a query and a filter. Parentheses keep the operands of an `or` in the query together. */
export const queryWith = (query: string, filter: string): string =>
  filter === "" ? query : `(${query}) ${filter}`;

/**
 * Combines a query that a model wrote with a filter. A query may contain unpaired parentheses, because text is
 * literal, and `Run(` is a valid term. These would be confused with the parentheses that queryWith() adds. So a query
 * with parentheses is first parsed and formatted. Formatting quotes the terms with parentheses.
 */
export async function scopedQuery(
  {
    query,
    isRegexEnabled: regex = false,
    isCaseSensitivityEnabled: caseSensitive = false,
  }: Pick<SearchRequest, "query" | "isRegexEnabled" | "isCaseSensitivityEnabled">,
  filter: string,
): Promise<string> {
  if (filter === "" || !/[()]/.test(query)) return queryWith(query, filter);
  const parsed = await parseInSlices(query, { regex, caseSensitive }, newPause());
  return queryWith(formatQuery(parsed), filter);
}
