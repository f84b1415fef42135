/**
 * Computes the numbers of grams, by which posting lists are looked up. The numbers are those that assembly/grams.ts
 * computes.
 */

const ASCII_CLASSES = 38;
const CLASSES = 166;
/** The number of grams that consist of ASCII. These grams have the lowest numbers. */
export const ASCII_GRAMS = ASCII_CLASSES ** 3;

/** Greater than the number of every gram. */
export const GRAM_LIMIT = ASCII_GRAMS + CLASSES ** 3;

/** The class of each byte of folded text: 0 for ASCII other than [A-Za-z0-9_]. */
export const BYTE_CLASSES = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return ASCII_CLASSES + byte - 0x80;
  const char = String.fromCharCode(byte).toLowerCase();
  if (char >= "a" && char <= "z") return 1 + char.charCodeAt(0) - 97;
  if (char >= "0" && char <= "9") return 27 + byte - 48;
  return char === "_" ? 37 : 0;
});

export function gramNumber(b0: number, b1: number, b2: number): number {
  const [c0, c1, c2] = [BYTE_CLASSES[b0]!, BYTE_CLASSES[b1]!, BYTE_CLASSES[b2]!];
  if (Math.max(c0, c1, c2) < ASCII_CLASSES) return (c0 * ASCII_CLASSES + c1) * ASCII_CLASSES + c2;
  return ASCII_GRAMS + (c0 * CLASSES + c1) * CLASSES + c2;
}

/** Returns the classes of the three bytes of a gram. */
export function classesOf(gram: number): [number, number, number] {
  const [number, classes] =
    gram < ASCII_GRAMS ? [gram, ASCII_CLASSES] : [gram - ASCII_GRAMS, CLASSES];
  return [
    Math.floor(number / classes ** 2),
    Math.floor(number / classes) % classes,
    number % classes,
  ];
}

/**
 * Returns the numbers of the distinct grams in folded text, in ascending order. A text of fewer than three bytes has no
 * grams.
 */
export function gramsOf(folded: Uint8Array): number[] {
  const grams = new Set<number>();
  for (let i = 2; i < folded.length; i++)
    grams.add(gramNumber(folded[i - 2]!, folded[i - 1]!, folded[i]!));
  return [...grams].sort((a, b) => a - b);
}
