/**
 * The port on which a node answers fronts. Whoever does not know the secret learns nothing: not which
 * calls there are, and not what is held.
 */

import type { Searcher } from "../../search/caller/searcher.ts";
import type { SearchOptions, Viewer } from "../../search/messages/request.ts";
import type { View } from "../../store/catalog/view.ts";
import {
  failureOf,
  STATUS,
  type Calls,
  type SearchCall,
  type ShowCall,
  type SliceAsked,
} from "../wire/calls.ts";
import { decode, encode } from "../wire/codec.ts";
import { isBodyOf, isSigned } from "../wire/signature.ts";

/** Slices as they were asked for, which stay on the disk until they are released. */
export interface HeldView {
  readonly view: View;
  readonly viewer: Viewer | undefined;
  release(): void;
}

export interface NodeOptions {
  readonly secret: string;
  /** Searches and shows at once; one more is refused. */
  readonly maxConcurrent: number;
  readonly searcher: Pick<Searcher, "heads" | "showHeads">;
  /** Resolves to undefined if one of the slices is not held at its generation. */
  readonly hold: (slices: readonly SliceAsked[]) => Promise<HeldView | undefined>;
}

type Path = keyof Calls;
type Answer<P extends Path> = Calls[P]["answer"];

interface Held {
  readonly options: SearchOptions;
  readonly view: () => Promise<View>;
}

export function nodeHandler(node: NodeOptions): (request: Request) => Promise<Response> {
  const { searcher } = node;
  const calls: { [P in Path]: (asked: Calls[P]["asked"], held: Held) => Promise<Answer<P>> } = {
    "/v1/search": ({ request, page }: SearchCall, { options, view }) =>
      searcher.heads(request, { ...options, page }, view),
    "/v1/show": ({ request, files }: ShowCall, { options, view }) =>
      searcher.showHeads(files, request, options, view),
  };
  let running = 0;
  return async (request) => {
    const { method, headers } = request;
    const { pathname } = new URL(request.url);
    if (!isSigned(node.secret, { method, path: pathname, headers })) return answer(STATUS.UNKNOWN);
    if (method !== "POST" || !Object.hasOwn(calls, pathname)) return answer(STATUS.NO_SUCH_CALL);
    if (running >= node.maxConcurrent) return answer(STATUS.OVERLOADED);
    const body = new Uint8Array(await request.arrayBuffer());
    if (!isBodyOf(headers, body)) return answer(STATUS.UNKNOWN);
    const call = calls[pathname as Path] as (asked: unknown, held: Held) => Promise<unknown>;
    running++;
    try {
      return await perform(node, request.signal, decode(body) as SearchCall | ShowCall, call);
    } catch (error) {
      return answer(STATUS.REFUSED, failureOf(error));
    } finally {
      running--;
    }
  };
}

async function perform(
  node: NodeOptions,
  signal: AbortSignal,
  asked: SearchCall | ShowCall,
  call: (asked: unknown, held: Held) => Promise<unknown>,
): Promise<Response> {
  const held = await node.hold(asked.slices);
  if (held === undefined) return answer(STATUS.NOT_READY);
  try {
    const { timeoutMs, maxBytes } = asked;
    const options: SearchOptions = {
      signal,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxBytes !== undefined && { maxBytes }),
      ...(held.viewer && { viewer: held.viewer }),
    };
    const given = { options, view: () => Promise.resolve(held.view) };
    return answer(STATUS.OK, await call(asked, given));
  } finally {
    held.release();
  }
}

const answer = (status: number, value?: unknown): Response =>
  new Response(value === undefined ? null : encode(value), { status });
