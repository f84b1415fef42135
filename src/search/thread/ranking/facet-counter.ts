/**
 * Counts the matching files by repository, language and folder. Counting a file takes a few additions. Only the first
 * two folders of its path are read. They are decoded only if they differ from those of the previous file. This is rare,
 * because files come in the order of their paths.
 */

import type { Snapshot } from "../../../store/lmdb/environment.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { pathOf, repositoryOf } from "../../../store/segments/segment-tables.ts";

const SLASH = 0x2f;
const LEVELS = 2;

export class FacetCounter {
  readonly #repositories = new Map<number, number>();
  readonly #languages = new Map<string, number>();
  readonly #folders = new Map<string, number>();
  /** The folders of the previous file, with a slash at the end. */
  #lastFolders: Uint8Array = new Uint8Array();
  #lastNames: readonly string[] = [];

  add(file: number, reader: SegmentReader, snapshot: Snapshot): void {
    const { header, files } = reader;
    addOne(this.#repositories, repositoryOf(header, file));
    const language = header.languages[files.languages[file]!]!;
    if (language !== "") addOne(this.#languages, language);
    if (this.#repositories.size === 1) this.#addFolders(pathOf(reader.paths(snapshot), file));
  }

  #addFolders(path: Uint8Array): void {
    const folders = firstFolders(path);
    if (Buffer.compare(folders, this.#lastFolders) !== 0) {
      this.#lastFolders = folders.slice(); // a copy, because the bytes of the path may be reused for another segment
      this.#lastNames = prefixesOf(Buffer.from(folders).toString());
    }
    for (const name of this.#lastNames) addOne(this.#folders, name);
  }

  /** Returns the counts in the form of SearchOutput.facets. */
  counts() {
    const isOne = this.#repositories.size === 1;
    return {
      repositories: this.#repositories,
      languages: this.#languages,
      folders: isOne ? this.#folders : new Map<string, number>(),
    };
  }
}

function addOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/**
 * Returns the first two folders: `src/page/` of `src/page/style/page.css`, `src/` of `src/engine.ts`, and nothing of
 * `README.md`.
 */
function firstFolders(path: Uint8Array): Uint8Array {
  let end = 0;
  for (let level = 0; level < LEVELS; level++) {
    const slash = path.indexOf(SLASH, end);
    if (slash < 0) break;
    end = slash + 1;
  }
  return path.subarray(0, end);
}

/** Returns `src` and `src/page` for `src/page/`. */
function prefixesOf(folders: string): string[] {
  const names = folders.split("/").slice(0, -1);
  return names.map((_, level) => names.slice(0, level + 1).join("/"));
}
