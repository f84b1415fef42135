/** Random histories with few words, so that equal lines are in many changes, and random queries over them. */

import type { Draw, MadeCommit } from "../history/generated.ts";

const WORDS = ["alpha", "beta", "Gamma", "aa", "aaa", "été", "x.y", "(a)", ""] as const;
const PEOPLE = ["Ada <ada@x>", "Bob <bob@x>", "Ada Byron <byron@y>"] as const;
const PATHS = ["a.txt", "b.c", "src/a.txt", "src/deep/c.md", "été.txt"] as const;

export const pick = <T>(draw: Draw, list: readonly T[]): T => list[draw(list.length)]!;

const lineOf = (draw: Draw): string =>
  Array.from({ length: draw(4) }, () => pick(draw, WORDS)).join(pick(draw, [" ", " ", "", "\t"])) +
  (draw(12) === 0 ? "\r" : "");

function edited(before: string, draw: Draw): string {
  const all = before === "" ? [] : before.split("\n");
  for (let left = 1 + draw(3); left > 0; left--)
    all.splice(
      draw(all.length + 1),
      draw(4),
      ...Array.from({ length: draw(5) }, () => lineOf(draw)),
    );
  const text = all.join("\n").replace(/\n$/, "");
  return draw(6) === 0 ? text : `${text}\n`;
}

/** Returns commits on three branches, with edits, renames, deletions, binary files, merges, and dates that go back. */
export function randomCommits(draw: Draw, count: number): MadeCommit[] {
  const branches = ["main", "side", "third"];
  const last = new Map<string, number>();
  const files: Map<string, string>[] = [new Map()]; // by mark
  return Array.from({ length: count }, (_, n): MadeCommit => {
    const mark = n + 1;
    const branch = n === 0 ? "main" : pick(draw, branches);
    const own = last.get(branch) ?? last.get("main");
    const others = [...last.values()].filter((other) => other !== own);
    const isRoot = own === undefined || draw(25) === 0;
    const isMerge = !isRoot && others.length > 0 && draw(5) === 0;
    const parents = isRoot ? [] : isMerge ? [own, pick(draw, others)] : [own];
    last.set(branch, mark);
    const now = new Map(isRoot ? [] : files[own]);
    files.push(now);
    const changes: MadeCommit["changes"][number][] = [];
    const touched = new Set<string>();
    for (let left = draw(4); left >= 0; left--) {
      const path = pick(draw, PATHS);
      const target = pick(draw, PATHS);
      if (touched.has(path) || touched.has(target)) continue;
      touched.add(path).add(target);
      const before = now.get(path);
      if (before !== undefined && draw(8) === 0) {
        now.delete(path);
        changes.push({ path, removed: true });
      } else if (before !== undefined && target !== path && draw(5) === 0) {
        now.delete(path);
        now.set(target, draw(2) === 0 ? before : edited(before, draw));
        changes.push({ path, removed: true }, { path: target, content: now.get(target)! });
      } else {
        const content = draw(25) === 0 ? `\0${lineOf(draw)}\n` : edited(before ?? "", draw);
        now.set(path, content);
        changes.push({ path, content });
      }
    }
    return {
      branch,
      parents,
      message: `${pick(draw, ["fix", "Add", "été"])} ${pick(draw, WORDS)}\n${draw(2) === 0 ? "" : `\nbody ${pick(draw, WORDS)}\n`}`,
      author: pick(draw, PEOPLE),
      date: `${1_700_000_000 + Math.floor(n / 2) * 86_400 - draw(3) * 100_000} +0000`,
      changes,
    };
  });
}

/** A query as a tree. A text of `patterns` is a literal, or an expression that JavaScript reads as RE2 does. */
export type Made =
  | {
      readonly kind: "text" | "added" | "removed" | "content" | "message";
      readonly pattern: string;
    }
  | { readonly kind: "file" | "author" | "committer"; readonly pattern: string }
  | { readonly kind: "rev" | "repo"; readonly name: string }
  | { readonly kind: "before" | "after"; readonly date: string }
  | { readonly kind: "and" | "or"; readonly children: readonly Made[] }
  | { readonly kind: "not"; readonly child: Made };

const LITERALS = [
  "alpha",
  "a",
  "aa",
  "BETA",
  "gamma",
  "ÉTÉ",
  "x.y",
  "(a)",
  "alpha beta",
  "\t",
  "no",
];
const EXPRESSIONS = [
  "alpha",
  "a+",
  "^aa",
  "aa$",
  "[bg]",
  "x.y",
  "\\bbeta\\b",
  "été|gamma",
  "a{2,3}",
  "\\r",
];
const DATES = ["2023-11-14", "2023-11-20", "2023-12-01T12:00:00Z", "2024-01-01"];

export function randomQuery(
  draw: Draw,
  { isDiff, isRegex }: { isDiff: boolean; isRegex: boolean },
): Made {
  const pattern = (): string => pick(draw, isRegex ? EXPRESSIONS : LITERALS);
  const atom = (): Made => {
    switch (draw(isDiff ? 14 : 11)) {
      case 0:
        return { kind: "file", pattern: pick(draw, ["txt", "^src/", "deep|b.c", "été"]) };
      case 1:
        return { kind: "author", pattern: pick(draw, ["ada", "^Bob", "@y>$", "nobody"]) };
      case 2:
        return { kind: "committer", pattern: pick(draw, ["^C <", "ada"]) };
      case 3:
        return { kind: pick(draw, ["before", "after"]), date: pick(draw, DATES) };
      case 4:
        return { kind: "rev", name: pick(draw, ["main", "side", "third"]) };
      case 5:
        return { kind: "repo", name: pick(draw, ["one", "two"]) };
      case 6:
        return { kind: "message", pattern: pattern() };
      case 7:
        return { kind: "content", pattern: pattern() };
      case 11:
        return { kind: "added", pattern: pattern() };
      case 12:
        return { kind: "removed", pattern: pattern() };
      default:
        return { kind: "text", pattern: pattern() };
    }
  };
  const tree = (depth: number): Made => {
    const how = depth === 0 ? 0 : draw(6);
    if (how < 2) return atom();
    if (how === 2) {
      const child = tree(depth - 1);
      return child.kind === "not" ? child : { kind: "not", child };
    }
    const children = Array.from({ length: 2 + draw(2) }, () => tree(depth - 1));
    return { kind: how < 5 ? "and" : "or", children };
  };
  return tree(2);
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** Writes a query in quern's language. */
export function written(made: Made): string {
  switch (made.kind) {
    case "and":
      return `(${made.children.map(written).join(" ")})`;
    case "or":
      return `(${made.children.map(written).join(" or ")})`;
    case "not": {
      const { child } = made;
      return child.kind === "text" ? `-content:${quoted(child.pattern)}` : `-${written(child)}`;
    }
    case "text":
      return quoted(made.pattern);
    case "rev":
      return `rev:${made.name}`;
    case "repo":
      return `repo:^${made.name}$`;
    case "before":
    case "after":
      return `${made.kind}:${made.date}`;
    case "added":
    case "removed":
    case "content":
    case "message":
    case "file":
    case "author":
    case "committer":
      return `${made.kind}:${quoted(made.pattern)}`;
  }
}
