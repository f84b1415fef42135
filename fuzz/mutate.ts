/** Makes small changes to bytes, such as damage, mistakes and attacks would make. */

import type { Random } from "../test/regex/random.ts";

const MOST_CHANGES = 6;
const MOST_BYTES = 1 << 16;

/** Bytes that have a special meaning in formats. */
const TELLING = [0, 1, 9, 10, 13, 32, 34, 45, 46, 47, 58, 92, 0x7f, 0x80, 0xc0, 0xff];

type Change = (random: Random, bytes: Buffer, others: readonly Buffer[]) => Buffer;

const cut = (random: Random, bytes: Buffer): [from: number, to: number] => {
  const from = random(bytes.length + 1);
  return [from, Math.min(bytes.length, from + random(1 + random(64)))];
};

const spliced = (bytes: Buffer, [from, to]: [number, number], middle: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)]);

const here = (random: Random, bytes: Buffer): [number, number] => {
  const at = random(bytes.length + 1);
  return [at, at];
};

const CHANGES: readonly Change[] = [
  function flipBit(random, bytes) {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[random(copy.length)]! ^= 1 << random(8);
    return copy;
  },
  function setByte(random, bytes) {
    const copy = Buffer.from(bytes);
    const value = random(2) === 0 ? random(256) : TELLING[random(TELLING.length)]!;
    if (copy.length > 0) copy[random(copy.length)] = value;
    return copy;
  },
  function insertByte(random, bytes) {
    const value = TELLING[random(TELLING.length)]!;
    return spliced(bytes, here(random, bytes), Uint8Array.of(value));
  },
  function setNumber(random, bytes) {
    const copy = Buffer.from(bytes);
    const value = [0, 1, 0x7f, 0x80, 0xffff, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1][random(8)]!;
    if (copy.length >= 4) copy.writeUInt32LE(value, random(copy.length - 3));
    return copy;
  },
  (random, bytes) => spliced(bytes, cut(random, bytes), Buffer.alloc(0)),
  (random, bytes) => bytes.subarray(0, random(bytes.length + 1)),
  (random, bytes) => spliced(bytes, here(random, bytes), bytes.subarray(...cut(random, bytes))),
  function fromAnother(random, bytes, others) {
    const other = others[random(others.length)] ?? bytes;
    return spliced(bytes, cut(random, bytes), other.subarray(...cut(random, other)));
  },
  function repeat(random, bytes) {
    const piece = bytes.subarray(...cut(random, bytes));
    const pieces = Array.from({ length: 1 + random(40) }, () => piece);
    return spliced(bytes, here(random, bytes), Buffer.concat(pieces));
  },
];

export function mutate(random: Random, bytes: Buffer, others: readonly Buffer[]): Buffer {
  let out = bytes;
  for (let left = 1 + random(MOST_CHANGES); left > 0; left--)
    out = CHANGES[random(CHANGES.length)]!(random, out, others);
  return out.subarray(0, MOST_BYTES);
}

export function mutateSeed(random: Random, seeds: readonly Buffer[]): Buffer {
  return mutate(random, seeds[random(seeds.length)] ?? Buffer.alloc(0), seeds);
}
