/** The files all tools index, read once: that also warms the system's cache for all of them alike. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Corpus } from "./peer.ts";
import type { CorpusFigures } from "./record.ts";

const MOST_BYTES = 2 << 20;

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
