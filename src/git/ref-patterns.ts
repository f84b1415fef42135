/**
 * Expands patterns in lists of revisions. `release-*` matches the names of branches, tags and remote branches, and
 * `refs/tags/*` matches all tags. As in `git branch --list`, `*` matches any text, including slashes, and `?` matches
 * one character. No name of a branch or tag is mistaken for a pattern, because git does not allow `*` or `?` in such
 * names.
 */

import { failed, type GitProcesses } from "./git-process.ts";

export const isPattern = (name: string): boolean => /[*?]/.test(name);

/** Returns whether a name is a pattern of full names, such as `refs/heads/*`. */
export const isFullPattern = (name: string): boolean => isPattern(name) && name.startsWith("refs/");

const ROOMS = ["refs/heads/", "refs/tags/", "refs/remotes/"] as const;

/**
 * Resolves to the full names of all references: branches, then tags, then remote branches. Within each kind, names
 * with higher version numbers come first. Rejects with SOURCE_UNREADABLE if git cannot read the references, so that a
 * repository with damaged references does not look like one without references.
 */
export async function listRefs(processes: GitProcesses): Promise<string[]> {
  const format = "--format=%(refname)";
  const { code, stdout, stderr } = await processes.run([
    "for-each-ref",
    "--sort=-version:refname",
    format,
    ...ROOMS,
  ]);
  if (code !== 0) throw failed(processes.folder, stderr);
  const refs = stdout.split("\n").filter((ref) => ref !== "" && !isRemoteHead(ref));
  return ROOMS.flatMap((room) => refs.filter((ref) => ref.startsWith(room)));
}

const isRemoteHead = (ref: string): boolean => /^refs\/remotes\/[^/]+\/HEAD$/.test(ref);

const shortName = (ref: string): string =>
  ref.slice(ROOMS.find((room) => ref.startsWith(room))!.length);

/**
 * Replaces each pattern by the short names of the references that it matches, without duplicates. `head` is the
 * branch that HEAD is on. If a pattern matches `head`, `head` comes first among that pattern's matches. If the first
 * of `names` is a pattern of full names, `head` is the first of all names. `unmatched` lists the patterns that match
 * nothing.
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

/**
 * Returns whether the pattern matches the whole text. The matcher backtracks only to the last star, so it takes at
 * most |pattern| × |text| steps.
 */
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
