/** Decodes bytes to text, either at once or in slices with yields between them. */

import type { Pause } from "./yield.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes UTF-8. Invalid bytes become U+FFFD; a BOM is kept. */
export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes);

/** The number of bytes that are decoded between two pauses, which takes half a millisecond. */
const DECODED_BYTES = 512 * 1024;

/** Decodes a text of any length, and pauses between its pieces. */
export async function decodeInSlices(bytes: Uint8Array, pause: Pause): Promise<string> {
  let text = "";
  for (let from = 0; from < bytes.length;) {
    const to = boundary(bytes, from + DECODED_BYTES);
    text += decodeText(bytes.subarray(from, to));
    from = to;
    await pause();
  }
  return text;
}

/** Returns the last character boundary that is not after `at`. The boundary is at most three bytes before `at`. */
function boundary(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) return bytes.length;
  for (let back = 0; back <= 3; back++) if ((bytes[at - back]! & 0xc0) !== 0x80) return at - back;
  return at; // a fourth continuation byte is invalid
}
