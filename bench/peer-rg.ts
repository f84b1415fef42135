/**
 * Runs ripgrep, which has no index and reads every file for every question, on all cores. Its matches end at line ends
 * unless an option permits more.
 */

import { firstLine, isOnPath, msToLines, output } from "./command.ts";
import type { Corpus, Peer, SuspectFile } from "./peer.ts";
import { atomOf, type Question } from "./queries.ts";

// selects the files that the other tools index
const FILES = ["--no-config", "--no-ignore", "--hidden", "--max-filesize=2M", "--glob=!.git"];

export function ripgrep(corpus: Corpus): Peer | undefined {
  if (!isOnPath("rg")) return undefined;
  const cwd = corpus.path;
  const whole = (args: readonly string[]) => [...FILES, ...args, "./"];
  const run = (args: readonly string[]) => output("rg", whole(args), { cwd });
  const perFile = async (words: readonly string[]) =>
    countsOf(await run(["--count-matches", "--null", ...words]));
  return {
    name: "rg",
    version: firstLine("rg", "--version"),
    method: `a process for each question: rg ${FILES.join(" ")} --count-matches`,
    index: undefined,
    words: rgWords,
    async count(words) {
      const counts = await run(["--count-matches", "--no-filename", ...words]);
      return { matches: counts.split("\n").reduce((a, b) => a + Number(b), 0), unit: "matches" };
    },
    first: (words) => msToLines("rg", whole(["--line-number", ...words]), { cwd, lines: 50 }),
    perFile,
    excuse: rgExcuse,
    close: async () => {},
  };
}

export function rgWords(question: Question): readonly string[] | undefined {
  const own = question.words.rg;
  if (own !== undefined) return own ?? undefined;
  return [
    ...(question.isRegex ? [] : ["--fixed-strings"]),
    ...(question.isCaseSensitive ? [] : ["--ignore-case"]),
    ...(question.isMultiline ? ["--multiline"] : []),
    `--regexp=${atomOf(question)}`,
  ];
}

/** Parses lines `path NUL count`. */
function countsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [path, count] = line.split("\0");
    if (path && count) counts.set(path.replace(/^\.\//, ""), Number(count));
  }
  return counts;
}

export function rgExcuse({ bytes }: SuspectFile, { isRegex, query }: Question): string | undefined {
  if (bytes.includes(0)) return "rg stops at a NUL wherever it is";
  if (!isRegex || !bytes.some((byte) => byte >= 0x80)) return undefined;
  if (/\\[wWdDsSbB]/.test(query)) return "rg's classes and word edges are those of Unicode";
  return undefined;
}
