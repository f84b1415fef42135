/**
 * Encodes what the machines of a cluster send each other, as MessagePack. Typed arrays, maps and sets keep their types.
 * Only signed bytes are decoded. A stream is a sequence of frames: the length of a value in 4 bytes, little-endian, its
 * SHA-256, the signature of both (signature.ts), and the value.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { Packr } from "msgpackr";
import type { FrameSigner } from "./signature.ts";

const packr = new Packr({ structuredClone: true });

export const encode = (value: unknown): Uint8Array => packr.pack(value);

/** REQUIRES: encode() made the bytes, on a machine that knows the secret. */
export const decode = (bytes: Uint8Array): unknown => packr.unpack(bytes);

/** The longest call. Most of a long one are the repositories of its contexts. */
export const MOST_ASKED_BYTES = 64 * 2 ** 20;
/** The longest answer, and the longest frame of a stream. */
export const MOST_ANSWER_BYTES = 2 ** 29;

/** Returns all bytes of a body with their SHA-256, or undefined as soon as there are more than `most`. */
export async function bytesWithin(
  body: AsyncIterable<Uint8Array>,
  most: number,
): Promise<{ readonly bytes: Buffer; readonly digest: string } | undefined> {
  const pieces: Uint8Array[] = [];
  const hash = createHash("sha256"); // piece by piece, because a long body would block the caller's thread
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

/** Returns the frame of a value that encode() has made. */
export function frameOf(body: Uint8Array, sign: FrameSigner): Uint8Array {
  const frame = Buffer.allocUnsafe(START_BYTES + body.length);
  frame.writeUInt32LE(body.length);
  frame.set(sha256(body), LENGTH_BYTES);
  frame.set(sign(frame.subarray(0, HEAD_BYTES)), HEAD_BYTES);
  frame.set(body, START_BYTES);
  return frame;
}

/**
 * Yields the values of frames as their bytes arrive. Throws if a frame is not signed, before its body is waited for, or if
 * the last one is cut off.
 */
export async function* decodeFrames(
  bytes: AsyncIterable<Uint8Array>,
  sign: FrameSigner,
): AsyncGenerator<unknown> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let isChecked = false; // the start of the current frame
  let wanted = START_BYTES; // bytes of the current frame, as far as they are known
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
      yield decode(body);
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

const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();
