/**
 * Splits text into words, and builds a list of blobs for each stem. words/split.ts has the rules for words, and
 * words/word-table.ts owns the memory.
 *
 * A word gets a number when it is first seen. The caller computes the stem of each new word, because stemming is long,
 * and needed once for each different word. So a text is processed in two steps: splitWords() writes the words of the
 * text to a stream; when the caller has stemmed the new words, countStems() reads the stream.
 *
 * The state has twelve words (u32), listed here with their byte offsets:
 *
 *     0 classes     u8[256]: the class of each byte
 *     4 slots       hash slots: 1 + the number of a word, or 0 if the slot is empty
 *     8 mask        the number of slots - 1
 *     12 words      16 bytes each: hash, address of the text, length, stem
 *     16 wordCount
 *     20 texts      where the text of the next word will be stored
 *     24 place      where splitting stopped
 *     28 window     the number of the window that is being counted
 *     32 fresh      the stems of the current blob
 *     36 freshCount
 *     40 stems      24 bytes each: the last window that has the stem; the number of the blob's windows that have it;
 *                   1 + the last blob in its list; the first line of its list, or 0; the address of the list's next
 *                   byte; the length of the list
 *     44 lines      where the next line will be stored
 *
 * A line has 28 bytes of a list and the address of the next line. A list has, for each blob, a gap (as a varint; the
 * first gap counts from blob -1) and a byte with the number of windows.
 */

const OTHER: u32 = 0;
const LOWER: u32 = 1;
const UPPER: u32 = 2;
const DIGIT: u32 = 3;

const WORD: usize = 16;
const STEM: usize = 24;
const LINE: usize = 32;
const NEXT: usize = 4;
/** The stem of a word that was not stemmed yet. */
const NO_STEM: u32 = 0xffff_ffff;
/** The entry of a stream that ends a window. */
const END_OF_WINDOW: u32 = 0xffff_ffff;

/** The limits of words/split.ts. */
const LEAST_WORD: usize = 2;
const MOST_WORD: usize = 32;
/** A longer line is minified code or data, whose words are ignored. */
const MOST_LINE: usize = 4096;

/**
 * Writes the numbers of the words in [from, to) to `stream`, and returns the number of entries. Ends a window with each
 * line if `windowBytes` is 0, and otherwise after so many bytes. Ignores words of one byte, long words, and the words of
 * long lines. Stops at the beginning of a line, whose address is then `place`, when less room is left than one line may
 * need: MOST_LINE entries in the stream, half as many new words, MOST_LINE bytes of texts.
 * REQUIRES: there is room for one line.
 */
export function splitWords(
  state: usize,
  from: usize,
  to: usize,
  windowBytes: u32,
  stream: usize,
  streamEnd: usize,
  mostWords: u32,
  textsEnd: usize,
): u32 {
  const classes = <usize>load<u32>(state);
  let out = stream;
  let windowEnd = from + windowBytes;
  let at = from;
  while (at < to) {
    if (out + ((MOST_LINE + 2) << 2) > streamEnd) break;
    if (load<u32>(state, 16) + <u32>(MOST_LINE >> 1) > mostWords) break;
    if (<usize>load<u32>(state, 20) + MOST_LINE > textsEnd) break;
    const lineEnd = endOfLine(at, to);
    if (windowBytes > 0 && at >= windowEnd) {
      store<u32>(out, END_OF_WINDOW);
      out += 4;
      windowEnd = at + windowBytes;
    }
    if (lineEnd - at <= MOST_LINE) out = splitLine(state, classes, at, lineEnd, out);
    if (windowBytes == 0) {
      store<u32>(out, END_OF_WINDOW);
      out += 4;
    }
    at = lineEnd;
  }
  store<u32>(state, <u32>at, 24);
  return <u32>((out - stream) >> 2);
}

/** Returns the address after the next newline, or `to`. */
function endOfLine(from: usize, to: usize): usize {
  const newline = i8x16.splat(10);
  let at = from;
  for (; at + 16 <= to; at += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(at), newline));
    if (found != 0) return at + <usize>ctz(found) + 1;
  }
  for (; at < to; at++) if (load<u8>(at) == 10) return at + 1;
  return to;
}

function splitLine(state: usize, classes: usize, from: usize, to: usize, stream: usize): usize {
  let out = stream;
  let at = from;
  while (at < to) {
    const kind: u32 = load<u8>(classes + load<u8>(at));
    if (kind == OTHER) {
      at++;
      continue;
    }
    const start = at;
    at = endOfRun(classes, at + 1, to, kind);
    if (kind == UPPER && at < to && load<u8>(classes + load<u8>(at)) == LOWER) {
      if (at - start == 1) at = endOfRun(classes, at, to, LOWER);
      else {
        const isPlural =
          load<u8>(at) == 0x73 &&
          (at + 1 == to || load<u8>(classes + load<u8>(at, 1)) != LOWER);
        if (isPlural) at++;
        else at--;
      }
    }
    const length = at - start;
    if (length < LEAST_WORD || length > MOST_WORD) continue;
    store<u32>(out, wordAt(state, start, length));
    out += 4;
  }
  return out;
}

@inline
function endOfRun(classes: usize, from: usize, to: usize, kind: u32): usize {
  let at = from;
  while (at < to && load<u8>(classes + load<u8>(at)) == kind) at++;
  return at;
}

/** Returns a byte with an ASCII letter in lower case. */
@inline
function lowered(byte: u32): u32 {
  return byte - 65 < 26 ? byte | 32 : byte;
}

/** Returns the number of a word, which is new if it was not seen before. */
function wordAt(state: usize, from: usize, length: usize): u32 {
  let hash: u32 = 0x811c_9dc5;
  for (let i: usize = 0; i < length; i++)
    hash = (hash ^ lowered(load<u8>(from + i))) * 0x0100_0193;
  const slots = <usize>load<u32>(state, 4);
  const mask = load<u32>(state, 8);
  const words = <usize>load<u32>(state, 12);
  let slot = (hash ^ (hash >> 15)) & mask;
  for (;;) {
    const known = load<u32>(slots + (<usize>slot << 2));
    if (known == 0) break;
    const word = words + <usize>(known - 1) * WORD;
    if (load<u32>(word) == hash && isWord(word, from, length)) return known - 1;
    slot = (slot + 1) & mask;
  }
  const number = load<u32>(state, 16);
  const text = <usize>load<u32>(state, 20);
  const word = words + <usize>number * WORD;
  for (let i: usize = 0; i < length; i++) store<u8>(text + i, lowered(load<u8>(from + i)));
  store<u32>(word, hash);
  store<u32>(word, <u32>text, 4);
  store<u32>(word, <u32>length, 8);
  store<u32>(word, NO_STEM, 12);
  store<u32>(slots + (<usize>slot << 2), number + 1);
  store<u32>(state, number + 1, 16);
  store<u32>(state, <u32>(text + length), 20);
  return number;
}

@inline
function isWord(word: usize, from: usize, length: usize): bool {
  if (<usize>load<u32>(word, 8) != length) return false;
  const text = <usize>load<u32>(word, 4);
  for (let i: usize = 0; i < length; i++)
    if (load<u8>(text + i) != lowered(load<u8>(from + i))) return false;
  return true;
}

/** Fills the hash slots again. REQUIRES: the slots are zero, and more than the words. */
export function hashWords(state: usize): void {
  const slots = <usize>load<u32>(state, 4);
  const mask = load<u32>(state, 8);
  const words = <usize>load<u32>(state, 12);
  const count = load<u32>(state, 16);
  for (let number: u32 = 0; number < count; number++) {
    const hash = load<u32>(words + <usize>number * WORD);
    let slot = (hash ^ (hash >> 15)) & mask;
    while (load<u32>(slots + (<usize>slot << 2)) != 0) slot = (slot + 1) & mask;
    store<u32>(slots + (<usize>slot << 2), number + 1);
  }
}

/** Counts the windows of a blob that have each stem. REQUIRES: all words of the stream have stems. */
export function countStems(state: usize, stream: usize, length: u32): void {
  const words = <usize>load<u32>(state, 12);
  const stems = <usize>load<u32>(state, 40);
  const fresh = <usize>load<u32>(state, 32);
  let freshCount = load<u32>(state, 36);
  let window = load<u32>(state, 28);
  const end = stream + (<usize>length << 2);
  for (let at = stream; at < end; at += 4) {
    const word = load<u32>(at);
    if (word == END_OF_WINDOW) {
      window++;
      continue;
    }
    const number = load<u32>(words + <usize>word * WORD, 12);
    const stem = stems + <usize>number * STEM;
    if (load<u32>(stem) == window) continue;
    store<u32>(stem, window);
    const count = load<u32>(stem, 4);
    store<u32>(stem, count + 1, 4);
    if (count > 0) continue;
    store<u32>(fresh + (<usize>freshCount << 2), number);
    freshCount++;
  }
  store<u32>(state, window, 28);
  store<u32>(state, freshCount, 36);
}

/**
 * Appends a blob to the lists of its stems, and begins the next blob.
 * REQUIRES: blobs are added in ascending order. For each stem of the blob, there is room for one line.
 */
export function addBlob(state: usize, blob: u32): void {
  const stems = <usize>load<u32>(state, 40);
  const fresh = <usize>load<u32>(state, 32);
  const count = load<u32>(state, 36);
  for (let i: u32 = 0; i < count; i++) {
    const stem = stems + <usize>load<u32>(fresh + (<usize>i << 2)) * STEM;
    let gap = blob + 1 - load<u32>(stem, 8);
    store<u32>(stem, blob + 1, 8);
    while (gap > 0x7f) {
      append(state, stem, (gap & 0x7f) | 0x80);
      gap >>= 7;
    }
    append(state, stem, gap);
    append(state, stem, min<u32>(load<u32>(stem, 4), 255));
    store<u32>(stem, 0, 4);
  }
  store<u32>(state, 0, 36);
  store<u32>(state, load<u32>(state, 28) + 1, 28);
}

@inline
function append(state: usize, stem: usize, byte: u32): void {
  let at = <usize>load<u32>(stem, 16);
  const length = load<u32>(stem, 20);
  if (length % <u32>(LINE - NEXT) == 0) {
    const line = <usize>load<u32>(state, 44);
    store<u32>(state, <u32>(line + LINE), 44);
    if (length == 0) store<u32>(stem, <u32>line, 12);
    else store<u32>(at, <u32>line);
    at = line;
  }
  store<u8>(at, byte);
  store<u32>(stem, <u32>(at + 1), 16);
  store<u32>(stem, length + 1, 20);
}

/** Copies the list of a stem to `out`, and returns its length. REQUIRES: there is room for 32 more bytes. */
export function copyStemList(state: usize, number: u32, out: usize): u32 {
  const stem = <usize>load<u32>(state, 40) + <usize>number * STEM;
  const length = load<u32>(stem, 20);
  let line = <usize>load<u32>(stem, 12);
  for (let at: usize = 0; at < <usize>length; at += LINE - NEXT) {
    v128.store(out + at, v128.load(line));
    v128.store(out + at, v128.load(line, 16), 16);
    line = <usize>load<u32>(line, LINE - NEXT);
  }
  return length;
}

/**
 * Reads a list. Returns the number of windows in all files that have a blob of the list, or -1 if the list violates the
 * format. `files` has the number of files (u32) of each blob, and blobs without files are ignored. If `best` is not 0,
 * raises the value of each of the other blobs at `best` (f32) to the worth of its windows, times `weight`. `scale` has a
 * factor (f32) for each blob, which depends on its length.
 */
export function readStemList(
  list: usize,
  end: usize,
  blobs: u32,
  files: usize,
  best: usize,
  scale: usize,
  weight: f32,
): i32 {
  let at = list;
  let next: u32 = 0;
  let sum: u32 = 0;
  while (at < end) {
    let byte: u32 = load<u8>(at++);
    let gap = byte & 0x7f;
    for (let shift: u32 = 7; byte > 0x7f; shift += 7) {
      if (at == end || shift > 28) return -1;
      byte = load<u8>(at++);
      gap |= (byte & 0x7f) << shift;
    }
    if (at == end || gap == 0 || gap > blobs - next) return -1;
    next += gap;
    const windows: u32 = load<u8>(at++);
    if (windows == 0) return -1;
    const blob = next - 1;
    const count = load<u32>(files + (<usize>blob << 2));
    if (count == 0) continue;
    sum += windows * count;
    if (best == 0) continue;
    const scaled = <f32>windows * load<f32>(scale + (<usize>blob << 2));
    const worth = (weight * scaled) / (scaled + 1);
    const place = best + (<usize>blob << 2);
    if (worth > load<f32>(place)) store<f32>(place, worth);
  }
  return <i32>sum;
}

/** Adds `share` times the values at `best` to those at `sums`, and sets the values at `best` to 0. */
export function addWorths(best: usize, sums: usize, blobs: u32, share: f32): void {
  const factor = f32x4.splat(share);
  const end = best + ((<usize>blobs + 3) >> 2 << 4);
  for (let at = best, to = sums; at < end; at += 16, to += 16) {
    v128.store(to, f32x4.add(v128.load(to), f32x4.mul(v128.load(at), factor)));
    v128.store(at, i32x4.splat(0));
  }
}

/**
 * Scores the names of files. `paths` has the paths one after another, and `starts` their offsets (u32). The name of a
 * path is its last component up to the first dot; if its only word is marked in `terms` as UNNAMED, it is the component
 * before. For each file of `among`, stores at `out` (f32, two a file) the share of the question that the name has, and
 * that share times the part of the name that the question has.
 *
 * `terms` has for each stem a u32 (the number of the term + 1 in the low half, UNNAMED in the high half) and an f32 (the
 * weight); stems from `stemCount` on have no term. `shares` has an f32 for each of the `termCount` terms. `values` has
 * room for an f32 for each term. Files whose names have a word without a stem yet get -1; `fresh` counts them. The
 * caller then stems the new words and calls again.
 */
const UNNAMED: u32 = 0x1_0000;

export function scoreNames(
  state: usize,
  paths: usize,
  starts: usize,
  fromFile: u32,
  toFile: u32,
  among: usize,
  terms: usize,
  shares: usize,
  termCount: u32,
  values: usize,
  stream: usize,
  out: usize,
  mostWords: u32,
  textsEnd: usize,
): u32 {
  const classes = <usize>load<u32>(state);
  const words = <usize>load<u32>(state, 12);
  let file = fromFile;
  for (; file < toFile; file++) {
    if (((load<u32>(among + ((<usize>file >> 5) << 2)) >> (file & 31)) & 1) == 0) continue;
    if (load<u32>(state, 16) + <u32>(MOST_LINE >> 1) > mostWords) break;
    if (<usize>load<u32>(state, 20) + MOST_LINE > textsEnd) break;
    const from = paths + <usize>load<u32>(starts + (<usize>file << 2));
    const to = paths + <usize>load<u32>(starts + (<usize>file << 2), 4);
    let name = lastComponent(from, to);
    let end = firstDot(name, to);
    let count = splitName(state, classes, name, end, stream);
    if (count == 1 && name > from) {
      const stem = load<u32>(words + <usize>load<u32>(stream) * WORD, 12);
      if (stem != NO_STEM && (load<u32>(terms + (<usize>stem << 3)) & UNNAMED) != 0) {
        end = name - 1;
        name = lastComponent(from, end);
        count = splitName(state, classes, name, end, stream);
      }
    }
    store<f32>(out + (<usize>file << 3), 0);
    store<f32>(out + (<usize>file << 3), 0, 4);
    if (count == 0) continue;
    memory.fill(values, 0, <usize>termCount << 2);
    let isKnown = true;
    for (let i: u32 = 0; i < count; i++) {
      const stem = load<u32>(words + <usize>load<u32>(stream + (<usize>i << 2)) * WORD, 12);
      if (stem == NO_STEM) {
        isKnown = false;
        break;
      }
      const term = load<u32>(terms + (<usize>stem << 3)) & 0xffff;
      if (term == 0) continue;
      const value = values + (<usize>(term - 1) << 2);
      const weight = load<f32>(terms + (<usize>stem << 3), 4);
      if (weight > load<f32>(value)) store<f32>(value, weight);
    }
    if (!isKnown) {
      store<f32>(out + (<usize>file << 3), -1);
      continue;
    }
    let share: f32 = 0;
    let hits: f32 = 0;
    for (let term: usize = 0; term < <usize>termCount; term++) {
      const weight = load<f32>(values + (term << 2));
      share += weight * load<f32>(shares + (term << 2));
      hits += weight;
    }
    store<f32>(out + (<usize>file << 3), share);
    store<f32>(out + (<usize>file << 3), share * min<f32>(1, hits / <f32>count), 4);
  }
  return file;
}

function lastComponent(from: usize, to: usize): usize {
  let at = to;
  while (at > from && load<u8>(at - 1) != 0x2f) at--;
  return at;
}

function firstDot(from: usize, to: usize): usize {
  for (let at = from + 1; at < to; at++) if (load<u8>(at) == 0x2e) return at;
  return to;
}

/** Splits a name of at most MOST_LINE bytes, and returns the number of its words. */
function splitName(state: usize, classes: usize, from: usize, to: usize, stream: usize): u32 {
  const end = min(to, from + (MOST_LINE >> 1));
  return <u32>((splitLine(state, classes, from, end, stream) - stream) >> 2);
}
