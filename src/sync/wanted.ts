/** Decides which of the listed repositories are indexed, what their names are, and how they rank. */

import { matches } from "../git/ref-patterns.ts";
import type { RepositoryMetadata, CodeHostType } from "../store/format/records.ts";
import type { CommonConnectionConfig } from "./config/config.ts";
import type { Found } from "./hosts/found.ts";

export function isWanted(
  found: Found,
  { include = {}, exclude = {} }: CommonConnectionConfig,
): boolean {
  const { names, topics } = include;
  if (names !== undefined && !fitsAny(found.path, names)) return false;
  if (topics !== undefined && !hasTopic(found, topics)) return false;
  if (fitsAny(found.path, exclude.names ?? []) || hasTopic(found, exclude.topics ?? []))
    return false;
  if (exclude.archived === true && found.archived === true) return false;
  if (exclude.forks === true && found.fork === true) return false;
  return (found.bytes ?? 0) <= (exclude.largerThanMB ?? Infinity) * 1e6;
}

const fitsAny = (path: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => matches(pattern.toLowerCase(), path.toLowerCase()));

const hasTopic = ({ topics = [] }: Found, wanted: readonly string[]): boolean =>
  topics.some((topic) => wanted.some((one) => one.toLowerCase() === topic.toLowerCase()));

/** Returns the name of a repository in the index. */
export function nameOf({ host, path }: Found, template = "{host}/{path}"): string {
  const values = { host, path, name: path.slice(path.lastIndexOf("/") + 1) };
  return template
    .replace(/\{(host|path|name)\}/g, (_, word: keyof typeof values) => values[word])
    .replace(/^\/+/, "") // a clone in a folder may have no host
    .trim();
}

export function metadataOf(
  found: Found,
  { public: isPublic = found.public }: CommonConnectionConfig,
  codeHostType: CodeHostType,
): RepositoryMetadata {
  const { webUrl, archived, fork, stars, path } = found;
  return {
    codeHostType,
    displayName: path,
    ...(webUrl !== undefined && isWebAddress(webUrl) && { webUrl }),
    ...(archived !== undefined && { archived }),
    ...(fork !== undefined && { fork }),
    ...(isPublic !== undefined && { public: isPublic }),
    ...(stars !== undefined && { rank: rankOf(stars) }),
  };
}

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:/i.test(text);

/**
 * Converts a number of stars to a rank, on a logarithmic scale. The rank is 0.5, the default, for no stars, and 1 for
 * 100 000 stars or more.
 */
export const rankOf = (stars: number): number =>
  0.5 + 0.5 * Math.min(1, Math.log10(1 + Math.max(0, stars)) / 5);
