/**
 * Packs the paths of a repository into one value of an answer. Each path is in UTF-8 and ends with a zero byte.
 * Decoding a list of 100 000 strings would block a front for about 20 ms. Packed paths are written and read in short
 * steps.
 */

import type { Pause } from "../../base/yield.ts";

const PATHS_A_STEP = 1_000; // takes about 0.3 ms

export async function packPaths(paths: readonly string[], pause: Pause): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from = 0; from < paths.length; from += PATHS_A_STEP) {
    const step = paths.slice(from, from + PATHS_A_STEP);
    parts.push(Buffer.from(step.map((path) => `${path}\0`).join("")));
    await pause();
  }
  return Buffer.concat(parts);
}

/** Appends the packed paths to `out`. */
export async function unpackPaths(packed: Uint8Array, out: string[], pause: Pause): Promise<void> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  for (let from = 0, end = 0; (end = bytes.indexOf(0, from)) >= 0; from = end + 1) {
    out.push(bytes.toString("utf8", from, end));
    if (out.length % PATHS_A_STEP === 0) await pause();
  }
}
