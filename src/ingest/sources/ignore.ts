/**
 * Decides which files of a folder tree are ignored, by the rules of .gitignore and .ignore files. The rules are
 * searched in the following order. The first place that has a rule which matches the path decides:
 *
 *   1. the patterns that the caller has passed, as if they were in a file at the root
 *   2. the file .ignore in the folder that contains the path
 *   3. the file .gitignore in the same folder
 *   4. these two files in each parent folder, from the nearest one up to the root of the source
 *
 * An ignored folder is not read, so no rule can re-include a file below it. A rule file must be a regular file. A
 * rule file that is a symlink has no effect.
 *
 * The number and size of the rules that apply in a folder are limited, so that hostile rules cannot slow down the walk.
 * Beyond a limit, the walk fails with an error that names the rule file. If the walk left out rules instead, it could
 * list files that these rules hide.
 */

import { QuernError } from "../../base/errors.ts";
import type { Slice } from "../../base/yield.ts";
import { bytesOf } from "./ignore-pattern.ts";
import { IgnoreRules, type States } from "./ignore-rules.ts";

/** git's default for core.ignoreCase on this system. */
const ignoreCase = process.platform === "win32" || process.platform === "darwin";

/**
 * The limits of the rules that apply in one folder. They are the maximum number of rule files, of bytes in these
 * files, and of automaton positions for patterns with wildcards.
 */
const MOST_RULE_FILES = 256;
export const MOST_RULE_BYTES = 1 << 20;
const MOST_STEPS = 16_384;

/** The rules in one rule file, or those of the caller, as they apply in the file's folder or in a folder below it. */
interface Level {
  readonly rules: IgnoreRules;
  /**
   * The path from the folder of the rule file to the folder in which the rules apply. It ends with '/' unless it is
   * empty, and has one character per byte.
   */
  readonly folder: string;
  readonly states: States;
  readonly bytes: number;
}

/**
 * The rules that apply in a folder: first the caller's, then those of the folder itself, then those of its parents.
 * The first level with a matching rule decides.
 */
export type Rules = readonly [caller: Level, ...files: Level[]];

/**
 * Compiles the caller's patterns, as rules for the root. Rejects with SOURCE_UNREADABLE if there are too many
 * patterns.
 */
export async function callersRules(patterns: readonly string[], slice: Slice): Promise<Rules> {
  const lines = { file: "the option ignore", bytes: 0, lines: patterns };
  return [levelOf(await read(lines, 0, slice), 0)];
}

export interface RuleLines {
  readonly file: string;
  readonly bytes: number;
  readonly lines: Iterable<string>;
}

/**
 * Adds the rules in a rule file of a folder. They override those of the parents. Rejects with SOURCE_UNREADABLE if
 * all rules together exceed a limit.
 */
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

/**
 * Returns whether the file or folder `name` is ignored. `rules` apply in its parent folder. REQUIRES: the parent
 * folder is not ignored.
 */
export function isIgnored(rules: Rules, name: string, isFolder: boolean): boolean {
  const asked = { name: inBytes(name), isFolder };
  for (const { rules: own, folder, states } of rules) {
    const verdict = own.test(states, { ...asked, path: folder + asked.name });
    if (verdict !== undefined) return verdict;
  }
  return false;
}

/** Returns the rules as they apply in the child folder `name`. REQUIRES: the child folder is not ignored. */
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
