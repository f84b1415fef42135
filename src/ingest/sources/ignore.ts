/**
 * Which files of a folder tree are left out, by the rules of .gitignore files. Rules come from four
 * places; the first that has something to say about a path decides:
 *
 *   1. the caller's own patterns, as if in a file at the root
 *   2. .ignore of the folder the path is in, 3. .gitignore there
 *   then 2 and 3 of each folder above it, up to the root of the source and no further
 *
 * A folder that is left out is not looked into, so nothing below it can be brought back. Rule files
 * count only as regular files; a symlink in their place is not followed.
 */

import ignore, { type Ignore } from "ignore";

/** As git's own default (core.ignoreCase) on these systems. */
const ignoreCase = process.platform === "win32" || process.platform === "darwin";

/** The rules in force in one folder: its own, then those of the folders above. */
export interface Rules {
  readonly lines: readonly string[];
  readonly own: Ignore | undefined;
  /** Path of the folder with '/' at its end; '' for the root. */
  readonly folder: string;
  readonly above: Rules | undefined;
}

export function rulesOf(patterns: readonly string[]): Ignore | undefined {
  return patterns.length === 0 ? undefined : ignore({ ignoreCase }).add(patterns);
}

/** `path` is relative to the root of the source, a folder with '/' at its end. REQUIRES: no folder above it is ignored. */
export function isIgnored(
  path: string,
  extra: Ignore | undefined,
  rules: Rules | undefined,
): boolean {
  if (extra !== undefined) {
    const { ignored, unignored } = extra.test(path);
    if (ignored || unignored) return ignored;
  }
  for (let level = rules; level !== undefined; level = level.above) {
    if (level.own === undefined) continue;
    const { ignored, unignored } = level.own.test(path.slice(level.folder.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}

/**
 * The rules for what is in `folder`, which was not left out. Where rules of one place leave it out
 * and others brought it back, the first must not leave out what is in it on its account.
 */
export function rulesBelow(rules: Rules | undefined, folder: string): Rules | undefined {
  if (rules === undefined) return undefined;
  const above = rulesBelow(rules.above, folder);
  const inner = folder.slice(rules.folder.length);
  if (rules.own?.test(inner).ignored === true) {
    const lines = [...rules.lines, `!/${inner.replace(/[\\*?[\] ]/g, "\\$&")}`];
    return { lines, own: rulesOf(lines), folder: rules.folder, above };
  }
  return above === rules.above ? rules : { ...rules, above };
}
