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
 *
 * The rules in force in a folder are bounded, so that whoever wrote them cannot hold up the walk:
 * what is more is an error that names the file, since leaving rules out could show what they hide.
 */

import { QuernError } from "../../base/errors.ts";
import type { Slice } from "../../base/yield.ts";
import { bytesOf } from "./ignore-pattern.ts";
import { IgnoreRules, type States } from "./ignore-rules.ts";

/** As git's own default (core.ignoreCase) on these systems. */
const ignoreCase = process.platform === "win32" || process.platform === "darwin";

/** Rule files in force in one folder, their bytes, and the steps of all their patterns with wildcards. */
const MOST_RULE_FILES = 256;
export const MOST_RULE_BYTES = 1 << 20;
const MOST_STEPS = 16_384;

/** Rules in force in one folder. */
interface Level {
  readonly rules: IgnoreRules;
  /** From the folder of the rules to this one, with '/' at its end, in bytes. */
  readonly folder: string;
  readonly states: States;
  readonly bytes: number;
}

/** The caller's, then those of the folder and of those above it. The first that has something to say decides. */
export type Rules = readonly [caller: Level, ...files: Level[]];

/** Rules of the caller, at the root. Rejects with SOURCE_UNREADABLE where they are too many. */
export async function callersRules(patterns: readonly string[], slice: Slice): Promise<Rules> {
  const lines = { file: "the option ignore", bytes: 0, lines: patterns };
  return [levelOf(await read(lines, 0, slice), 0)];
}

export interface RuleLines {
  readonly file: string;
  readonly bytes: number;
  readonly lines: Iterable<string>;
}

/** Adds a folder's own rules. Rejects with SOURCE_UNREADABLE where all together are too many. */
export async function withRules(rules: Rules, own: RuleLines, slice: Slice): Promise<Rules> {
  const sum = (of: (level: Level) => number) => rules.reduce((all, level) => all + of(level), 0);
  if (sum(({ bytes }) => bytes) + own.bytes > MOST_RULE_BYTES)
    throw tooMany(own.file, `${MOST_RULE_BYTES} bytes`);
  const steps = sum((level) => level.rules.weight);
  const level = levelOf(await read(own, steps, slice), own.bytes);
  if (level.rules.isEmpty) return rules;
  if (rules.length > MOST_RULE_FILES) throw tooMany(own.file, `${MOST_RULE_FILES} files of rules`);
  const [caller, ...files] = rules;
  return [caller, level, ...files];
}

async function read({ file, lines }: RuleLines, steps: number, slice: Slice): Promise<IgnoreRules> {
  const rules = new IgnoreRules();
  for (const line of lines) {
    if (slice.isOver) await slice.rest();
    rules.add(ignoreCase ? line.toLowerCase() : line);
    if (steps + rules.weight > MOST_STEPS)
      throw tooMany(file, `${MOST_STEPS} characters of patterns with wildcards`);
  }
  return rules;
}

const levelOf = (rules: IgnoreRules, bytes: number): Level => ({
  rules,
  folder: "",
  states: rules.begin(),
  bytes,
});

export function tooMany(file: string, most: string): QuernError {
  const message = `the rules of ${file} and of the folders above it are more than ${most}; shorten them, or index the folder with gitignore: false`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

/** `name` is that of a file or folder in the folder of the rules. REQUIRES: that folder is not ignored. */
export function isIgnored(rules: Rules, name: string, isFolder: boolean): boolean {
  const asked = { name: inBytes(name), isFolder };
  for (const { rules: own, folder, states } of rules) {
    const verdict = own.test(states, { ...asked, path: folder + asked.name });
    if (verdict !== undefined) return verdict;
  }
  return false;
}

/** The rules for what is in the folder `name`, which was not left out. */
export function rulesBelow(rules: Rules, name: string): Rules {
  const bytes = inBytes(name);
  const enter = (level: Level): Level => ({
    ...level,
    folder: `${level.folder}${bytes}/`,
    states: level.rules.enter(level.states, bytes),
  });
  const [caller, ...files] = rules;
  return [enter(caller), ...files.map(enter)];
}

const inBytes = (name: string): string => bytesOf(ignoreCase ? name.toLowerCase() : name);
