/** Implements the calls that a node answers. It answers each call from the slices that the call names. */

import { newPause } from "../../base/yield.ts";
import { explainPlan } from "../../search/caller/explain.ts";
import { Searching, type SearchCall, type SearchParts } from "../../search/caller/searching.ts";
import { findHeads, showHeads, wholeHeads, type HeadFiles } from "../../search/caller/heads.ts";
import { streamHeads } from "../../search/caller/stream.ts";
import type { SearchOptions, SearchRequest } from "../../search/messages/request.ts";
import type { Reader } from "../../reader.ts";
import type { Described, Found, SentStep, StreamCall } from "../wire/calls.ts";
import { packPaths } from "../wire/packed-paths.ts";
import type { Answers, Held } from "./node-handler.ts";

export interface Answering {
  readonly searching: SearchParts;
  readonly reader: Reader;
  /** Resolves when everything that was published before the call is ready on the node. */
  readonly refresh: () => Promise<void>;
}

/** The fields of a call that describe its query. */
type Query = Pick<StreamCall, "request" | "contexts" | "timeoutMs" | "maxBytes">;

export function answersOf({ searching, reader, refresh }: Answering): Answers {
  const usual = new Searching(searching);
  /**
   * Returns the Searching in which each `context:` stands for the repositories that the front has looked up. A node
   * cannot look up the repositories itself, because only the front knows the caller.
   */
  const searchingFor = ({ contexts }: Query): Searching =>
    contexts ? new Searching({ ...searching, contexts: (name) => contexts.get(name) }) : usual;
  return {
    "/v1/search": async (asked, held) => {
      const own = searchingFor(asked);
      return own.answer(
        await own.understand(callOf(asked, held)),
        async (one): Promise<Found | undefined> => {
          const found = await findHeads(own, one, asked.page);
          if (!found || !areFew(found.files)) return found;
          const shown = await showHeads(own, one, wholeHeads(found.files));
          return shown && !shown.isFull ? { ...found, shown } : found;
        },
      );
    },
    "/v1/show": async (asked, held) => {
      const own = searchingFor(asked);
      const question = await own.understand(callOf(asked, held));
      return own.answer(question, (one) => showHeads(own, one, asked.files));
    },
    "/v1/explain": async (asked, held) => {
      const own = searchingFor(asked);
      return explainPlan(own, await own.understand(callOf(asked, held)));
    },
    "/v1/read": async (asked, { view, viewer }) => {
      const file = await reader.read(asked, viewer, view);
      return file ? { file } : {};
    },
    "/v1/list": async (asked, { view, viewer }) => {
      const entries = await reader.list(asked, viewer, view);
      return entries ? { entries } : {};
    },
    "/v1/paths": async (asked, { view, viewer }) => {
      const paths = await reader.paths(asked, viewer, view);
      return paths ? { paths: await packPaths(paths, newPause()) } : {};
    },
    "/v1/describe": async ({ repositories }, { view }) => {
      const described = new Map<number, Described>();
      for (const { id, symbols, skipped } of await reader.described(repositories, view))
        described.set(id, { symbols, skipped });
      return described;
    },
    "/v1/refresh": async () => {
      await refresh();
      return {};
    },
    "/v1/stream": (asked, held) => stepsOf(searchingFor(asked), asked, held),
  };
}

async function* stepsOf(
  searching: Searching,
  asked: StreamCall,
  held: Held,
): AsyncGenerator<SentStep> {
  for await (const { event, files } of streamHeads(searching, callOf(asked, held))) {
    const sent = files.map((file) => ({ ...file, origin: held.originOf(file.segment) }));
    yield { event, files: sent };
  }
}

/**
 * If a search finds at most this many files and ranges, the node also returns the text of these files. The front may
 * later choose files of other nodes instead, but preparing the text takes only 0.3 ms.
 */
const FEW_FILES = 8;
const FEW_RANGES = 64;

const areFew = ({ counts }: HeadFiles): boolean =>
  counts.length <= FEW_FILES && counts.reduce((sum, count) => sum + count, 0) <= FEW_RANGES;

function callOf(
  { request, timeoutMs, maxBytes }: Query,
  { view, viewer, signal }: Held,
): SearchCall {
  const options: SearchOptions = {
    signal,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxBytes !== undefined && { maxBytes }),
    ...(viewer && { viewer }),
  };
  return { request: request satisfies SearchRequest, options, view: () => Promise.resolve(view) };
}
