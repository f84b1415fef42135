/**
 * Searches for literals. The text in memory is one blob after another. A *run* is a range of this text in which matches
 * may start:
 *
 *     run := from starts limit lowest   count edge        (six u32)
 *
 * A match starts in [from, starts) and ends at or before `limit`, which is the end of the blob. `lowest` is the start
 * of the blob. The functions below write `count`, the number of matches in the run, and `edge`, their best edge rating
 * (edges.ts).
 * REQUIRES: runs are in ascending order. The text is loaded from the byte before `from` to the byte after the last
 * possible match. Of these bytes, only those that belong to the blob need be loaded.
 *
 * Matches are leftmost and do not overlap, even across runs. No match starts before `floor`. Runs may be searched in
 * several calls. If the `floor` of each call is the end of the last match of the previous calls, the calls find the
 * same matches as a single call. Matches are written to `out` as pairs (start, end) of addresses. Both functions return
 * the number of pairs.
 * REQUIRES: `out` has room for 1 + (bytes of all runs) / (shortest match) pairs.
 *
 * bench/kernel.ts measures both functions on 16 MB of C in cache.
 */

import { bestEdge } from "./edges";
import { decodeFolded, decodedLength } from "./folding";

const RUN: usize = 24;

// the needle consists of two parallel arrays, `bytes` and `masks`, padded to a multiple of 16 bytes. A byte b of the
// text matches position i of the needle if (b | masks[i]) == bytes[i]. The mask is 0x20 if an ASCII letter may have
// either case. In the padding, both arrays have 0xff, which every byte matches

/**
 * Finds a needle of `length` bytes. `first` and `second` are the positions of its two rarest bytes. The search looks
 * for these two bytes at 16 places of the text at once. It compares the whole needle only where both match.
 */
export function scanLiteral(
  runs: usize,
  runCount: u32,
  bytes: usize,
  masks: usize,
  length: usize,
  first: usize,
  second: usize,
  floor: usize,
  out: usize,
): u32 {
  const firstByte = i8x16.splat(load<i8>(bytes + first));
  const firstMask = i8x16.splat(load<i8>(masks + first));
  const secondByte = i8x16.splat(load<i8>(bytes + second));
  const secondMask = i8x16.splat(load<i8>(masks + second));
  let to = out;
  for (let run = runs, end = runs + runCount * RUN; run < end; run += RUN) {
    const runOut = to;
    const limit = <usize>load<u32>(run, 8);
    const starts = min<usize>(load<u32>(run, 4), limit < length ? 0 : limit - length + 1);
    let at = max<usize>(load<u32>(run), floor);
    while (at < starts) {
      // four blocks at a time while nothing is found
      while (at + 64 <= starts) {
        const hits0 = hitsAt(at, first, second, firstByte, firstMask, secondByte, secondMask);
        const hits1 = hitsAt(at + 16, first, second, firstByte, firstMask, secondByte, secondMask);
        const hits2 = hitsAt(at + 32, first, second, firstByte, firstMask, secondByte, secondMask);
        const hits3 = hitsAt(at + 48, first, second, firstByte, firstMask, secondByte, secondMask);
        if (v128.any_true(v128.or(v128.or(hits0, hits1), v128.or(hits2, hits3)))) break;
        at += 64;
      }
      let hits = i8x16.bitmask(
        hitsAt(at, first, second, firstByte, firstMask, secondByte, secondMask),
      );
      for (; hits; hits &= hits - 1) {
        const place = at + ctz(hits);
        if (place >= starts) break;
        if (place < floor || !equals(place, bytes, masks, length)) continue;
        floor = place + length;
        store<u32>(to, <u32>place);
        store<u32>(to, <u32>floor, 4);
        to += 8;
      }
      at += 16;
    }
    finishRun(run, runOut, to);
  }
  return <u32>((to - out) >> 3);
}

@inline
export function hitsAt(
  at: usize,
  first: usize,
  second: usize,
  firstByte: v128,
  firstMask: v128,
  secondByte: v128,
  secondMask: v128,
): v128 {
  return v128.and(
    i8x16.eq(v128.or(v128.load(at + first), firstMask), firstByte),
    i8x16.eq(v128.or(v128.load(at + second), secondMask), secondByte),
  );
}

@inline
export function equals(place: usize, bytes: usize, masks: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i += 16) {
    const text = v128.or(v128.load(place + i), v128.load(masks + i));
    if (!i8x16.all_true(i8x16.eq(text, v128.load(bytes + i)))) return false;
  }
  return true;
}

/**
 * Finds a needle in text where folding changes some code points beyond ASCII. The search compares folded code points,
 * so a match may be longer or shorter than the needle. `needle` has `length` folded code points (u32). The search
 * checks 16 places of the text at once. It compares the needle only where the first two bytes may begin a match.
 *
 * `leads` has the set of possible first bytes of a match, then the set of possible second bytes. Each set has two
 * tables of 16 bytes: one for ASCII, then one for other bytes. A table has one entry for each low half of a byte. Each
 * bit of an entry stands for a high half, and is set if the two halves form a member of the set.
 */
export function scanFolded(
  runs: usize,
  runCount: u32,
  needle: usize,
  length: usize,
  leads: usize,
  folding: usize,
  floor: usize,
  out: usize,
): u32 {
  const firstAscii = v128.load(leads);
  const firstBeyond = v128.load(leads, 16);
  const nextAscii = v128.load(leads, 32);
  const nextBeyond = v128.load(leads, 48);
  let to = out;
  for (let run = runs, end = runs + runCount * RUN; run < end; run += RUN) {
    const runOut = to;
    const limit = <usize>load<u32>(run, 8);
    const starts = min<usize>(load<u32>(run, 4), limit);
    for (let at = max<usize>(load<u32>(run), floor); at < starts; at += 16) {
      let hits = i8x16.bitmask(
        v128.and(
          members(v128.load(at), firstAscii, firstBeyond),
          members(v128.load(at, 1), nextAscii, nextBeyond),
        ),
      );
      for (; hits; hits &= hits - 1) {
        const place = at + ctz(hits);
        if (place >= starts) break;
        if (place < floor) continue;
        const stop = matchFolded(place, limit, needle, length, folding);
        if (!stop) continue;
        store<u32>(to, <u32>place);
        store<u32>(to, <u32>stop, 4);
        to += 8;
        floor = stop;
      }
    }
    finishRun(run, runOut, to);
  }
  return <u32>((to - out) >> 3);
}

@inline
export function members(text: v128, ascii: v128, beyond: v128): v128 {
  const highs = i8x16.swizzle(
    i8x16(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128),
    i8x16.shr_u(text, 4),
  );
  const lows = v128.and(text, i8x16.splat(15));
  const set = v128.bitselect(
    i8x16.swizzle(beyond, lows),
    i8x16.swizzle(ascii, lows),
    i8x16.lt_s(text, i8x16.splat(0)),
  );
  return i8x16.ne(v128.and(set, highs), i8x16.splat(0));
}

/** Returns the end of the match that begins at `at`, or 0 if there is none. */
function matchFolded(at: usize, limit: usize, needle: usize, length: usize, folding: usize): usize {
  for (let i: usize = 0; i < length; i++) {
    if (at >= limit || decodeFolded(at, limit, folding) != load<u32>(needle + (i << 2))) return 0;
    at += decodedLength;
  }
  return at;
}

@inline
function finishRun(run: usize, runOut: usize, to: usize): void {
  store<u32>(run, <u32>((to - runOut) >> 3), 16);
  store<u32>(run, bestEdge(runOut, to, load<u32>(run, 12), load<u32>(run, 8)), 20);
}
