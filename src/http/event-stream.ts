/**
 * A search as server-sent events. Each event is fetched when the reader asks for it and not
 * before, so a slow reader slows the search down instead of filling memory; one that leaves, or
 * asks for nothing for a minute, ends it.
 *
 *     data: {"type":"chunk",…}      one for each event of the search
 *     data: [DONE]                  after the last one; not after an error
 *
 * An error after the start is the event {"type":"error","error":{…}}.
 */

import type { SearchEvent } from "../search/response.ts";
import { errorBody, toRefusal, type Refusal } from "./refusal.ts";
import { STALLED_MS, stallAfter } from "./stalled.ts";

export interface StreamOptions {
  /** Aborted when nobody reads any more. */
  readonly abort: AbortController;
  /** Called before each event leaves. Rejects if it may not. */
  readonly confirm: () => Promise<void>;
  /** Called once: undefined after [DONE]. */
  readonly onEnd: (refusal: Refusal | undefined) => void;
  readonly stalledMs?: number;
}

/** REQUIRES: `first` is what the iterator yielded first, so that what fails at once fails as a response. */
export function eventStream(
  first: IteratorResult<SearchEvent>,
  events: AsyncIterator<SearchEvent>,
  options: StreamOptions,
): ReadableStream<Uint8Array> {
  const { abort, confirm, onEnd, stalledMs = STALLED_MS } = options;
  let ready: IteratorResult<SearchEvent> | undefined = first;
  let ended = false;

  const end = (thrown?: { error: unknown }): Refusal | undefined => {
    stall.stop();
    if (ended) return undefined;
    ended = true;
    abort.signal.removeEventListener("abort", leave);
    const refusal = thrown && toRefusal(thrown.error);
    onEnd(refusal);
    return refusal;
  };
  const stop = (): void => {
    abort.abort();
    void Promise.resolve(events.return?.()).catch(() => {}); // what it still throws is of the abort
  };
  const leave = (): void => {
    end({ error: abort.signal.reason });
    stop();
  };
  const step = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const next = ready ?? (await events.next());
    ready = undefined;
    await confirm();
    controller.enqueue(encode(next.done ? "[DONE]" : JSON.stringify(next.value)));
    if (!next.done) return;
    end();
    controller.close();
  };

  const stall = stallAfter(stalledMs, leave);
  abort.signal.addEventListener("abort", leave);
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => stall.wait(controller),
      async pull(controller) {
        stall.stop();
        if (ended) return controller.close();
        try {
          await step(controller);
        } catch (error) {
          const refusal = end({ error });
          if (refusal === undefined) return controller.close(); // left meanwhile
          controller.enqueue(encode(JSON.stringify({ type: "error", error: errorBody(refusal) })));
          controller.close();
          stop();
        }
        if (!ended) stall.wait(controller);
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}

const encoder = new TextEncoder();

function encode(data: string): Uint8Array {
  return encoder.encode(`data: ${data}\n\n`);
}
