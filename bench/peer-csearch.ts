/**
 * Runs codesearch, which has one index of the trigrams of files and searches the candidate files on one core. Counts
 * lines.
 */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  isOnPath,
  measured,
  middleOfThree,
  msToLines,
  output,
  packageVersion,
  sizeOnDisk,
} from "./command.ts";
import { piecesOf } from "./corpus.ts";
import type { Corpus, Peer, SuspectFile } from "./peer.ts";
import { expressionOf, type Question } from "./queries.ts";

export async function codesearch(corpus: Corpus, folder: string): Promise<Peer | undefined> {
  if (!isOnPath("csearch") || !isOnPath("cindex")) return undefined;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "csearchindex");
  const env = { ...process.env, CSEARCHINDEX: file };
  // it has no size limit, so for a whole folder it would also read files that the other tools leave out
  const pieces = piecesOf(corpus.path);
  const figures = await middleOfThree(() => {
    rmSync(file, { force: true }); // otherwise cindex would add to the index
    return measured("cindex", pieces, { env });
  });
  const run = async (words: readonly string[]) =>
    countsOf(await output("csearch", ["-c", ...words], { env }));
  return {
    name: "csearch",
    version: `codesearch ${packageVersion("codesearch")}`,
    method:
      "a process for each question: csearch -c. Its index is built on one core, and holds no content.",
    index: { ...figures, bytes: sizeOnDisk(file) },
    words: csearchWords,
    async count(words) {
      const counts = await run(words);
      return { matches: counts.reduce((sum, { count }) => sum + count, 0), unit: "lines" };
    },
    first: (words) => msToLines("csearch", ["-n", ...words], { env, lines: 50 }),
    async perFile(words) {
      const start = corpus.path.length + 1;
      return new Map((await run(words)).map(({ path, count }) => [path.slice(start), count]));
    },
    excuse: csearchExcuse,
    close: async () => {},
  };
}

export function csearchWords(question: Question): readonly string[] | undefined {
  const own = question.words.csearch;
  if (own !== undefined) return own ?? undefined;
  return [...(question.isCaseSensitive ? [] : ["-i"]), "--", expressionOf(question)];
}

/** Parses lines `path: count`, without a regular expression, because this counts towards csearch's time. */
function countsOf(text: string): { path: string; count: number }[] {
  return text
    .split("\n")
    .map((line) => ({ line, colon: line.lastIndexOf(": ") }))
    .filter(({ colon }) => colon > 0)
    .map(({ line, colon }) => ({
      path: line.slice(0, colon),
      count: Number(line.slice(colon + 2)),
    }));
}

// the files that its indexer leaves out, by name, then by content
export function csearchExcuse(
  { path, bytes, ours, theirs }: SuspectFile,
  question: Question,
): string | undefined {
  if (path.split("/").some((name) => /^[.#~]|~$/.test(name)))
    return "cindex skips hidden and temporary files";
  if (bytes.includes(0)) return "cindex takes files with a NUL for text";
  if (!isUtf8(bytes)) return "cindex skips files that are not UTF-8";
  if (longestLine(bytes) > 2000) return "cindex skips files with lines over 2 000 bytes";
  if (gramsOf(bytes) > 20_000) return "cindex skips files with over 20 000 trigrams";
  if (question.isMultiline && theirs < ours) return "csearch reads line by line";
  return undefined;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function isUtf8(bytes: Buffer): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function longestLine(bytes: Buffer): number {
  let longest = 0;
  for (let from = 0; from <= bytes.length;) {
    const end = bytes.indexOf(10, from);
    const to = end < 0 ? bytes.length : end;
    longest = Math.max(longest, to - from);
    from = to + 1;
  }
  return longest;
}

function gramsOf(bytes: Buffer): number {
  const seen = new Set<number>();
  for (let at = 2; at < bytes.length; at++) seen.add(bytes.readUIntBE(at - 2, 3));
  return seen.size;
}
