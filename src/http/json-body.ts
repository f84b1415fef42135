/**
 * Writes JSON in pieces. JSON.stringify() of 100 000 ranges blocks the event loop for about 90 ms. Here, a value is
 * written in one step only if it contains no list and no long text. Any other value is written in slices. In total,
 * this takes about twice as long as JSON.stringify(), but each step takes only about 0.5 ms. A piece is created only
 * when the reader is ready for it.
 */

import { yieldTurn } from "../base/yield.ts";
import { jsonText } from "./json-text.ts";
import { STALLED_MS, stallAfter, type Reader } from "./stalled.ts";

const PIECE = 32 * 1024; // in UTF-16 units; about 0.3 ms of work

export interface AnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called once, when the value is no longer needed. */
  readonly onEnd?: () => void;
  /** Called repeatedly while a long response is sent. Rejects if the response must be cut off. */
  readonly confirm?: () => Promise<void>;
  /** Called with the reader of a long response when the response first waits for this reader. */
  readonly onReader?: (reader: Reader) => void;
  readonly stalledMs?: number;
}

/**
 * Creates a response whose body is a value as JSON. A body that fits into one piece is written immediately, so the
 * value is no longer needed. A longer body is streamed. It keeps the value in memory, so it is cut off if nobody reads
 * for a minute.
 */
export function jsonResponse(value: unknown, options: AnswerOptions = {}): Response {
  const { status = 200, onEnd = () => {} } = options;
  const pieces = gather(jsonParts(value));
  const first = pieces.next();
  const second = pieces.next();
  const headers = { ...options.headers, "Content-Type": "application/json" };
  const start = first.done ? "" : first.value;
  if (second.done && start.length <= 2 * PIECE) {
    onEnd();
    return new Response(start, { status, headers });
  }
  const ready = second.done ? [start] : [start, second.value];
  const body = streamOf(ready, inTurns(pieces), options);
  return new Response(body, { status, headers });
}

/** Creates a response whose pieces are created while it is read. If a piece fails, the response is cut off. */
export function lateResponse(pieces: AsyncIterator<string>, options: AnswerOptions): Response {
  const headers = { ...options.headers, "Content-Type": "application/json" };
  return new Response(streamOf([], inTurns(pieces), options), { headers });
}

interface Pieces {
  next(): Promise<string | undefined>;
}

function streamOf(
  ready: string[],
  rest: Pieces,
  options: AnswerOptions,
): ReadableStream<Uint8Array> {
  const { onEnd, onReader, stalledMs = STALLED_MS, confirm = async () => {} } = options;
  let bytes: Uint8Array = new Uint8Array(0);
  let ended = false;
  const end = (): void => {
    stall.stop();
    if (!ended) onEnd?.();
    ended = true;
  };
  const stall = stallAfter({ ms: stalledMs, leave: end, confirm, onReader });
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => stall.wait(controller, 0),
      async pull(controller) {
        stall.stop();
        try {
          if (bytes.length === 0) bytes = encoder.encode(ready.shift() ?? (await rest.next()));
          if (!ended) await stall.confirm();
        } catch (reason) {
          if (ended) return;
          end();
          throw reason;
        }
        if (ended) return;
        if (bytes.length === 0) {
          end();
          return controller.close();
        }
        const piece = bytes.subarray(0, PIECE); // the content of a file may be longer than a piece
        controller.enqueue(piece);
        bytes = bytes.subarray(PIECE);
        stall.wait(controller, piece.length);
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

const encoder = new TextEncoder();

/** Yields to the event loop before each piece. */
const inTurns = (pieces: Iterator<string> | AsyncIterator<string>): Pieces => ({
  async next() {
    await yieldTurn();
    const { done, value } = await pieces.next();
    return done ? undefined : value;
  },
});

export function* gather(parts: Iterable<string>): Generator<string, undefined> {
  let piece = "";
  for (const part of parts) {
    piece += part;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/**
 * Yields the parts of jsonText(value), in order. REQUIRES: plain data. The function keeps its own stack, because with
 * `yield*` each part would pass through all levels of the value. A tree of folders may be as deep as the longest
 * path.
 */
export function* jsonParts(value: unknown): Generator<string, undefined> {
  const open = [partsOf(value)];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { done, value: part } = top.next();
    if (done) open.pop();
    else if (typeof part === "string") yield part;
    else open.push(partsOf(part.inner));
  }
}

/** A piece of JSON, or an inner value whose pieces come next. */
type Part = string | { readonly inner: unknown };

function* partsOf(value: unknown): Generator<Part, undefined> {
  if (isLong(value)) {
    yield* stringParts(value);
  } else if (!isCut(value)) {
    yield jsonText(value);
  } else if (Array.isArray(value)) {
    yield* listParts(value);
  } else {
    yield "{";
    let comma = "";
    for (const [name, field] of Object.entries(value as object)) {
      if (field === undefined) continue;
      yield `${comma}${jsonText(name)}:`;
      yield { inner: field };
      comma = ",";
    }
    yield "}";
  }
}

const SLICE = 256; // the number of items without lists, such as ranges, that are written at once: 20 KB, 0.1 ms
const FIRST_SLICE = 16;

/**
 * Yields the items of a list one by one if the first item contains a list, and otherwise in slices. Slices are
 * correct for any items, but writing a slice takes longer if later items are large. The number of items in a slice
 * depends on the length of the previous slice, because paths may have 4 KB each.
 */
function* listParts(list: readonly unknown[]): Generator<Part, undefined> {
  const isOneByOne = isCut(list[0]);
  for (let [n, step] = [0, isOneByOne ? 1 : FIRST_SLICE]; n < list.length;) {
    yield n === 0 ? "[" : ",";
    if (isOneByOne) yield { inner: list[n++] ?? null };
    else {
      const text = jsonText(list.slice(n, n + step)).slice(1, -1);
      yield text;
      n += step;
      step = Math.min(SLICE, Math.max(1, Math.floor((step * PIECE) / text.length)));
    }
  }
  yield "]";
}

const isLong = (value: unknown): value is string =>
  typeof value === "string" && value.length > PIECE;

/** Writes a text of any length, such as a file's content. */
function* stringParts(text: string): Generator<string, undefined> {
  yield '"';
  for (let from = 0; from < text.length;) {
    const last = text.charCodeAt(from + PIECE - 1);
    // JSON.stringify() would escape one half of a surrogate pair
    const to = from + PIECE - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
    yield jsonText(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

/** Whether the value contains a non-empty list or a long text, at most two levels of fields deep. */
function isCut(value: unknown, depth = 2): boolean {
  if (isLong(value)) return true;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  return depth > 0 && Object.values(value).some((field) => isCut(field, depth - 1));
}
