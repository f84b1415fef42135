/**
 * Revisions named by a pattern: `release-*` are the branches, tags and remote branches whose names
 * match, `refs/tags/*` are all tags. `*` stands for any text, slashes included, and `?` for one
 * character, as in `git branch --list`. No name of a branch or tag has either.
 */

import type { GitProcesses } from "./git-process.ts";

export const isPattern = (name: string): boolean => /[*?]/.test(name);

/** A pattern over full names: `refs/heads/*`. */
export const isFullPattern = (name: string): boolean => isPattern(name) && name.startsWith("refs/");

const ROOMS = ["refs/heads/", "refs/tags/", "refs/remotes/"] as const;

/** Full names: branches, then tags, then remote branches; in each, later versions first. */
export async function listRefs(processes: GitProcesses): Promise<string[]> {
  const format = "--format=%(refname)";
  const { stdout } = await processes.run([
    "for-each-ref",
    "--sort=-version:refname",
    format,
    ...ROOMS,
  ]);
  const refs = stdout.split("\n").filter((ref) => ref !== "" && !isRemoteHead(ref));
  return ROOMS.flatMap((room) => refs.filter((ref) => ref.startsWith(room)));
}

const isRemoteHead = (ref: string): boolean => /^refs\/remotes\/[^/]+\/HEAD$/.test(ref);

const shortName = (ref: string): string =>
  ref.slice(ROOMS.find((room) => ref.startsWith(room))!.length);

/**
 * Replaces each pattern by the short names of what it matches, each name once. `head`, the branch that
 * HEAD is on, comes first of what its pattern matches, and first of all where the list begins with a
 * pattern over full names. Returns the patterns that match nothing, too.
 */
export function expandPatterns(
  names: readonly string[],
  refs: readonly string[],
  head: string,
): { readonly names: string[]; readonly unmatched: string[] } {
  const found = new Set<string>(names[0] !== undefined && isFullPattern(names[0]) ? [head] : []);
  const unmatched: string[] = [];
  for (const name of names) {
    if (!isPattern(name)) {
      found.add(name);
      continue;
    }
    const isFull = isFullPattern(name);
    const matching = refs
      .filter((ref) => matches(name, isFull ? ref : shortName(ref)))
      .map(shortName);
    if (matching.length === 0) unmatched.push(name);
    if (matching.includes(head)) found.add(head);
    for (const one of matching) found.add(one);
  }
  return { names: [...found], unmatched };
}

/** Whether the whole text matches. Goes back to the last star only, so time is |pattern| × |text| at most. */
export function matches(pattern: string, text: string): boolean {
  let [p, t] = [0, 0];
  let star = -1;
  let resumed = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      resumed = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resumed;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}
