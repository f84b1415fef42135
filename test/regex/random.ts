/** Random patterns and texts that are small and difficult. The same seed gives the same ones. */

export type Random = (below: number) => number;

/** mulberry32 */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;

const ATOMS = [
  ["a", "b", "ab", "foo", "x", "k", "K", "1", "_", "-", "é", "ſ", "€", "σ", "\\n", "\\x{10ffff}"],
  [".", "[ab]", "[^a]", "[^é]", "[a-k]", "[^\\n]", "[é-ſ]", "(?s:.)", "\\C", ""],
  [
    "\\w",
    "\\W",
    "\\s",
    "\\d",
    "\\p{Zs}",
    "\\P{Greek}",
    "\\p{Greek}",
    "[[:alpha:]]",
    "(?i:k)",
    "\\Q.*\\E",
  ],
  ["^", "$", "\\b", "\\B", "\\A", "\\z", "(?-m:^)", "(?-m:$)"],
].flat();
const REPETITIONS = [
  "*",
  "+",
  "?",
  "*?",
  "+?",
  "??",
  "{2}",
  "{0,2}",
  "{1,}",
  "{2,3}?",
  "{2,}",
  "{0}",
];
const FLAGS = ["i", "s", "U", "-m", "i-s", "m", "-i"];

export function randomPattern(random: Random, depth = 4): string {
  const kind = depth <= 0 ? 0 : random(10);
  const part = () => randomPattern(random, depth - 1);
  if (kind < 3) return pick(random, ATOMS);
  if (kind < 6) return part() + part();
  if (kind < 7) return `(${part()}|${part()})`;
  if (kind < 8) return `(?:${part()})${pick(random, REPETITIONS)}`;
  if (kind < 9) return `(${part()})${pick(random, REPETITIONS)}`;
  return `(?${pick(random, FLAGS)}:${part()})`;
}

const SYNTAX = [
  ["a", "(", ")", "[", "]", "{", "}", "|", "*", "+", "?", "\\", "^", "$", ".", "-", ",", ":", "="],
  [
    "0",
    "1",
    "9",
    "x",
    "p",
    "P",
    "L",
    "<",
    ">",
    "!",
    "i",
    "s",
    "Q",
    "E",
    "d",
    "é",
    "{2,3}",
    "(?P<n>",
  ],
  [
    "[[:alpha:]]",
    "\\pN",
    "\\p{Greek}",
    "\\x{41}",
    "(?i)",
    "(?:",
    "[^",
    "[a-",
    "\\1",
    "{1001}",
    "\n",
  ],
  [
    "(?P<n>a)",
    "(?P=",
    "(?U",
    "[:foo:]",
    "\\p{",
    "\\x{",
    "\\Q",
    "\\E",
    "[z-",
    "&&",
    "\\C",
    "\\z",
    "😀",
  ],
].flat();

/** Returns strings that are hardly ever valid patterns, to test the verdict. */
export function randomSyntax(random: Random): string {
  let text = "";
  for (let length = 1 + random(7); length > 0; length--) text += pick(random, SYNTAX);
  return text;
}

const PIECES: readonly Uint8Array[] = [
  ["a", "b", "x", "k", "K", "1", "_", "-", "f", "o", " ", "\n", "\0", ".", "*", "ab", "foo"],
  ["é", "ſ", "σ", "α", "€", "\u212a", "😀", "\u{10ffff}"],
]
  .flat()
  .map((text) => Buffer.from(text))
  .concat(
    ["ff", "c3", "80", "e282", "f09f", "c080", "e08080", "eda080", "f4bfbfbf"].map((hex) =>
      Buffer.from(hex, "hex"),
    ),
  );

export function randomText(random: Random): Uint8Array {
  const bytes: number[] = [];
  for (let length = random(14); length > 0; length--) bytes.push(...pick(random, PIECES));
  return Uint8Array.from(bytes);
}
