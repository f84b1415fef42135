/** Evaluates queries of the history over the output of git log, one change after another. */

import type { LogChange, LogCommit, LogLine } from "./git-log.ts";
import type { Made } from "./made.ts";

export interface Logged {
  readonly repository: string;
  /** The commits that each revision reaches, the default revision first. */
  readonly reached: ReadonlyMap<string, ReadonlySet<string>>;
  readonly changes: readonly LogChange[];
  readonly commits: readonly LogCommit[];
}

/** A change or a commit, with the lines in which terms are searched. */
interface Unit {
  readonly logged: Logged;
  readonly commit: LogCommit;
  readonly change: LogChange | undefined;
  readonly lines: readonly LogLine[];
}

/** A result: `repository commit path`, and its ranges as `side line from-to`, in bytes. */
export interface Expected {
  readonly key: string;
  readonly ranges: readonly string[];
}

export interface Asked {
  readonly query: Made;
  readonly isDiff: boolean;
  readonly isRegex: boolean;
  readonly isCaseSensitive: boolean;
  readonly side: "added" | "removed" | undefined;
}

const utf8 = (bytes: string): string => Buffer.from(bytes, "latin1").toString();

export function bruteForce(all: readonly Logged[], asked: Asked): Expected[] {
  const usesRevisions = hasRevision(asked.query);
  return all
    .flatMap((logged) => unitsOf(logged, asked.isDiff))
    .filter((unit) => inScope(unit, usesRevisions))
    .toSorted((a, b) => b.commit.date - a.commit.date)
    .flatMap((unit) => {
      const shown = new Set<Made>();
      if (!isTrue(asked.query, { unit, asked, shown })) return [];
      const name = unit.change ? utf8(unit.change.path) : unit.commit.id;
      const key = `${unit.logged.repository} ${unit.commit.id} ${name}`;
      return [{ key, ranges: rangesOf(unit, [...shown], asked) }];
    });
}

function unitsOf(logged: Logged, isDiff: boolean): Unit[] {
  if (isDiff)
    return logged.changes.map((change) => ({
      logged,
      commit: change.commit,
      change,
      lines: change.lines.map((line) => ({ ...line, text: utf8(line.text) })),
    }));
  return logged.commits.map((commit) => ({
    logged,
    commit,
    change: undefined,
    lines: commit.message
      .replace(/\n$/, "")
      .split("\n")
      .map((text, i) => ({ side: "added" as const, line: i + 1, text })),
  }));
}

const hasRevision = (made: Made): boolean =>
  made.kind === "and" || made.kind === "or"
    ? made.children.some(hasRevision)
    : made.kind === "not"
      ? hasRevision(made.child)
      : made.kind === "rev";

function inScope({ logged, commit }: Unit, usesRevisions: boolean): boolean {
  const sets = [...logged.reached.values()];
  return (usesRevisions ? sets : sets.slice(0, 1)).some((set) => set.has(commit.id));
}

interface Testing {
  readonly unit: Unit;
  readonly asked: Asked;
  /** Receives the terms whose ranges are shown: those that are true, and so are all operators around them. */
  readonly shown: Set<Made>;
}

function isTrue(made: Made, { unit, asked, shown }: Testing): boolean {
  const { commit, change, logged } = unit;
  switch (made.kind) {
    case "and":
    case "or": {
      const own = new Set<Made>();
      const truths = made.children.map((child) => {
        const inner = new Set<Made>();
        const holds = isTrue(child, { unit, asked, shown: inner });
        if (holds) for (const one of inner) own.add(one);
        return holds;
      });
      const holds = made.kind === "and" ? truths.every(Boolean) : truths.some(Boolean);
      if (holds) for (const one of own) shown.add(one);
      return holds;
    }
    case "not":
      return !isTrue(made.child, { unit, asked, shown: new Set() });
    case "rev":
      return logged.reached.get(made.name)?.has(commit.id) ?? false;
    case "repo":
      return logged.repository === made.name;
    case "before":
      return commit.date <= Date.parse(made.date) / 1000;
    case "after":
      return commit.date >= Date.parse(made.date) / 1000;
    case "author":
    case "committer":
      return filterOf(made.pattern, asked).test(commit[made.kind]);
    case "file": {
      const paths = change
        ? [change.path, ...(change.isRename ? [change.oldPath] : [])]
        : logged.changes
            .filter((one) => one.commit.id === commit.id)
            .flatMap((one) => [one.path, ...(one.isRename ? [one.oldPath] : [])]);
      return paths.some((path) => filterOf(made.pattern, asked).test(utf8(path)));
    }
    case "message":
      return commit.message
        .split("\n")
        .some((line) => matchesIn(line, made.pattern, asked).length > 0);
    case "text":
    case "content":
    case "added":
    case "removed": {
      const holds = rangesOf(unit, [made], asked).length > 0;
      if (holds) shown.add(made);
      return holds;
    }
  }
}

const filterOf = (pattern: string, { isCaseSensitive }: Asked): RegExp =>
  new RegExp(pattern, isCaseSensitive ? "u" : "iu");

/** Returns the ranges [from, to) of a pattern in a line, in UTF-16 units. */
function matchesIn(
  text: string,
  pattern: string,
  { isRegex, isCaseSensitive }: Asked,
): [number, number][] {
  const source = isRegex ? pattern : pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const flags = isCaseSensitive ? "gu" : "giu";
  return Array.from(text.matchAll(new RegExp(source, flags)), (match) => [
    match.index,
    match.index + match[0].length,
  ]);
}

function rangesOf({ change, lines }: Unit, terms: readonly Made[], asked: Asked): string[] {
  return lines.flatMap(({ side, line, text }) => {
    const ranges = terms.flatMap((term) => {
      if (!("pattern" in term)) return [];
      const wanted = term.kind === "added" || term.kind === "removed" ? term.kind : asked.side;
      return change && wanted !== undefined && wanted !== side
        ? []
        : matchesIn(text, term.pattern, asked);
    });
    return merged(ranges).map(([from, to]) => {
      const at = (unit: number): number => Buffer.byteLength(text.slice(0, unit));
      return `${change ? side : "message"} ${line} ${at(from)}-${at(to)}`;
    });
  });
}

/** Leaves out ranges that overlap one before. */
function merged(ranges: readonly [number, number][]): [number, number][] {
  const all: [number, number][] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = all.at(-1);
    if (!last || from >= last[1]) all.push([from, to]);
  }
  return all;
}
