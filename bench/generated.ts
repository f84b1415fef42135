/**
 * Repositories made of a seed: the same bytes on every machine, no disk needed. Their text looks
 * like code to an index: words of a skewed distribution, indentation, comments. Every file begins
 * with a line of its own, so nothing is stored twice, and every repository holds one word that no
 * other has: needle_<number>_.
 */

export interface GeneratedFile {
  readonly path: string;
  readonly content: Uint8Array;
}

const POOL_BYTES = 8 << 20;
const WORDS = 20_000;
const LETTERS = "etaoinsrhldcumfpgwybvkxjqz";
const ENDINGS = [";", " {", ",", ") {", ");", " =", " +", " ->", "", "", ""];

/** mulberry32: numbers from 0 to 1. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Not `**`, which may round otherwise in another version of the runtime. */
const square = (value: number) => value * value;

let pool: Buffer | undefined;

/** Lines that files are cut from. Made once: 8 MiB in half a second. */
function makePool(): Buffer {
  const random = randomNumbers(1);
  const words = Array.from({ length: WORDS }, () => makeWord(random));
  // the first word is every twelfth, half of all words are of the first 1 250
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

/** Makes now what the first file would wait for. */
export function preparePool(): void {
  pool ??= makePool();
}

/** The files of repository `number`, about `bytes` in all. */
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
