/**
 * The port on which a node answers fronts. Whoever does not know the secret learns nothing: not which
 * calls there are, and not what is held.
 */

import type { ReadableStreamDefaultController, UnderlyingSource } from "node:stream/web";
import type { StreamStep } from "../../search/caller/stream.ts";
import type { Viewer } from "../../search/messages/request.ts";
import type { View } from "../../store/catalog/view.ts";
import {
  failureOf,
  STATUS,
  STREAM,
  type Calls,
  type OnSlices,
  type SliceAsked,
  type StreamCall,
} from "../wire/calls.ts";
import { bytesWithin, decode, encode, encodeFrame, MOST_ASKED_BYTES } from "../wire/codec.ts";
import { isBodyOf, isSigned } from "../wire/signature.ts";

/** Slices as they were asked for, which stay on the disk until they are released. */
export interface HeldView {
  readonly view: View;
  readonly viewer: Viewer | undefined;
  release(): void;
}

/** What a call is answered from. */
export interface Held extends Pick<HeldView, "view" | "viewer"> {
  readonly signal: AbortSignal;
}

type Path = keyof Calls;
export type Answers = {
  readonly [P in Path]: (asked: Calls[P]["asked"], held: Held) => Promise<Calls[P]["answer"]>;
} & { readonly [STREAM]: (asked: StreamCall, held: Held) => AsyncIterable<StreamStep> };

export interface NodeOptions {
  readonly secret: string;
  /** Calls at once; one more is refused. */
  readonly maxConcurrent: number;
  readonly answers: Partial<Answers>;
  /** Resolves to undefined if one of the slices is not held at its generation. */
  readonly hold: (slices: readonly SliceAsked[]) => Promise<HeldView | undefined>;
}

export function nodeHandler(node: NodeOptions): (request: Request) => Promise<Response> {
  let running = 0;
  return async (request) => {
    const { method, headers } = request;
    const { pathname } = new URL(request.url);
    if (!isSigned(node.secret, { method, path: pathname, headers })) return answer(STATUS.UNKNOWN);
    if (method !== "POST" || !Object.hasOwn(node.answers, pathname))
      return answer(STATUS.NO_SUCH_CALL);
    if (running >= node.maxConcurrent) return answer(STATUS.OVERLOADED);
    running++;
    let isStreaming = false;
    try {
      // who has seen a call can send its headers again for a minute, with another body
      const body = await bytesWithin(
        request.body ?? new ReadableStream<Uint8Array>({ start: (empty) => empty.close() }),
        MOST_ASKED_BYTES,
      );
      if (!body || !isBodyOf(headers, body)) return answer(STATUS.UNKNOWN);
      const asked = decode(body) as OnSlices;
      if (pathname !== STREAM) return await perform(node, pathname as Path, asked, request.signal);
      const held = await node.hold(asked.slices);
      if (held === undefined) return answer(STATUS.NOT_READY);
      isStreaming = true;
      return streamed(node, asked as StreamCall, {
        held: { ...held, signal: request.signal },
        finish() {
          held.release();
          running--;
        },
      });
    } catch (error) {
      return answer(STATUS.REFUSED, failureOf(error));
    } finally {
      if (!isStreaming) running--;
    }
  };
}

async function perform(
  node: NodeOptions,
  path: Path,
  asked: OnSlices,
  signal: AbortSignal,
): Promise<Response> {
  const held = await node.hold(asked.slices);
  if (held === undefined) return answer(STATUS.NOT_READY);
  try {
    const { view, viewer } = held;
    const call = node.answers[path] as (asked: OnSlices, held: Held) => Promise<unknown>;
    return answer(STATUS.OK, await call(asked, { view, viewer, signal }));
  } finally {
    held.release();
  }
}

/** Answers with frames: steps, and a failure at the end if there was one. */
function streamed(
  node: NodeOptions,
  asked: StreamCall,
  { held, finish }: { readonly held: Held; readonly finish: () => void },
): Response {
  const steps = node.answers[STREAM]!(asked, held)[Symbol.asyncIterator]();
  let isOver = false;
  const end = (): void => {
    if (!isOver) finish();
    isOver = true;
  };
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      try {
        const { done, value } = await steps.next();
        if (done !== true) return controller.enqueue(encodeFrame({ step: value }));
      } catch (error) {
        controller.enqueue(encodeFrame({ failure: failureOf(error) }));
      }
      end();
      controller.close();
    },
    async cancel() {
      await steps.return?.();
      end();
    },
  };
  // nothing is read ahead of who asks
  return new Response(new ReadableStream<Uint8Array>(source, { highWaterMark: 0 }));
}

const answer = (status: number, value?: unknown): Response =>
  new Response(value === undefined ? null : encode(value), { status });
