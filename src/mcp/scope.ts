/** From the filters of a tool to what is searched: a query, and a viewer who sees no other repository. */

import { editDistance } from "../base/edit-distance.ts";
import { QuernError } from "../base/errors.ts";
import { languageNamed, nearestLanguage } from "../base/languages.ts";
import { quote } from "../query/ast.ts";
import { plural } from "./plural.ts";
import type { Repository } from "../repository.ts";
import type { SearchOptions, Viewer } from "../search/messages/request.ts";
import type { Filters, ToolContext } from "./tool.ts";

export interface Scope {
  /** Filters as a part of a query, '' for none. */
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

/** Options of a search in that scope. */
export const searchOptions = (
  { signal, timeoutMs }: ToolContext,
  viewer: Viewer | undefined,
): SearchOptions => ({
  signal,
  ...(timeoutMs !== undefined && { timeoutMs }),
  ...(viewer && { viewer }),
});

export const visibleRepositories = ({ engine, viewer }: ToolContext): Promise<Repository[]> =>
  engine.repositories(viewer ? { viewer } : {});

const NEAR = 3;

/** The one of that name, or the only one that ends with it. Throws with near names. */
export async function findRepository(name: string, context: ToolContext): Promise<Repository> {
  const { engine, viewer } = context;
  const exact = await engine.repository(name, viewer ? { viewer } : {});
  if (exact) return exact;
  const all = await visibleRepositories(context);
  const ending = all.filter((one) => one.name.endsWith(`/${name}`));
  if (ending.length === 1) return ending[0]!;
  const near = nearest(
    name,
    all.map((one) => one.name),
  );
  throw new QuernError(
    "INVALID_REQUEST",
    `there is no repository ${JSON.stringify(name)} here.${near.length > 0 ? ` Near names: ${near.join(", ")}` : ""}${all.length === 0 ? " Nothing is indexed." : ""}`,
  );
}

/** The name of the one that is named; where none is, of the only one there is. */
export async function soleRepository(
  name: string | undefined,
  context: ToolContext,
): Promise<string> {
  if (name !== undefined) return (await findRepository(name, context)).name;
  const all = await visibleRepositories(context);
  if (all.length === 1) return all[0]!.name;
  const some = all.slice(0, NEAR).map((one) => one.name);
  throw new QuernError(
    "INVALID_REQUEST",
    `name a repository: ${plural(all.length, "repository is", "repositories are")} indexed here${some.length > 0 ? `, such as ${some.join(", ")}` : ""}`,
  );
}

/** A path as a model names it: `path`, or `repository:path` as answers have it, where no repository is given. */
export function splitPath<
  Asked extends { path?: string | undefined; repository?: string | undefined },
>(asked: Asked): Asked {
  const [, repository, path] = /^([^:]+):(.*)$/s.exec(asked.path ?? "") ?? [];
  return repository === undefined || asked.repository !== undefined
    ? asked
    : { ...asked, repository, path };
}

/** A folder as a model names it, without what stands around its path. */
export const folderPath = (path: string | undefined): string =>
  (path ?? "").replace(/^(?:\.?\/+|\.$)|\/+$/g, "");

/** At most three names that are alike: they hold each other, or a third of the letters differs. */
export function nearest(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  const lastPart = (path: string): string => path.split("/").at(-1)!;
  const distance = (other: string) => {
    const text = other.toLowerCase();
    if (text.includes(wanted) || wanted.includes(text)) return 0;
    return editDistance(lastPart(wanted), lastPart(text));
  };
  return names
    .map((other) => ({ other, distance: distance(other) }))
    .filter((one) => one.distance <= Math.max(1, wanted.length / 3))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEAR)
    .map(({ other }) => other);
}

function languageFilter(language: string): string {
  const near = nearestLanguage(language);
  if (languageNamed(language) === undefined)
    throw new QuernError(
      "INVALID_REQUEST",
      `no language is called ${JSON.stringify(language)}.${near ? ` Did you mean ${near}?` : ""}`,
    );
  return `lang:${quote(language)}`;
}

const isGlob = (text: string): boolean => /[*?[{]/.test(text);

/** A part of a path, or a glob of all of it; a glob without '/' is one of the base name. */
export function pathFilter(path: string): string {
  const text = path.replace(/^\.?\//, "");
  return `file:${quote(isGlob(text) ? globExpression(text) : escapeExpression(text))}`;
}

export const escapeExpression = (text: string): string =>
  text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

const GLOB = /\*\*\/|\*\*|\*|\?|\{[^{}]*\}|\[[^\]]*\]|[^*?{[]+|./g;

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

/** A query and a filter as one; brackets keep an `or` of the query together. */
export const queryWith = (query: string, filter: string): string =>
  filter === "" ? query : `(${query}) ${filter}`;
