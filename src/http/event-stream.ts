/**
 * Sends the results of a search as server-sent events. An event is created only when the reader is ready for it, so a
 * slow reader slows down the search instead of filling memory. If the reader disconnects, or reads nothing for a
 * minute, the search ends.
 *
 *     data: {"type":"chunk",…}      one for each event of the search
 *     data: [DONE]                  after the last one; not after an error
 *
 * An error after the start is sent as an event {"type":"error","error":{…}}. A large event is sent in pieces. If the
 * caller loses access between two pieces of an event, the stream is cut off.
 */

import { newPause } from "../base/yield.ts";
import type { SearchEvent } from "../search/messages/response.ts";
import { gather, jsonParts } from "./json-body.ts";
import { jsonText } from "./json-text.ts";
import { errorBody, toRefusal, type Refusal } from "./refusal.ts";
import { STALLED_MS, stallAfter, type Reader } from "./stalled.ts";

export interface StreamOptions {
  /** Aborted when the reader has disconnected. */
  readonly abort: AbortController;
  /** Called before each event is sent. Rejects if the caller may no longer receive the event. */
  readonly confirm: () => Promise<void>;
  /** Called once when the stream ends. The argument is undefined after [DONE], and the refusal after an error. */
  readonly onEnd: (refusal: Refusal | undefined) => void;
  /** Called with the reader when the stream first waits for it. */
  readonly onReader?: (reader: Reader) => void;
  readonly stalledMs?: number;
}

/**
 * Returns the body of the response. REQUIRES: `first` is the first result of `events`. The caller awaits this result
 * before it sends a response, so that an immediate failure becomes an error response.
 */
export function eventStream(
  first: IteratorResult<SearchEvent>,
  events: AsyncIterator<SearchEvent>,
  options: StreamOptions,
): ReadableStream<Uint8Array> {
  const { abort, confirm, onEnd, onReader, stalledMs = STALLED_MS } = options;
  const pieces = piecesOf(first, events);
  let sent = 0; // bytes of the last piece
  let within = false; // whether only a part of an event has been sent
  let ended = false;

  const end = (thrown?: { error: unknown }): Refusal | undefined => {
    stall.stop();
    if (ended) return undefined;
    ended = true;
    abort.signal.removeEventListener("abort", onAbort);
    const refusal = thrown && toRefusal(thrown.error);
    onEnd(refusal);
    return refusal;
  };
  const stop = (): void => {
    abort.abort();
    void Promise.resolve(events.return?.()).catch(() => {}); // any later error comes from the abort
  };
  const leave = (error: unknown): void => (end({ error }), stop());
  const onAbort = (): void => leave(abort.signal.reason);
  const step = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const piece = await pieces.next();
    await (within ? stall.confirm() : confirm());
    controller.enqueue(piece);
    sent = piece.length;
    within = pieces.isWithin();
    if (!pieces.isOver()) return;
    end();
    controller.close();
  };

  const stall = stallAfter({ ms: stalledMs, leave, confirm, onReader });
  abort.signal.addEventListener("abort", onAbort);
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => stall.wait(controller, 0),
      async pull(controller) {
        stall.stop();
        if (ended) return controller.close();
        try {
          await step(controller);
        } catch (error) {
          const refusal = end({ error });
          if (refusal === undefined) return controller.close(); // the reader has already left
          if (within) throw (stop(), error); // another event cannot follow an unfinished one
          controller.enqueue(encode(jsonText({ type: "error", error: errorBody(refusal) })));
          controller.close();
          stop();
        }
        if (!ended) stall.wait(controller, sent);
      },
      cancel: onAbort,
    },
    { highWaterMark: 0 },
  );
}

const PIECE = 32 * 1024;

/**
 * Splits the events into pieces that are sent one at a time. A piece is an event or a part of a long event. Each
 * piece is created only when it is needed.
 */
function piecesOf(first: IteratorResult<SearchEvent>, events: AsyncIterator<SearchEvent>) {
  let ready: IteratorResult<SearchEvent> | undefined = first;
  let texts: Iterator<string, undefined> = gather([]);
  let text = texts.next();
  let rest: Uint8Array = new Uint8Array(0);
  let isLast = false;
  const pause = newPause();
  return {
    isWithin: () => rest.length > 0 || text.done !== true,
    isOver: () => isLast && rest.length === 0 && text.done === true,
    async next(): Promise<Uint8Array> {
      await pause();
      if (rest.length === 0) {
        if (text.done) {
          const event = ready ?? (await events.next());
          ready = undefined;
          await pause(); // creating the event may have used up the time slice
          isLast = event.done === true;
          texts = gather(eventParts(event));
          text = texts.next();
        }
        rest = encoder.encode(text.value);
        text = texts.next();
      }
      const piece = rest.subarray(0, PIECE);
      rest = rest.subarray(PIECE);
      return piece;
    },
  };
}

function* eventParts(event: IteratorResult<SearchEvent>): Generator<string> {
  yield "data: ";
  if (event.done) yield "[DONE]";
  else yield* jsonParts(event.value);
  yield "\n\n";
}

const encoder = new TextEncoder();

function encode(data: string): Uint8Array {
  return encoder.encode(`data: ${data}\n\n`);
}
