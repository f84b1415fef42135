/**
 * Answers the requests of fronts on a node's port. A caller without the secret learns neither which calls exist nor
 * which slices the node holds.
 */

import { createHash } from "node:crypto";
import type { ReadableStreamDefaultController, UnderlyingSource } from "node:stream/web";
import type { DirectAnswer, DirectHandler } from "../../base/direct-handlers.ts";
import { newPause } from "../../base/yield.ts";
import type { Viewer } from "../../search/messages/request.ts";
import type { View } from "../../store/catalog/view.ts";
import {
  failureOf,
  STATUS,
  STREAM,
  type Calls,
  type OnSlices,
  type SentStep,
  type ShardSegment,
  type SliceAsked,
  type StreamCall,
} from "../wire/calls.ts";
import { bytesWithin, decodeBounded, encode, frameOf, MOST_ASKED_BYTES } from "../wire/codec.ts";
import {
  callOf,
  frameSigner,
  isBodyOf,
  isSigned,
  signAnswer,
  type FrameSigner,
} from "../wire/signature.ts";

/** A view of the slices that a call names. The slices stay on the disk until release() is called. */
export interface HeldView {
  readonly view: View;
  readonly viewer: Viewer | undefined;
  /** Returns a segment's shard and its number in that shard. Both are the same on all nodes. */
  readonly originOf: (segment: number) => ShardSegment;
  release(): void;
}

/** The data from which a call is answered, and the signal that ends the call. */
export interface Held extends Omit<HeldView, "release"> {
  readonly signal: AbortSignal;
}

type Path = keyof Calls;
export type Answers = {
  readonly [P in Path]: (asked: Calls[P]["asked"], held: Held) => Promise<Calls[P]["answer"]>;
} & { readonly [STREAM]: (asked: StreamCall, held: Held) => AsyncIterable<SentStep> };

export interface NodeOptions {
  readonly secret: string;
  /** The maximum number of simultaneous calls. Calls beyond this number are rejected. */
  readonly maxConcurrent: number;
  readonly answers: Partial<Answers>;
  /** Resolves to a view of the slices, or to undefined if the node lacks any of them at the requested generation. */
  readonly hold: (slices: readonly SliceAsked[]) => Promise<HeldView | undefined>;
}

export function nodeHandler(node: NodeOptions): DirectHandler {
  let running = 0;
  return async ({ method, path, headers, body: sent, signal }) => {
    if (!isSigned(node.secret, { method, path, headers })) return unknown();
    const call = callOf(headers);
    const answer: Answer = async (status, value) => {
      const body = value === undefined ? NOTHING : encode(value);
      const signed = { bytes: body.length, digest: await digestOf(body) };
      return { status, headers: signAnswer(node.secret, { call, status, body: signed }), body };
    };
    if (method !== "POST" || !Object.hasOwn(node.answers, path)) return answer(STATUS.NO_SUCH_CALL);
    if (running >= node.maxConcurrent) return answer(STATUS.OVERLOADED);
    running++;
    let isStreaming = false;
    try {
      // without this check, somebody could send the headers of a recorded call with another body, for up to a minute
      const body = await bytesWithin(sent, MOST_ASKED_BYTES);
      if (!body || !isBodyOf(headers, body.digest)) return unknown();
      const asked = (await decodeBounded(body.bytes)) as OnSlices;
      if (path !== STREAM) return await perform(node, path as Path, { asked, answer, signal });
      const held = await node.hold(asked.slices);
      if (held === undefined) return await answer(STATUS.NOT_READY);
      isStreaming = true;
      return streamed(node, asked as StreamCall, {
        held: { ...held, signal },
        call,
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
  { asked, answer, signal }: { asked: OnSlices; answer: Answer; signal: AbortSignal },
): Promise<DirectAnswer> {
  const held = await node.hold(asked.slices);
  if (held === undefined) return answer(STATUS.NOT_READY);
  try {
    const call = node.answers[path] as (asked: OnSlices, held: Held) => Promise<unknown>;
    return await answer(STATUS.OK, await call(asked, { ...held, signal }));
  } finally {
    held.release();
  }
}

/**
 * Answers with a stream of frames, one for each step of the search. If the search fails, the last frame has the
 * error.
 */
function streamed(
  node: NodeOptions,
  asked: StreamCall,
  {
    held,
    call,
    finish,
  }: { readonly held: Held; readonly call: string; readonly finish: () => void },
): Response {
  const steps = node.answers[STREAM]!(asked, held)[Symbol.asyncIterator]();
  const sign: FrameSigner = frameSigner(node.secret, call);
  let isOver = false;
  const end = (): void => {
    if (!isOver) finish();
    isOver = true;
  };
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      try {
        const { done, value } = await steps.next();
        if (done !== true) return controller.enqueue(frameOf(encode({ step: value }), sign));
      } catch (error) {
        controller.enqueue(frameOf(encode({ failure: failureOf(error) }), sign));
      }
      end();
      controller.close();
    },
    async cancel() {
      await steps.return?.();
      end();
    },
  };
  // the search takes its next step only when the front reads
  const { OK: status } = STATUS;
  const headers = signAnswer(node.secret, { call, status });
  return new Response(new ReadableStream<Uint8Array>(source, { highWaterMark: 0 }), { headers });
}

/** Makes a signed answer. */
type Answer = (status: number, value?: unknown) => Promise<DirectAnswer>;

/** Makes the answer for callers without the secret. It is the only answer without a signature. */
const unknown = (): DirectAnswer => ({ status: STATUS.UNKNOWN, headers: {}, body: NOTHING });

const NOTHING = new Uint8Array();
const BYTES_A_STEP = 256 * 1024; // takes 0.2 ms

/** Resolves to the SHA-256 of a body that may be long. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  const pause = newPause();
  for (let from = 0; from < bytes.length; from += BYTES_A_STEP) {
    hash.update(bytes.subarray(from, from + BYTES_A_STEP));
    await pause();
  }
  return hash.digest("hex");
}
