/** Lines, columns and chunks of a file's bytes, computed in the simplest way. */

import type { CheckedRequest } from "../../src/search/messages/request.ts";
import type { Chunk, Position, Range, ResultSymbol } from "../../src/search/messages/response.ts";
import { slowEnclosing } from "../base/definition-body-twin.ts";
import type { CorpusSymbol } from "./corpus.ts";
import type { Span } from "./re2.ts";

const NEWLINE = 10;
/** A line of more bytes than this, without its newline, is shown in windows. */
const LONG_LINE = 4096;
/** The bytes that a window shows on each side of a match in a long line. */
const WINDOW = 256;

/** Decodes UTF-8. Invalid bytes become U+FFFD; a BOM stays. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

export function rangeOf(bytes: Uint8Array, span: Span): Range {
  return {
    start: positionOf(bytes, span.start, span.start),
    end: positionOf(bytes, span.end, lastByteOf(span)),
  };
}

/** Returns the position of `offset`, counted from the line that contains `witness`. */
function positionOf(bytes: Uint8Array, offset: number, witness: number): Position {
  const { lineStarts, characters } = layoutOf(bytes);
  const line = lineStarts.findLastIndex((start) => start <= witness);
  const column = characters[offset]! - characters[lineStarts[line]!]! + 1;
  return { byteOffset: offset, lineNumber: line + 1, column };
}

interface Layout {
  readonly lineStarts: number[];
  /** The number of characters in the bytes before each offset. */
  readonly characters: number[];
}

/** Cached for each content, because an expression can match at every byte. */
const LAYOUTS = new WeakMap<Uint8Array, Layout>();

export function layoutOf(bytes: Uint8Array): Layout {
  const known = LAYOUTS.get(bytes);
  if (known !== undefined) return known;
  const layout: Layout = { lineStarts: [0], characters: [0] };
  let begin = 0; // the start of the byte's character; the text between two starts is decoded separately
  for (const [at, byte] of bytes.entries()) {
    if (!isContinuation(byte)) begin = at;
    const piece = Array.from(decode(bytes.subarray(begin, at + 1))).length;
    layout.characters.push(layout.characters[begin]! + piece);
    if (byte === NEWLINE) layout.lineStarts.push(at + 1);
  }
  LAYOUTS.set(bytes, layout);
  return layout;
}

function startOfLine(bytes: Uint8Array, offset: number): number {
  return offset === 0 ? 0 : bytes.lastIndexOf(NEWLINE, offset - 1) + 1;
}

/** Returns the end of the line, after its newline if it has one. */
function endOfLine(bytes: Uint8Array, offset: number): number {
  const newline = bytes.indexOf(NEWLINE, offset);
  return newline === -1 ? bytes.length : newline + 1;
}

function isLong(bytes: Uint8Array, lineStart: number, lineEnd: number): boolean {
  return lineEnd - lineStart - (bytes[lineEnd - 1] === NEWLINE ? 1 : 0) > LONG_LINE;
}

/**
 * Returns the chunk for one match: its lines and `contextLines` more on each side. Of a long line, WINDOW bytes on
 * each side are shown. If these do not reach the line's end, nothing beyond it is shown.
 */
function windowOf(bytes: Uint8Array, span: Span, contextLines: number): Span {
  return {
    start: windowStart(bytes, span, contextLines),
    end: windowEnd(bytes, span, contextLines),
  };
}

function windowStart(bytes: Uint8Array, span: Span, contextLines: number): number {
  let start = span.start;
  for (let line = 0; line <= contextLines; line++) {
    if (line > 0 && start === 0) break;
    const from = startOfLine(bytes, line === 0 ? start : start - 1);
    if (isLong(bytes, from, endOfLine(bytes, from)) && start - from > WINDOW)
      return characterStart(bytes, start - WINDOW, from);
    start = from;
  }
  return start;
}

function windowEnd(bytes: Uint8Array, span: Span, contextLines: number): number {
  let end = span.end;
  for (let line = 0; line <= contextLines; line++) {
    if (line > 0 && end === bytes.length) break;
    const inside = line === 0 ? lastByteOf(span) : end;
    const to = endOfLine(bytes, inside);
    if (isLong(bytes, startOfLine(bytes, inside), to) && to - end > WINDOW)
      return characterEnd(bytes, end + WINDOW, to);
    end = to;
  }
  return end;
}

/** Returns the byte whose line is that of the span's end. */
function lastByteOf(span: Span): number {
  return span.end > span.start ? span.end - 1 : span.start;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** Returns the start of the character that contains the byte at `at`, at most three bytes back. */
function characterStart(bytes: Uint8Array, at: number, least: number): number {
  for (let back = 0; back < 3 && at > least && isContinuation(bytes[at]); back++) at--;
  return at;
}

/** Returns the end of the character that contains the byte before `at`, at most three bytes on. */
function characterEnd(bytes: Uint8Array, at: number, most: number): number {
  for (let on = 0; on < 3 && at < most && isContinuation(bytes[at]); on++) at++;
  return at;
}

export interface ChunkedFile {
  readonly bytes: Uint8Array;
  readonly symbols?: readonly CorpusSymbol[];
}

/** Returns the chunks that show these spans. REQUIRES: the spans are in order and do not overlap. */
export function chunksOf(
  file: ChunkedFile,
  spans: readonly Span[],
  { contextLines, enclosing }: Pick<CheckedRequest, "contextLines" | "enclosing">,
): Chunk[] {
  const groups: { start: number; end: number; spans: Span[] }[] = [];
  for (const span of spans) {
    const window = windowOf(file.bytes, span, contextLines);
    const last = groups.at(-1);
    if (last !== undefined && last.end > window.start) {
      last.end = Math.max(last.end, window.end);
      last.spans.push(span);
    } else groups.push({ ...window, spans: [span] });
  }
  return groups.map((group) => ({
    content: decode(file.bytes.subarray(group.start, group.end)),
    contentStart: positionOf(file.bytes, group.start, group.start),
    matchRanges: group.spans.map((span) => rangeOf(file.bytes, span)),
    ...symbolsOf(file.symbols ?? [], group.spans),
    ...(enclosing && { enclosing: group.spans.map((span) => enclosingOf(file, span)) }),
  }));
}

function enclosingOf({ bytes, symbols = [] }: ChunkedFile, { start }: Span): ResultSymbol | null {
  const text = Buffer.from(bytes).toString("latin1");
  const sorted = symbols.toSorted((a, b) => a.start - b.start);
  const { lineNumber } = positionOf(bytes, start, start);
  const around = slowEnclosing(
    text,
    sorted.map((one) => one.start),
    lineNumber,
  );
  return around < 0 ? null : resultSymbol(sorted[around]!);
}

function symbolsOf(
  symbols: readonly CorpusSymbol[],
  spans: readonly Span[],
): Pick<Chunk, "symbols"> {
  const found = spans.flatMap((span) => {
    const symbol = symbols.find((each) => each.start <= span.start && span.end <= each.end);
    if (symbol === undefined) return [];
    return [resultSymbol(symbol)];
  });
  return found.length === 0 ? {} : { symbols: found };
}

const resultSymbol = ({ name, kind, parent }: CorpusSymbol): ResultSymbol => ({
  symbol: name,
  kind,
  ...(parent === undefined ? {} : { parent }),
});
