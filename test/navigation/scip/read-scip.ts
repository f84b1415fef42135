/**
 * Reads a SCIP index from a stream, one document at a time. An index is a protobuf message whose fields are its metadata,
 * its documents, and the symbols of other packages. Only one field is held at a time, so the memory is bounded by the
 * largest document and not by the index.
 */

import {
  encodingOf,
  readDocument,
  readSymbol,
  SCIP_LIMITS,
  type ScipDocument,
  type ScipEncoding,
  type ScipLimits,
  type ScipSymbol,
} from "./scip-document.ts";
import { BYTES, damaged, Message } from "./wire.ts";

export interface ScipMetadata {
  /** The address of the folder to which all paths are relative. */
  readonly root: string;
  readonly tool: string;
  readonly version: string;
  readonly encoding: ScipEncoding;
}

export type ScipPart =
  | { readonly is: "metadata"; readonly metadata: ScipMetadata }
  /** `offset` is the offset of the document in the file, in bytes. */
  | { readonly is: "document"; readonly document: ScipDocument; readonly offset: number }
  | { readonly is: "external"; readonly symbol: ScipSymbol };

/** A tag and a length take at most this many bytes. */
const MAX_HEAD = 20;
const FIELD = { metadata: 1, document: 2, external: 3 } as const;

/** Yields the parts of an index. Throws INVALID_REQUEST with the offset of the damage if the index is damaged. */
export async function* readScip(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limits: ScipLimits = SCIP_LIMITS,
): AsyncGenerator<ScipPart> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let wanted = 1;
  let offset = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < wanted) continue;
    const bytes = held.length === 1 ? held[0]! : Buffer.concat(held, heldBytes);
    let at = 0;
    for (;;) {
      const field = fieldAt(bytes, at, { offset, limits });
      if (typeof field === "number") {
        wanted = field;
        break;
      }
      const part = partOf(field, bytes, offset, limits);
      if (part) yield part;
      at = field.end;
    }
    offset += at;
    held = at === bytes.length ? [] : [bytes.subarray(at)];
    heldBytes = bytes.length - at;
  }
  if (heldBytes > 0) throw damaged("the file is cut off", offset + heldBytes);
}

interface Field {
  readonly number: number;
  readonly wire: number;
  readonly start: number;
  readonly end: number;
}

/** Returns the field at a position, or the number of bytes from there on that are needed to read it. */
function fieldAt(
  bytes: Uint8Array,
  at: number,
  { offset, limits }: { readonly offset: number; readonly limits: ScipLimits },
): Field | number {
  const left = bytes.length - at;
  if (!isHeadWhole(bytes, at)) return left + 1;
  const head = new Message(bytes, { base: offset, from: at });
  const tag = head.varint();
  const [number, wire] = [Math.floor(tag / 8), tag & 7];
  if (number === 0) head.fail("a field has the number 0");
  if (wire !== BYTES) {
    if (wire !== 0) head.fail(`wire type ${wire} at the top`);
    head.varint();
    return { number, wire, start: head.at, end: head.at };
  }
  const length = head.varint();
  if (length > limits.documentBytes)
    head.fail(`a part has ${length} bytes, which is more than ${limits.documentBytes}`);
  if (length > bytes.length - head.at) return head.at - at + length;
  return { number, wire, start: head.at, end: head.at + length };
}

/** Returns whether two numbers are complete at a position, or whether they are too long to be numbers. */
function isHeadWhole(bytes: Uint8Array, at: number): boolean {
  let numbers = 0;
  for (let i = at; i < bytes.length; i++) {
    if (bytes[i]! < 128 && ++numbers === 2) return true;
    if (i - at >= MAX_HEAD) return true;
  }
  return false;
}

function partOf(
  { number, wire, start, end }: Field,
  bytes: Uint8Array,
  offset: number,
  limits: ScipLimits,
): ScipPart | undefined {
  if (wire !== BYTES) return undefined;
  const message = new Message(bytes, { base: offset, from: start, end });
  switch (number) {
    case FIELD.metadata:
      return { is: "metadata", metadata: readMetadata(message, limits) };
    case FIELD.document:
      return { is: "document", document: readDocument(message, limits), offset: offset + start };
    case FIELD.external:
      return { is: "external", symbol: readSymbol(message, limits) };
    default:
      return undefined;
  }
}

function readMetadata(message: Message, limits: ScipLimits): ScipMetadata {
  let [root, tool, version, encoding] = ["", "", "", 0];
  while (message.hasMore) {
    const tag = message.varint();
    if (tag === 0x1a) root = message.text(limits.symbolBytes);
    else if (tag === 0x20) encoding = message.varint();
    else if (tag === 0x12) {
      const info = message.message();
      while (info.hasMore) {
        const field = info.varint();
        if (field === 0x0a) tool = info.text(limits.pathBytes);
        else if (field === 0x12) version = info.text(limits.pathBytes);
        else info.skip(field & 7);
      }
    } else message.skip(tag & 7);
  }
  // the encoding of the metadata is that of embedded texts; documents name that of their positions
  return { root, tool, version, encoding: encodingOf(encoding) };
}
