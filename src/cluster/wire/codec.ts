/**
 * Encodes the messages between machines of a cluster as MessagePack. Typed arrays, maps and sets keep their types.
 * Only signed bytes are decoded. A stream is a sequence of frames. A frame consists of the length of a value in 4
 * bytes, little-endian, the SHA-256 of the value, the signature of both (signature.ts), and the value.
 */

import { createHash, hash, timingSafeEqual } from "node:crypto";
import { Packr } from "msgpackr";
import { newPause } from "../../base/yield.ts";
import type { FrameSigner } from "./signature.ts";
import { hasMoreValues } from "./value-count.ts";

const packr = new Packr({ structuredClone: true });

export const encode = (value: unknown): Uint8Array => packr.pack(value);

/** Decodes a value. REQUIRES: the bytes come from encode(), on a machine that knows the secret. */
export const decode = (bytes: Uint8Array): unknown => packr.unpack(bytes);

/**
 * The maximum number of values of a call, an answer or a frame of a stream. An answer with 100 000 matches has two
 * million.
 */
const MOST_VALUES = 5_000_000;

/** Decodes a value. Rejects if it consists of more than MOST_VALUES values. REQUIRES: as for decode(). */
export async function decodeBounded(bytes: Uint8Array): Promise<unknown> {
  if (await hasMoreValues(bytes, MOST_VALUES, newPause()))
    throw new Error(`there are more than ${MOST_VALUES} values`);
  return decode(bytes);
}

/**
 * The maximum number of bytes of a call. A long call consists mostly of the names of the repositories in its
 * contexts.
 */
export const MOST_ASKED_BYTES = 64 * 2 ** 20;
/** The maximum number of bytes of an answer, or of a frame of a stream. */
export const MOST_ANSWER_BYTES = 2 ** 29;

/** Reads a whole body and computes its SHA-256. Resolves to undefined as soon as the body exceeds `most` bytes. */
export async function bytesWithin(
  body: AsyncIterable<Uint8Array>,
  most: number,
): Promise<{ readonly bytes: Buffer; readonly digest: string } | undefined> {
  const pieces: Uint8Array[] = [];
  // hashes piece by piece, because hashing a long body at once would block the calling thread
  const hash = createHash("sha256");
  let left = most;
  for await (const piece of body) {
    left -= piece.length;
    if (left < 0) return undefined;
    pieces.push(piece);
    hash.update(piece);
  }
  return { bytes: Buffer.concat(pieces), digest: hash.digest("hex") };
}

const LENGTH_BYTES = 4;
const DIGEST_BYTES = 32;
const HEAD_BYTES = LENGTH_BYTES + DIGEST_BYTES;
const SIGNATURE_BYTES = 32;
const START_BYTES = HEAD_BYTES + SIGNATURE_BYTES;

/** Returns the frame of an encoded value. */
export function frameOf(body: Uint8Array, sign: FrameSigner): Uint8Array {
  const frame = Buffer.allocUnsafe(START_BYTES + body.length);
  frame.writeUInt32LE(body.length);
  frame.set(sha256(body), LENGTH_BYTES);
  frame.set(sign(frame.subarray(0, HEAD_BYTES)), HEAD_BYTES);
  frame.set(body, START_BYTES);
  return frame;
}

/**
 * Yields the values of frames as their bytes arrive. Throws if the last frame is cut off, or if a frame has no valid
 * signature. The signature of a frame is checked before the rest of the frame is awaited.
 */
export async function* decodeFrames(
  bytes: AsyncIterable<Uint8Array>,
  sign: FrameSigner,
): AsyncGenerator<unknown> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let isChecked = false; // whether the start of the current frame has been checked
  let wanted = START_BYTES; // how many bytes the current frame has, as far as is known
  for await (const piece of bytes) {
    pieces.push(piece);
    held += piece.length;
    if (held < wanted) continue;
    let rest = Buffer.concat(pieces);
    for (; rest.length >= wanted; isChecked = !isChecked) {
      if (!isChecked) {
        checkStart(rest, sign);
        wanted = START_BYTES + rest.readUInt32LE();
        continue;
      }
      const body = rest.subarray(START_BYTES, wanted);
      if (!sha256(body).equals(rest.subarray(LENGTH_BYTES, HEAD_BYTES)))
        throw new Error("a frame is not what was signed");
      rest = rest.subarray(wanted);
      wanted = START_BYTES;
      yield await decodeBounded(body);
    }
    pieces = [rest];
    held = rest.length;
  }
  if (held > 0) throw new Error("a frame is cut off");
}

function checkStart(start: Buffer, sign: FrameSigner): void {
  const right = sign(start.subarray(0, HEAD_BYTES));
  if (!timingSafeEqual(right, start.subarray(HEAD_BYTES, START_BYTES)))
    throw new Error("a frame is not signed");
  if (start.readUInt32LE() > MOST_ANSWER_BYTES) throw new Error("a frame is too long");
}

const sha256 = (bytes: Uint8Array): Buffer => hash("sha256", bytes, "buffer");
