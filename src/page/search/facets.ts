/** Finds files that are copies of others, and counts files if the server sends no counts. */

import type { Facet, Facets, FileResult } from "../wire/answers.ts";

/**
 * Counts the files shown so far, by repository and language. Used during a stream, and if the server counts nothing.
 */
export function facetsOf(files: readonly FileResult[]): Facets {
  return {
    repositories: count(files.map(({ repository }) => repository)),
    languages: count(files.map(({ language }) => language)),
    folders: { values: [], more: 0 },
  };
}

/** Counts how often each value occurs. The most frequent value comes first. Empty values are left out. */
function count(values: readonly string[]): Facet {
  const counts = new Map<string, number>();
  for (const value of values) if (value !== "") counts.set(value, (counts.get(value) ?? 0) + 1);
  const sorted = [...counts]
    .map(([value, fileCount]) => ({ value, fileCount }))
    .sort((a, b) => b.fileCount - a.fileCount || (a.value < b.value ? -1 : 1));
  return { values: sorted.slice(0, SHOWN), more: Math.max(0, sorted.length - SHOWN) };
}

const SHOWN = 12;

/** A file, and the files that show the same lines under the same name. */
export interface Folded {
  file: FileResult;
  copies: FileResult[];
}

/** Groups each file with its copies, which have the same name and the same lines. The files stay in their order. */
export function foldCopies(files: readonly FileResult[]): Folded[] {
  const byContent = new Map<string, Folded>();
  const folded: Folded[] = [];
  for (const file of files) {
    const known = file.chunks.length === 0 ? undefined : byContent.get(contentKey(file));
    if (known !== undefined) known.copies.push(file);
    else {
      const first = { file, copies: [] };
      folded.push(first);
      if (file.chunks.length > 0) byContent.set(contentKey(file), first);
    }
  }
  return folded;
}

/** The key of each file's content. Keys are cached, because all files are grouped again for each further page. */
const contentKeys = new WeakMap<FileResult, string>();

function contentKey(file: FileResult): string {
  let key = contentKeys.get(file);
  if (key === undefined) {
    const lines = file.chunks.map(({ content, contentStart }) => [
      contentStart.lineNumber,
      content,
    ]);
    key = JSON.stringify([file.fileName.text.split("/").at(-1), lines]);
    contentKeys.set(file, key);
  }
  return key;
}
