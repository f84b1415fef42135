/** Reads the files of one revision of a repository from the segments of an index, on a thread. */

import { forEachBit, hasBit, type Bitset } from "../base/bitset.ts";
import { LruCache } from "../base/lru-cache.ts";
import { HASH_BYTES, NO_BLOB } from "../store/format/format.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import type { SegmentReader } from "../store/segments/segment-reader.ts";
import { pagesWith } from "../search/thread/planning/candidates.ts";
import { blobsOf } from "../search/thread/planning/pages.ts";
import { prepareLiteral } from "../search/thread/reading/literal.ts";
import type { ThreadTools } from "../search/thread/reading/thread-tools.ts";
import type { ProjectFiles } from "./core/project.ts";
import type { Facts } from "./facts/facts.ts";
import type { Rules } from "./facts/rules.ts";
import type { Grammars } from "./grammars.ts";
import { rulesFor } from "./languages/languages.ts";
import { declares, hasWord } from "./words.ts";

/** The maximum memory of the facts that a thread keeps, estimated in bytes. */
const FACTS_BYTES = 128 * 2 ** 20;
/** A definition with its entries in maps takes about this many bytes. */
const DEFINITION_BYTES = 300;

export type FactsCache = LruCache<string, Facts>;

export const newFactsCache = (): FactsCache =>
  new LruCache<string, Facts>({
    most: FACTS_BYTES,
    costOf: ({ syntax, definitions }) => syntax.bytes + DEFINITION_BYTES * definitions.length,
  });

interface ScopedSegment {
  readonly reader: SegmentReader;
  readonly scope: Bitset;
}

interface Place {
  readonly reader: SegmentReader;
  readonly file: number;
}

export interface Reading {
  readonly snapshot: Snapshot;
  readonly tools: ThreadTools;
  readonly grammars: Grammars;
  readonly cache: FactsCache;
}

export class IndexedFiles implements ProjectFiles {
  readonly #reading: Reading;
  readonly #segments: readonly ScopedSegment[];
  readonly #places = new Map<string, Place>();
  readonly #declaring = new Map<string, readonly string[]>();

  constructor(segments: readonly ScopedSegment[], reading: Reading) {
    this.#segments = segments;
    this.#reading = reading;
    for (const { reader, scope } of segments) {
      const { bytes, starts } = reader.paths(reading.snapshot);
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      forEachBit(scope, (file) => {
        if (reader.files.blobs[file] === NO_BLOB) return;
        const path = text.toString("utf8", starts[file], starts[file + 1]);
        this.#places.set(path, { reader, file });
      });
    }
  }

  get paths(): Iterable<string> {
    return this.#places.keys();
  }

  rules(path: string): Rules | undefined {
    return rulesFor(path);
  }

  /** Returns the content of a file. REQUIRES: the file exists. */
  bytes(path: string): Uint8Array {
    const { reader, file } = this.#places.get(path)!;
    return reader.blobText(this.#reading.snapshot, reader.files.blobs[file]!);
  }

  text(path: string): string | undefined {
    return this.#places.has(path) ? this.#reading.grammars.textOf(this.bytes(path)) : undefined;
  }

  facts(path: string): Facts | undefined {
    const rules = this.rules(path);
    if (!rules || !this.#places.has(path)) return undefined;
    const { cache, grammars } = this.#reading;
    return cache.getOrMake(this.#keyOf(path), () => grammars.facts(path, this.bytes(path), rules));
  }

  /** Facts depend on the content and on the path, which the definitions have in them. */
  #keyOf(path: string): string {
    const { reader, file } = this.#places.get(path)!;
    const blob = reader.files.blobs[file]!;
    const hashes = reader.hashes(this.#reading.snapshot);
    const from = hashes.byteOffset + HASH_BYTES * blob;
    return `${path}\0${Buffer.from(hashes.buffer, from, HASH_BYTES).toString("latin1")}`;
  }

  /** Returns the files that contain a name as a word, and perhaps some that only contain its letters. */
  candidates(name: string): string[] {
    const paths: string[] = [];
    for (const { reader, scope } of this.#segments) {
      const blobs = this.#blobsWith(name, reader);
      const { bytes, starts } = reader.paths(this.#reading.snapshot);
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      forEachBit(scope, (file) => {
        const blob = reader.files.blobs[file]!;
        const isCandidate = !blobs || (blob !== NO_BLOB && hasBit(blobs, blob));
        if (blob !== NO_BLOB && isCandidate)
          paths.push(text.toString("utf8", starts[file], starts[file + 1]));
      });
    }
    return paths.sort();
  }

  /** Returns the blobs that may contain a name, or undefined if the segment's lists do not tell. */
  #blobsWith(name: string, reader: SegmentReader): Bitset | undefined {
    const { grams } = prepareLiteral({ kind: "literal", text: name, caseSensitive: true });
    if (grams.length === 0 || reader.header.postingBlocks === 0) return undefined;
    const tools = this.#reading.tools.forTask(ENDLESS);
    const { pages } = pagesWith(grams, {
      reader,
      snapshot: this.#reading.snapshot,
      kernel: tools.kernel,
      arena: tools.arena,
      ...ENDLESS,
      countInScope: () => 0,
    });
    return pages && blobsOf(pages, reader);
  }

  declaring(name: string): readonly string[] {
    let paths = this.#declaring.get(name);
    if (!paths) {
      paths = this.candidates(name).filter(
        (path) => this.rules(path) && declares(this.#letters(path), name),
      );
      this.#declaring.set(name, paths);
    }
    return paths;
  }

  /** Returns whether a file contains a name as a word. */
  hasWord(path: string, name: string): boolean {
    const known = this.rules(path) && this.#reading.cache.get(this.#keyOf(path));
    return hasWord(known?.syntax.text ?? this.#letters(path), name);
  }

  #letters(path: string): string {
    return Buffer.from(this.bytes(path)).toString("utf8");
  }
}

/** A look-up takes microseconds, so it is not stopped. */
const ENDLESS = {
  isStopped: () => false,
  giveUp: () => undefined,
  isDue: () => false,
  pause: async () => undefined,
};
