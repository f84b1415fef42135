/**
 * Folds case as RE2 does, by Unicode simple folding, which maps each code point to one code point. The orbits (sets of
 * code points that fold together) come from the build of RE2 that verifies matches (scripts/build-folding-table.ts).
 * Node's Unicode data is not used, because it changes with Node's version. A test compares every code point with RE2.
 *
 * The representative of an orbit is its ASCII lower-case letter if it has one: K and U+212A fold to k, and U+017F folds
 * to s. Otherwise, the representative is the ordinary lower-case form. É folds to é, and Σ and ς fold to σ. Folding
 * changes no code point at or above 0x20000.
 *
 * The kernel reads the same map from a two-level table in its memory. writeFoldingTable() writes this table once, at an
 * address that is a multiple of 4:
 *
 *     index   u8[1024]            at address:         which block has the deltas of cp
 *     delta   i32[blocks * 128]   at address + 1024
 *
 *     folded = cp < 0x20000 ? cp + delta[index[cp >> 7] * 128 + (cp & 127)] : cp
 */

import { FOLDING_RUNS } from "./folding-table.ts";

const LIMIT = 0x20000;
const BLOCK = 128;
const INDEX_BYTES = LIMIT / BLOCK;

const orbits = new Map<number, readonly number[]>();
const deltas = new Int32Array(LIMIT);

for (let at = 0; at < FOLDING_RUNS.length; at += 4) {
  const [start, count, step, delta] = FOLDING_RUNS.slice(at, at + 4) as [
    number,
    number,
    number,
    number,
  ];
  for (let i = 0; i < count; i++) join(start + i * step, delta);
}

function join(cp: number, delta: number): void {
  deltas[cp] = delta;
  const members = [...(orbits.get(cp + delta) ?? [cp + delta]), cp].sort((a, b) => a - b);
  for (const member of members) orbits.set(member, members);
}

const { index, blocks } = foldingPages();

export const FOLDING_TABLE_BYTES = INDEX_BYTES + blocks.length * 4;

/** Returns the representative of cp's orbit. */
export function foldCodePoint(cp: number): number {
  return cp < LIMIT ? cp + deltas[cp]! : cp;
}

/** Returns every code point that folds like cp, including cp itself, in ascending order. */
export function orbit(cp: number): readonly number[] {
  return orbits.get(cp) ?? [cp];
}

/** Returns every code point that folds together with another code point, in ascending order. */
export function foldingCodePoints(): number[] {
  return [...orbits.keys()].sort((a, b) => a - b);
}

/** Replaces each code point by its representative. Lone surrogates are kept as they are. */
export function foldText(text: string): string {
  let folded = "";
  for (const char of text) folded += String.fromCodePoint(foldCodePoint(char.codePointAt(0)!));
  return folded;
}

/** Builds the two levels of the table. Equal blocks are stored only once, and block 0 has only zeros. */
export function foldingPages(): { index: Uint8Array; blocks: Int32Array } {
  const pages = new Map<string, number>([[new Int32Array(BLOCK).join(), 0]]);
  const numbers = new Uint8Array(INDEX_BYTES);
  const kept: number[] = Array.from({ length: BLOCK }, () => 0);
  for (let block = 0; block < INDEX_BYTES; block++) {
    const page = deltas.subarray(block * BLOCK, (block + 1) * BLOCK);
    const key = page.join();
    if (!pages.has(key)) {
      pages.set(key, pages.size);
      kept.push(...page);
    }
    numbers[block] = pages.get(key)!;
  }
  return { index: numbers, blocks: Int32Array.from(kept) };
}

/**
 * Writes the table into `bytes`. REQUIRES: `address` is a multiple of 4, and FOLDING_TABLE_BYTES bytes are reserved
 * there.
 */
export function writeFoldingTable(bytes: Uint8Array, address: number): void {
  bytes.set(index, address);
  bytes.set(new Uint8Array(blocks.buffer), address + INDEX_BYTES);
}
