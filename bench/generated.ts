/**
 * Generates repositories from a seed. They have the same bytes on every machine and need no disk. To an index, their
 * text looks like code: it has words with a skewed distribution, indentation and comments. Every file begins with a
 * line that no other file has, so nothing is stored twice. Every repository contains one word that no other has:
 * needle_<number>_.
 */

export interface GeneratedFile {
  readonly path: string;
  readonly content: Uint8Array;
}

const POOL_BYTES = 8 << 20;
const WORDS = 20_000;
const LETTERS = "etaoinsrhldcumfpgwybvkxjqz";
const ENDINGS = [";", " {", ",", ") {", ");", " =", " +", " ->", "", "", ""];

/** Implements mulberry32, which returns numbers from 0 to 1. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Raises a number to a power. Another version of the runtime may round `**` differently. */
const square = (value: number) => value * value;

let pool: Buffer | undefined;

/** The lines from which files are cut. They are made once: 8 MiB in half a second. */
function makePool(): Buffer {
  const random = randomNumbers(1);
  const words = Array.from({ length: WORDS }, () => makeWord(random));
  // every twelfth word is the first one, and half of all words are among the first 1 250
  const word = () => words[Math.floor(WORDS * square(square(random())))] ?? "x";
  const lines: string[] = [];
  for (let bytes = 0; bytes < POOL_BYTES;) {
    const count = 1 + Math.floor(random() * 9);
    const indent = "  ".repeat(Math.floor(random() * 4));
    const ending = ENDINGS[Math.floor(random() * ENDINGS.length)] ?? "";
    const line = `${indent}${Array.from({ length: count }, word).join(" ")}${ending}\n`;
    lines.push(line);
    bytes += line.length;
  }
  return Buffer.from(lines.join(""));
}

function makeWord(random: () => number): string {
  const letter = () => LETTERS[Math.floor(square(random()) * LETTERS.length)] ?? "e";
  const part = () => Array.from({ length: 2 + Math.floor(random() * 7) }, letter).join("");
  const parts = Array.from({ length: 1 + Math.floor(random() * 2.5) }, part);
  return random() < 0.1 ? parts.join("_").toUpperCase() : parts.join("_");
}

/** Makes the lines now, so that the first file does not have to wait for them. */
export function preparePool(): void {
  pool ??= makePool();
}

/** Returns the files of repository `number`, about `bytes` in total. */
export function* generatedFiles(number: number, bytes: number): Generator<GeneratedFile> {
  pool ??= makePool();
  const random = randomNumbers(number + 1000);
  for (let file = 0, left = bytes; left > 0; file++) {
    const length = Math.min(left, 500 + Math.floor(square(random()) * 30_000));
    const from = Math.floor(random() * (pool.length - length));
    const needle = file === 0 ? ` needle_${number}_` : "";
    const head = Buffer.from(`// repository ${number}, file ${file}${needle}\n`);
    const content = Buffer.concat([head, pool.subarray(from, from + length), Buffer.from("\n")]);
    left -= content.length;
    yield { path: `src/part_${file % 10}/file_${file}.c`, content };
  }
}
