/**
 * Explains why a folder has few files to index, by finding the rules that exclude its entries. Reads only the folder
 * itself, and not the folders below it.
 */

import { readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Slice } from "../../base/yield.ts";
import { callersRules, isIgnored, withRules, type Rules } from "./ignore.ts";
import { readRules } from "./walk.ts";

export interface Excluded {
  /** The number of entries of the folder, which are its files and its child folders. */
  readonly entries: number;
  /** The number of entries that rules exclude. */
  readonly excluded: number;
  /** The rules that exclude entries, sorted by the number of entries that each excludes. */
  readonly rules: readonly ExcludingRule[];
}

export interface ExcludingRule {
  readonly rule: string;
  /** The path of the file that contains the rule. */
  readonly file: string;
  /** The 1-based line of the rule. */
  readonly line: number;
  readonly entries: number;
}

const RULE_FILES = [".ignore", ".gitignore"];

/**
 * The maximum number of entries that are explained. For each entry, at most the last MOST_LINES lines of a rule file
 * are tried.
 */
const MOST_EXPLAINED = 100;
const MOST_LINES = 300;

/** The fraction of a folder's entries that must be excluded for a warning. */
const MOST_EXCLUDED = 0.9;

/**
 * Resolves to a sentence, without its full stop, that names the rules by which a folder's entries are excluded.
 * Resolves to undefined unless the rules exclude nearly all entries. REQUIRES: the folder can be read.
 */
export async function tellExcluded(folder: string): Promise<string | undefined> {
  const { entries, excluded, rules } = await excludedAtTop(folder);
  if (excluded === 0 || excluded < entries * MOST_EXCLUDED) return undefined;
  const named = rules
    .slice(0, 3)
    .map(({ rule, file, line }) => `"${rule}" of ${file}, line ${line}`);
  const noun = entries === 1 ? "entry" : "entries";
  const verb = excluded === 1 ? "is" : "are";
  return `${excluded} of ${entries} ${noun} in ${folder} ${verb} left out by ${named.join(", and ")}`;
}

/** Counts the entries of a folder that rules exclude, and finds these rules. REQUIRES: the folder can be read. */
export async function excludedAtTop(folder: string): Promise<Excluded> {
  const slice = new Slice({ signal: new AbortController().signal });
  const children = readdirSync(folder, { withFileTypes: true }).filter(
    ({ name }) => name !== ".git" && !RULE_FILES.includes(name),
  );
  let excluded = 0;
  const counts = new Map<string, ExcludingRule>();
  const real = realpathSync(folder);
  const files = RULE_FILES.map((name) => ({
    file: join(folder, name),
    lines: readRules(join(real, name)).split(/\r?\n/),
  }));
  const none = await callersRules([], slice);
  let rules = none;
  for (const { file, lines } of files.toReversed())
    rules = await withRules(rules, { file, bytes: 0, lines }, slice);
  const single = new Map<string, Rules>(); // each line is compiled only once
  for (const child of children) {
    if (slice.isOver) await slice.rest();
    if (!isIgnored(rules, child.name, child.isDirectory())) continue;
    if (excluded++ >= MOST_EXPLAINED) continue;
    for (const { file, lines } of files) {
      const decides = async (line: string) => {
        const own =
          single.get(line) ?? (await withRules(none, { file, bytes: 0, lines: [line] }, slice));
        single.set(line, own);
        return isIgnored(own, child.name, child.isDirectory());
      };
      const at = await lastIndex(lines.slice(-MOST_LINES), decides);
      if (at < 0) continue;
      const line = at + Math.max(0, lines.length - MOST_LINES);
      const key = `${file}\0${line}`;
      const entries = (counts.get(key)?.entries ?? 0) + 1;
      counts.set(key, { rule: lines[line]!, file, line: line + 1, entries });
      break;
    }
  }
  const deciding = [...counts.values()].toSorted((a, b) => b.entries - a.entries);
  return { entries: children.length, excluded, rules: deciding };
}

/** Returns the index of the last line that passes the test, or -1. Later rules override earlier ones. */
async function lastIndex(
  lines: readonly string[],
  test: (line: string) => Promise<boolean>,
): Promise<number> {
  for (let at = lines.length - 1; at >= 0; at--) if (await test(lines[at]!)) return at;
  return -1;
}
