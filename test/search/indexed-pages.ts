/** Posting lists of some texts, each of which is a page, for lookups as in searches. */

import { countBits, emptyBitset, setBit, type Bitset } from "../../src/base/bitset.ts";
import { Arena } from "../../src/kernel/arena.ts";
import { createGramLists } from "../../src/kernel/gram-lists.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import type { Lookup } from "../../src/search/thread/planning/candidates.ts";
import { seal, unseal } from "../../src/store/format/sealed.ts";
import type { Snapshot, Writer } from "../../src/store/lmdb/environment.ts";
import {
  listsOfText,
  PostingsReader,
  PostingsWriter,
  type PostingPlace,
} from "../../src/store/segments/postings.ts";
import type { SegmentReader } from "../../src/store/segments/segment-reader.ts";

const kernel = createKernel();
const arena = new Arena(kernel);
const lists = createGramLists(kernel, 8192);

function gramsOf(text: string): Set<number> {
  const found = new Set<number>();
  lists.clear();
  lists.add(Buffer.from(text));
  lists.forEach((gram) => void found.add(gram));
  return found;
}

/** Returns the lists, and the grams of each page. */
export function indexed(texts: readonly string[], place: PostingPlace = listsOfText(1)) {
  const grams = texts.map(gramsOf);
  lists.clear();
  for (const text of texts) lists.add(Buffer.from(text));
  const values = new Map<string, Uint8Array>();
  const put = (key: Buffer, ...parts: Uint8Array[]) =>
    void values.set(key.toString("hex"), seal(key, ...parts));
  const postings = new PostingsWriter(place, texts.length, kernel);
  const bytes = new Map<number, number>();
  lists.forEach((gram, list) => {
    postings.add(gram, list.slice());
    bytes.set(gram, Math.min(list.length, Math.ceil(texts.length / 8)));
  });
  const blocks = postings.finish({ put } as Pick<Writer, "put"> as Writer);
  const getSealed = (key: Buffer) => values.get(key.toString("hex"));
  const get = (key: Buffer, what: string) => unseal(key, getSealed(key)!, what);
  const snapshot = { get, getSealed } as Pick<Snapshot, "get" | "getSealed"> as Snapshot;
  const found = new PostingsReader(snapshot, place, blocks);
  const lookup = lookupIn(found, snapshot, texts.length);
  return { grams, bytes, lookup, values };
}

/** Returns what a search looks up lists with, in a segment of `pages` pages. */
export const lookupIn = (lists: PostingsReader, snapshot: Snapshot, pages: number): Lookup => ({
  reader: { header: { pages } } as SegmentReader,
  lists,
  snapshot,
  kernel,
  arena,
  countInScope: countBits,
  isStopped: () => false,
  pause: () => undefined,
});

/** The slow twin: returns the pages that contain all wanted grams. */
export function inAll(wanted: readonly number[], pages: readonly ReadonlySet<number>[]): Bitset {
  const set = emptyBitset(pages.length);
  pages.forEach((grams, page) => {
    if (wanted.every((gram) => grams.has(gram))) setBit(set, page);
  });
  return set;
}
