/**
 * Values between the machines of a cluster, as MessagePack. Typed arrays, maps and sets arrive as
 * what they were. Only bodies whose signature is right are decoded. A stream is a sequence of frames, each a
 * value with its length before it, in 4 bytes, little-endian.
 */

import { Packr } from "msgpackr";

const packr = new Packr({ structuredClone: true });

export const encode = (value: unknown): Uint8Array => packr.pack(value);

/** REQUIRES: the bytes are those of encode(), from a machine that knows the secret. */
export const decode = (bytes: Uint8Array): unknown => packr.unpack(bytes);

/** No call is longer; of one, sets of repositories of its contexts are the most. */
export const MOST_ASKED_BYTES = 64 * 2 ** 20;
/** No answer, and no frame of a stream, is longer. */
export const MOST_ANSWER_BYTES = 2 ** 29;

/** Returns all bytes of a body, or undefined as soon as there are more than `most`. */
export async function bytesWithin(
  body: AsyncIterable<Uint8Array>,
  most: number,
): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let left = most;
  for await (const piece of body) {
    left -= piece.length;
    if (left < 0) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const LENGTH_BYTES = 4;

export function encodeFrame(value: unknown): Uint8Array {
  const body = encode(value);
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + body.length);
  frame.writeUInt32LE(body.length);
  frame.set(body, LENGTH_BYTES);
  return frame;
}

/** Yields the values of frames as their bytes come. One that is cut off throws. */
export async function* decodeFrames(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let wanted = LENGTH_BYTES; // bytes of the frame that begins, as far as is known
  for await (const piece of bytes) {
    pieces.push(piece);
    held += piece.length;
    if (held < wanted) continue;
    let rest = Buffer.concat(pieces);
    for (;;) {
      wanted = LENGTH_BYTES + (rest.length < LENGTH_BYTES ? 0 : rest.readUInt32LE());
      if (wanted > MOST_ANSWER_BYTES) throw new Error("a frame is too long");
      if (rest.length < wanted || rest.length < LENGTH_BYTES) break;
      const frame = rest.subarray(LENGTH_BYTES, wanted);
      rest = rest.subarray(wanted);
      yield decode(frame);
    }
    pieces = [rest];
    held = rest.length;
  }
  if (held > 0) throw new Error("a frame is cut off");
}
