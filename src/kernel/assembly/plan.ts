/**
 * Plans a literal in a segment: finds the pages on which the literal may begin, drops those of blobs without a file in
 * scope, and cuts the others into chunks. Reads no text. job.ts describes the memory.
 */

import * as J from "../job";
import { BROKEN, pagesWithAll, BITS as FOUND_BITS, LIST_BYTES as FOUND_BYTES } from "./lists";
import { countBits } from "./postings";

/** With fewer blobs, reading their definitions takes less time than reading the lists of names. */
const WORTH_NAMES: u32 = 32;
/** A blob counts as at most this many candidate pages when chunks are cut. */
const MOST_COUNTED_PAGES: u32 = 8;

@inline
export function u(at: usize, offset: usize): usize {
  return <usize>load<u32>(at + offset);
}

/** Returns the word at an index of an array. */
@inline
export function nth(array: usize, i: u32): u32 {
  return load<u32>(array + (<usize>i << 2));
}

@inline
export function hasBit(bits: usize, at: u32): bool {
  return (load<u8>(bits + <usize>(at >> 3)) & (1 << (at & 7))) != 0;
}

/** Returns the first set bit in [at, end), or `end`. REQUIRES: the bits end at a multiple of eight bytes. */
export function nextBit(bits: usize, at: u32, end: u32): u32 {
  if (at >= end) return end;
  let base = at & ~63;
  let word = load<u64>(bits + <usize>(base >> 3)) & (~(<u64>0) << <u64>(at & 63));
  while (word == 0) {
    base += 64;
    if (base >= end) return end;
    word = load<u64>(bits + <usize>(base >> 3));
  }
  return min(end, base + <u32>ctz(word));
}

/**
 * Plans the segment. Returns 0, or BROKEN as pagesWithAll() does.
 * REQUIRES: the literal has at least one gram. The caller has written the words of the plan up to SCOPE, and the scope.
 */
export function planLiteral(job: usize, plan: usize): i32 {
  if (lookUp(job, plan, TEXT, u(plan, J.BITS)) < 0) return BROKEN;
  store<u32>(plan, countBits(u(plan, J.SCOPE), u(plan, J.SCOPE_WORDS) << 2), J.IN_SCOPE);
  store<u32>(plan, load<u32>(u(job, J.LISTS), FOUND_BYTES), J.LIST_BYTES);
  store<u32>(plan, 0, J.IS_NAMED);
  const blobs = keepInScope(plan);
  const hasNames = load<u32>(plan, J.NAME_LISTS) != 0;
  if (blobs >= WORTH_NAMES && load<u32>(job, J.IS_RANKED) != 0 && hasNames) {
    if (lookUp(job, plan, NAMES, u(plan, J.NAMED)) < 0) return BROKEN;
    store<u32>(plan, load<u32>(plan, J.LIST_BYTES) + load<u32>(u(job, J.LISTS), FOUND_BYTES), J.LIST_BYTES);
    store<u32>(plan, 1, J.IS_NAMED);
  }
  cutChunks(plan);
  return 0;
}

/** The sets of posting lists: those of the text, and those of names. */
const TEXT: u32 = 0;
const NAMES: u32 = 1;

/** Sets the bits of the pages that have all grams, in one set of lists. */
function lookUp(job: usize, plan: usize, set: u32, bits: usize): i32 {
  const scratch = u(job, J.LISTS);
  const pages = load<u32>(plan, J.PAGES);
  const lists = plan + (<usize>set << 3);
  const firsts = u(lists, J.TEXT_LISTS);
  const blocks = load<u32>(lists, J.TEXT_BLOCKS);
  const found = pagesWithAll(set, firsts, blocks, job + J.GRAMS, load<u32>(job, J.GRAM_COUNT), pages, scratch);
  if (found >= 0) memory.copy(bits, scratch + FOUND_BITS, <usize>(((pages + 127) >> 7) << 4));
  return found;
}

/** Drops the pages of blobs without a file in scope. Returns the number of the other blobs. */
function keepInScope(plan: usize): u32 {
  const bits = u(plan, J.BITS);
  const pages = load<u32>(plan, J.PAGES);
  let blobs: u32 = 0;
  let files: u32 = 0;
  let kept: u32 = 0;
  for (let page = nextBit(bits, 0, pages); page < pages; ) {
    const blob = nth(u(plan, J.PAGE_BLOBS), page);
    const end = nth(u(plan, J.FIRST_PAGES), blob + 1);
    const inScope = filesInScope(plan, blob);
    files += inScope;
    if (inScope > 0) blobs++;
    for (; page < end; page = nextBit(bits, page + 1, end))
      if (inScope > 0) kept++;
      else clearBit(bits, page);
    page = nextBit(bits, end, pages);
  }
  store<u32>(plan, files, J.CANDIDATES);
  store<u32>(plan, kept, J.CANDIDATE_PAGES);
  return blobs;
}

function filesInScope(plan: usize, blob: u32): u32 {
  const starts = u(plan, J.BLOB_FILE_STARTS);
  const end = nth(starts, blob + 1);
  let count: u32 = 0;
  for (let i = nth(starts, blob); i < end; i++)
    count += <u32>hasBit(u(plan, J.SCOPE), nth(u(plan, J.BLOB_FILES), i));
  return count;
}

@inline
function clearBit(bits: usize, at: u32): void {
  const byte = bits + <usize>(at >> 3);
  store<u8>(byte, <u32>load<u8>(byte) & ~(1 << (at & 7)));
}

/** Cuts the candidate pages into chunks, at the ends of blobs. */
function cutChunks(plan: usize): void {
  const bits = u(plan, J.BITS);
  const pages = load<u32>(plan, J.PAGES);
  let chunk = u(plan, J.CHUNKS);
  let begin: u32 = 0;
  let count: u32 = 0;
  for (let page = nextBit(bits, 0, pages); page < pages; ) {
    if (count == 0) begin = page;
    const end = nth(u(plan, J.FIRST_PAGES), nth(u(plan, J.PAGE_BLOBS), page) + 1);
    count += min(end - page, MOST_COUNTED_PAGES);
    page = nextBit(bits, end, pages);
    if (count < <u32>J.CHUNK_PAGES && page < pages) continue;
    store<u32>(chunk, begin);
    store<u32>(chunk, end, 4);
    chunk += 8;
    count = 0;
  }
  store<u32>(plan, <u32>((chunk - u(plan, J.CHUNKS)) >> 3), J.CHUNK_COUNT);
}
