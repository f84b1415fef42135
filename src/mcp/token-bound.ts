/**
 * Computes an upper bound for the number of tokens of a text, without the whole vocabulary of a tokenizer. The tokens
 * of an answer are counted with this bound.
 *
 * A byte-pair tokenizer cuts a text into pieces (words, numbers, punctuation, blanks). It begins with the bytes of
 * each piece, and joins neighbours to longer tokens, in the order of its vocabulary. Each token consists of two
 * tokens that come earlier in the vocabulary. If only the first part of a vocabulary is used for joining, the result
 * is an intermediate state of the tokenizer. This state has at least as many tokens as the final result.
 *
 * The table contains tokens of the tokenizers cl100k and o200k: all tokens of cl100k that are not ASCII, and the ASCII
 * tokens among the first 40 000 tokens of each. A text is counted with both vocabularies, and the larger count is the
 * bound. For code, the median count is 8 % too high. For these two tokenizers, the count is never too low. Pieces that
 * are not ASCII are counted with cl100k only. For nearly all of these pieces, cl100k gives more tokens than o200k; a
 * margin covers the rest. For these pieces, the bound is measured, not proven (test/mcp/budgets.long.test.ts).
 *
 * Both tokenizers cut ASCII text at nearly the same places. So ASCII text is cut by hand-written code into units that
 * end where both tokenizers end a piece, and the counts of each unit are cached. Other text is cut by the tokenizers'
 * own expressions, which takes three times as long.
 *
 * Loading the table takes about 60 ms, once, and 10 MB of memory. Counting takes about 20 ns per character for words
 * that were seen before.
 */

import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { packageFile } from "../base/package-file.ts";

/** The position of each token in its vocabulary. A key has one character for each byte of the token. */
type Ranks = ReadonlyMap<string, number>;

/**
 * A tokenizer. `pieces` matches the pieces into which it cuts a text. `ranks` says which neighbouring parts of a
 * piece it joins.
 */
interface Vocabulary {
  readonly pieces: RegExp;
  readonly ranks: Ranks;
  /** The number of tokens of each piece that was counted recently. */
  readonly known: Map<string, number>;
}

const CL100K =
  /'(?:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/giu;
const O200K =
  /[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'(?:s|t|re|ve|m|ll|d|S|T|RE|VE|M|LL|D))?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'(?:s|t|re|ve|m|ll|d|S|T|RE|VE|M|LL|D))?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu;

interface Vocabularies {
  readonly cl100k: Vocabulary;
  readonly o200k: Vocabulary;
}

let loaded: Vocabularies | undefined;

/** Reads the table that scripts/build-token-table.mjs writes; that script describes its format. */
function load(): Vocabularies {
  const bytes = brotliDecompressSync(readFileSync(packageFile("token-table.br")));
  const end = 4 + bytes.readUInt32LE(0);
  const vocabulary = (pieces: RegExp, list: Buffer): Vocabulary => ({
    pieces,
    ranks: ranksIn(list),
    known: new Map(),
  });
  return {
    cl100k: vocabulary(CL100K, bytes.subarray(4, end)),
    o200k: vocabulary(O200K, bytes.subarray(end + 4)),
  };
}

function ranksIn(list: Buffer): Ranks {
  const ranks = new Map<string, number>();
  const text = list.toString("latin1");
  for (let at = 0; at < list.length;) {
    const end = at + 1 + list[at]!;
    ranks.set(text.slice(at + 1, end), ranks.size);
    at = end;
  }
  return ranks;
}

export const tokenBound = (text: string): number =>
  Math.max(...(countsByUnits(text) ?? countsByExpressions(text)));

type Counts = readonly [cl100k: number, o200k: number];

export function countsByExpressions(text: string): Counts {
  const { cl100k, o200k } = (loaded ??= load());
  let first = 0;
  for (const [piece] of text.matchAll(cl100k.pieces)) first += countPiece(piece, cl100k);
  let second = 0;
  for (const [piece] of text.matchAll(o200k.pieces))
    second += isAscii(piece)
      ? countPiece(piece, o200k)
      : withMargin(countPiece(piece, cl100k), piece);
  return [first, second];
}

/**
 * Adds a tenth to the count of a piece with Chinese or Japanese characters. If such characters are in random order,
 * o200k makes up to a tenth more tokens of them than cl100k.
 */
const withMargin = (count: number, piece: string): number =>
  /[\u3000-\u9fff]/.test(piece) ? count + Math.ceil(count / 10) : count;

function isAscii(piece: string): boolean {
  for (let i = 0; i < piece.length; i++) if (piece.charCodeAt(i) > 0x7f) return false;
  return true;
}

// ── units ──

const [LETTER, DIGIT, BLANK, OTHER] = [1, 2, 3, 4] as const;
/** The kind of each ASCII character, by the code of the character. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/i.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  return /\s/.test(character) ? BLANK : OTHER;
});
const SPACE = 0x20;
const APOSTROPHE = 0x27;
/** The character that marks where a line was cut. Both expressions treat it like ASCII punctuation. */
const ELLIPSIS = 0x2026;

/** Returns the kind of a character. Returns 0 after the end, and for characters that only the expressions handle. */
function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 128) return KINDS[code]!;
  return code === ELLIPSIS ? OTHER : 0;
}

/** The counts of each unit that was counted recently. The counts of both tokenizers take 16 bits each. */
const knownUnits = new Map<string, number>();

/**
 * Counts the tokens of one line of ASCII text, which may also contain ELLIPSIS. Returns undefined for any other text,
 * and if a unit has more than LONGEST characters.
 */
export function countsByUnits(text: string): Counts | undefined {
  const newline = text.indexOf("\n");
  if ((newline >= 0 && newline < text.length - 1) || text.includes("\r")) return undefined;
  let [first, second] = [0, 0];
  for (let at = 0; at < text.length;) {
    const end = endOfUnit(text, at);
    if (end === undefined || end - at > LONGEST) return undefined;
    const unit = text.slice(at, end);
    const known = knownUnits.get(unit) ?? countUnit(unit);
    first += known >> 16;
    second += known & 0xffff;
    at = end;
  }
  return [first, second];
}

/**
 * Returns the end of the unit that begins at `at`. Returns undefined if the character there has no kind (kindAt()). A
 * unit is one of these:
 *
 * - a word, optionally preceded by one non-letter, such as a space. If the word touches an apostrophe, the unit extends
 *   to the next blank or digit, because cl100k and o200k split `it's` in different ways
 * - up to three digits
 * - other characters, with an optional space before them and an optional newline after them
 * - blanks. If something else follows, the last blank does not belong to the unit
 */
function endOfUnit(text: string, at: number): number | undefined {
  const kind = kindAt(text, at);
  const next = kindAt(text, at + 1);
  let end = at + 1;
  if (kind === 0) return undefined;
  if (kind === DIGIT) {
    while (end < at + 3 && kindAt(text, end) === DIGIT) end++;
    return end;
  }
  if (kind === LETTER || next === LETTER) {
    while (kindAt(text, end) === LETTER) end++;
    const isTouched = text.charCodeAt(at) === APOSTROPHE || text.charCodeAt(end) === APOSTROPHE;
    if (!isTouched) return end;
    while (kindAt(text, end) === LETTER || kindAt(text, end) === OTHER) end++;
    return text[end] === "\n" ? end + 1 : end;
  }
  if (kind === OTHER || (text.charCodeAt(at) === SPACE && next === OTHER)) {
    while (kindAt(text, end) === OTHER) end++;
    return text[end] === "\n" ? end + 1 : end;
  }
  while (kindAt(text, end) === BLANK) end++;
  return end < text.length && end - at > 1 ? end - 1 : end;
}

function countUnit(unit: string): number {
  const [first, second] = unit.includes("'") ? countsByExpressions(unit) : countsOfWord(unit);
  const counts = (first << 16) | second;
  if (knownUnits.size >= MOST_KNOWN) knownUnits.clear();
  knownUnits.set(unit, counts);
  return counts;
}

/** Matches the pieces into which o200k cuts a word. */
const CAMEL = /[^A-Za-z]?(?:[A-Z]*[a-z]+|[A-Z]+)/g;

/**
 * Counts the tokens of a unit without apostrophes. The result is the same as with the expressions. Compiling the
 * expressions would take 10 ms.
 */
function countsOfWord(unit: string): Counts {
  const { cl100k, o200k } = (loaded ??= load());
  let second = 0;
  for (const piece of unit.match(CAMEL) ?? [unit])
    second += countPiece(piece, isAscii(piece) ? o200k : cl100k);
  return [countPiece(unit, cl100k), second];
}

// ── pieces ──

const MOST_KNOWN = 50_000;
/**
 * The maximum number of characters of a piece that is counted as a whole. A longer piece is cut, because joining
 * takes quadratic time. A cut can only add tokens, so the bound still holds.
 */
const LONGEST = 64;

function countPiece(piece: string, vocabulary: Vocabulary): number {
  if (piece.length <= LONGEST) return countShort(piece, vocabulary);
  let sum = 0;
  for (let at = 0; at < piece.length; at += LONGEST)
    sum += countShort(piece.slice(at, at + LONGEST), vocabulary);
  return sum;
}

function countShort(piece: string, { known, ranks }: Vocabulary): number {
  let count = known.get(piece);
  if (count !== undefined) return count;
  count = countJoined(Buffer.from(piece).toString("latin1"), ranks);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(piece, count);
  return count;
}

/**
 * Matches numbers of up to three digits. Each of them is one token in both vocabularies, even if the table lacks it.
 * So all cursors take the same number of tokens.
 */
const NUMBER = /^\d{1,3}$/;

/**
 * Joins neighbouring parts in the order of the vocabulary, until none can be joined. Returns the number of the parts.
 */
function countJoined(bytes: string, ranks: Ranks): number {
  if (bytes.length < 2 || ranks.has(bytes) || NUMBER.test(bytes)) return 1;
  const ends = Array.from(bytes, (_, i) => i + 1);
  const rankAt = (i: number): number =>
    i + 1 < ends.length
      ? (ranks.get(bytes.slice(i === 0 ? 0 : ends[i - 1], ends[i + 1])) ?? Infinity)
      : Infinity;
  const found = ends.map((_, i) => rankAt(i));
  for (;;) {
    let best = 0;
    for (let i = 1; i < found.length; i++) if (found[i]! < found[best]!) best = i;
    if (found[best] === Infinity) return ends.length;
    ends.splice(best, 1);
    found.splice(best, 1);
    found[best] = rankAt(best);
    if (best > 0) found[best - 1] = rankAt(best - 1);
  }
}
