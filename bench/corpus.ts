/**
 * Finds the files that all tools index. Reads each of them once, which also warms the system's cache equally for all
 * tools.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Corpus } from "./peer.ts";
import type { CorpusFigures } from "./record.ts";

/** The size of the largest files that are indexed. */
export const MOST_BYTES = 2 << 20;

export function corpusAt(path: string): Corpus {
  return { path: resolve(path), name: basename(resolve(path)) };
}

export function readCorpus({ name, path }: Corpus): CorpusFigures {
  let files = 0;
  let bytes = 0;
  for (const file of filesOf(path)) {
    files++;
    bytes += readFileSync(file).length;
  }
  return { name, files, bytes };
}

export function* filesOf(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== ".git") yield* filesOf(path);
    else if (entry.isFile() && statSync(path).size <= MOST_BYTES) yield path;
  }
}

/**
 * Returns the fewest folders and files that together contain every file of up to MOST_BYTES below the folder, and no
 * larger one.
 */
export function piecesOf(folder: string): string[] {
  return cut(folder) ?? [folder];
}

/** Returns undefined if the folder can stay whole. */
function cut(folder: string): string[] | undefined {
  let isWhole = true;
  const pieces: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const isFolder = entry.isDirectory() && entry.name !== ".git";
    const below = isFolder ? cut(path) : undefined;
    const isTooLarge = entry.isFile() && statSync(path).size > MOST_BYTES;
    if (below || isTooLarge) isWhole = false;
    if (below) pieces.push(...below);
    else if (isFolder || (entry.isFile() && !isTooLarge)) pieces.push(path);
  }
  return isWhole ? undefined : pieces;
}
