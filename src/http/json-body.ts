/**
 * Writes JSON in pieces. JSON.stringify() of 100 000 ranges blocks a host's event loop for about 90 ms. Here, a value
 * is written in one step only if it contains no list and no long text; all other values are written in slices. This
 * takes about twice the time in total, but in steps of about 0.5 ms. Pieces are made only when the reader asks for
 * them.
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
  /** Called repeatedly while a long answer is sent. Rejects if the answer must break off. */
  readonly confirm?: () => Promise<void>;
  /** Called with the reader of a long answer when the answer first waits for it. */
  readonly onReader?: (reader: Reader) => void;
  readonly stalledMs?: number;
}

/**
 * Makes the response of a value. A response of one piece has a Content-Length. A longer response is streamed. A
 * streamed response keeps the value in memory, so it is cut off if nobody reads for a minute.
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

/** Makes a response whose pieces are made as they are read. If one piece fails, the response breaks off. */
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
        const piece = bytes.subarray(0, PIECE); // a file's content may be longer
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
 * Yields parts that, joined, are jsonText(value). REQUIRES: plain data. Keeps its own stack, because with `yield*` each
 * part would pass through every level of a value. A tree of folders may be as deep as the longest path.
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

/** A piece of JSON, or a value whose pieces come next. */
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

const SLICE = 256; // how many items without lists, such as ranges, are written at once: 20 KB, 0.1 ms
const FIRST_SLICE = 16;

/**
 * Yields the items of a list one by one if the first item contains a list, and otherwise in slices. Slices are correct
 * for any items; they only take longer if later items are large. The number of items in a slice is adapted to the
 * length of the last slice, because paths may have 4 KB each.
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
    // half of a surrogate pair alone would be escaped
    const to = from + PIECE - (last >= 0xd800 && last < 0xdc00 ? 1 : 0);
    yield jsonText(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

/** Whether a list or a long text occurs in the value, its fields, or their fields. */
function isCut(value: unknown, depth = 2): boolean {
  if (isLong(value)) return true;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  return depth > 0 && Object.values(value).some((field) => isCut(field, depth - 1));
}
