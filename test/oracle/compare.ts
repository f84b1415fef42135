/** Finds the first difference between a response and what the oracle expects. */

import type { FileResult, Range, SearchResponse } from "../../src/search/messages/response.ts";
import { compareFiles, fileKey, type ExpectedFile, type ExpectedResponse } from "./oracle.ts";

/**
 * Returns the difference in words, or undefined. REQUIRES: if the request's limit cuts, the oracle was given the
 * ranking.
 */
export function compare(expected: ExpectedResponse, response: SearchResponse): string | undefined {
  const files = response.files.toSorted(compareFiles);
  const ids = response.repositoryInfo.map(({ id }) => id);
  return (
    compareKeys(expected.files.map(fileKey), files.map(fileKey)) ??
    firstOf(expected.files, (file, i) => compareFile(file, files[i]!)) ??
    differ("repositoryInfo ids", expected.repositoryIds, ids) ??
    differ("stats.fileCount", expected.fileCount, response.stats.fileCount) ??
    differ("stats.totalMatchCount", expected.totalMatchCount, response.stats.totalMatchCount) ??
    differ("stats.actualMatchCount", expected.actualMatchCount, response.stats.actualMatchCount) ??
    differ(
      "isSearchExhaustive",
      expected.actualMatchCount === expected.totalMatchCount && !isUndecided(expected, response),
      response.isSearchExhaustive,
    )
  );
}

/** Whether symbols were missing: files whose symbols are not known yet count as skipped if a query asks for symbols. */
const isUndecided = (expected: ExpectedResponse, { stats }: SearchResponse): boolean =>
  expected.asksForSymbols && stats.filesSkipped > 0;

function compareKeys(expected: string[], actual: string[]): string | undefined {
  const lost = expected.find((key) => !actual.includes(key));
  if (lost !== undefined) return `file not found: ${printKey(lost)}`;
  const extra = actual.find((key) => !expected.includes(key));
  if (extra !== undefined) return `file found that should not be: ${printKey(extra)}`;
  return differ("files, one twice?", expected.map(printKey), actual.map(printKey));
}

const printKey = (key: string) => {
  const [repository, path, ...branches] = key.split("\0");
  return `${repository} ${JSON.stringify(path)} in ${branches.join(", ")}`;
};

function compareFile(expected: ExpectedFile, actual: FileResult): string | undefined {
  const inFile = (what: string) => `${printKey(fileKey(expected))}: ${what}`;
  return (
    differ(inFile("language"), expected.language, actual.language) ??
    differ(inFile("repositoryId"), expected.repositoryId, actual.repositoryId) ??
    differ(
      inFile("ranges of the name"),
      expected.fileName.matchRanges.map(printRange),
      actual.fileName.matchRanges.map(printRange),
    ) ??
    differ(inFile("content ranges"), printRanges(expected), printRanges(actual)) ??
    differ(inFile("number of chunks"), expected.chunks.length, actual.chunks.length) ??
    firstOf(expected.chunks, (chunk, i) =>
      firstOf(
        ["contentStart", "content", "matchRanges", "symbols", "enclosing"] as const,
        (field) => differ(inFile(`chunk ${i}, ${field}`), chunk[field], actual.chunks[i]![field]),
      ),
    ) ??
    differ(inFile("whole content"), expected.content, actual.content)
  );
}

function firstOf<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = check(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

const printRanges = (file: Pick<FileResult, "chunks">) =>
  file.chunks.flatMap((chunk) => chunk.matchRanges.map(printRange));

/** Returns start and end, each as offset, line and column: `3@1:4-5@1:6`. */
export function printRange({ start, end }: Range): string {
  const print = (at: Range["start"]) => `${at.byteOffset}@${at.lineNumber}:${at.column}`;
  return `${print(start)}-${print(end)}`;
}

function differ(what: string, expected: unknown, actual: unknown): string | undefined {
  const [left, right] = [canonical(expected), canonical(actual)];
  if (left === right) return undefined;
  let at = 0;
  while (left[at] === right[at]) at++;
  const from = Math.max(0, at - 60);
  const cut = (text: string) => (from > 0 ? "…" : "") + text.slice(from, at + 100);
  return `${what}\n  expected ${cut(left)}\n  got      ${cut(right)}`;
}

/** Returns JSON with sorted keys. */
function canonical(value: unknown): string {
  const sorted = (_: string, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  return JSON.stringify(value, sorted) ?? "absent";
}
