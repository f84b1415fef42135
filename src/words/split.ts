/**
 * Splits text into words, for questions, paths and names. An identifier such as `parseHTTPRequest2_all` consists of
 * `parse`, `http`, `request`, `2` and `all`. Long texts are split by the kernel (kernel/assembly/words.ts), which follows
 * the same rules; a test compares the two.
 *
 * - A word is a run of lower-case letters, of capitals, of a capital and lower-case letters, or of digits.
 * - In a run of capitals before a lower-case letter, the last capital begins the next word (`HTTPServer`), unless the
 *   letter is a plural `s` at the end of the identifier (`URLs`).
 * - Bytes beyond ASCII count as lower-case letters.
 * - Words are compared regardless of the case of ASCII letters.
 */

/** The classes of bytes that the rules distinguish. */
const BYTE_CLASS = { OTHER: 0, LOWER: 1, UPPER: 2, DIGIT: 3 } as const;

const { OTHER, LOWER, UPPER, DIGIT } = BYTE_CLASS;

/** The class of each byte. */
export const WORD_CLASSES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if ((byte >= 97 && byte <= 122) || byte >= 128) return LOWER;
  if (byte >= 65 && byte <= 90) return UPPER;
  return byte >= 48 && byte <= 57 ? DIGIT : OTHER;
});

/** The maximum length of a word in bytes. A longer run is a hash, a key or encoded data, and is ignored. */
const MAX_WORD_BYTES = 32;

/** Returns the words of a text in lower case, in order. */
export function wordsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const words: string[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = wordEnd(bytes, from);
    if (to > from && to - from <= MAX_WORD_BYTES) words.push(lowered(bytes, from, to));
    from = Math.max(to, from + 1);
  }
  return words;
}

/** Returns the end of the word that begins at `from`, or `from` if no word begins there. */
function wordEnd(bytes: Uint8Array, from: number): number {
  const kind = WORD_CLASSES[bytes[from]!]!;
  if (kind === OTHER) return from;
  const end = runEnd(bytes, from, kind);
  if (kind !== UPPER || !isOf(bytes, end, LOWER)) return end;
  if (end - from === 1) return runEnd(bytes, end, LOWER);
  const isPlural = bytes[end] === 0x73 && !isOf(bytes, end + 1, LOWER);
  return isPlural ? end + 1 : end - 1;
}

function runEnd(bytes: Uint8Array, from: number, kind: number): number {
  let to = from;
  while (isOf(bytes, to, kind)) to++;
  return to;
}

const isOf = (bytes: Uint8Array, at: number, kind: number): boolean =>
  at < bytes.length && WORD_CLASSES[bytes[at]!] === kind;

/** Returns a range of bytes as text, with ASCII letters in lower case. */
function lowered(bytes: Buffer, from: number, to: number): string {
  return bytes.toString("utf8", from, to).replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
