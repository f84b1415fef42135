/** Serves searches, either with a single response or with a stream of events. */

import { coreOf } from "../core-of.ts";
import { isLong, type LongAnswer } from "../search/caller/long-answer.ts";
import type { SearchOptions, SearchRequest } from "../search/messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "../search/messages/response.ts";
import { makeAbsolute } from "./addresses.ts";
import { findOptions } from "../find/request.ts";
import { findRequest, findResponse } from "./find-schema.ts";
import { eventStream } from "./event-stream.ts";
import { explanation, type Told } from "./explain-schema.ts";
import { heldBytes } from "./held-bytes.ts";
import { jsonResponse, lateResponse } from "./json-body.ts";
import { searchPieces } from "./long-body.ts";
import { NOT_INDEXED_HEADER, notIndexedHeader } from "./not-indexed.ts";
import type { Settings } from "./options.ts";
import type { Refusal } from "./refusal.ts";
import { viewerOption, withBody, type Call, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { Slot } from "./slots.ts";

export const SEARCH_TAG = "Search & Navigation";

const COMMON = { method: "post", tag: SEARCH_TAG, access: "search" } as const;

export function searchRoutes(settings: Settings): Route[] {
  const body = schemas.searchRequest(settings.maxMatches);
  return [
    withBody(
      {
        ...COMMON,
        path: "/api/search",
        action: "search",
        audit: "search.performed",
        summary: "Search code",
        description: "Responds when the search is complete.",
        body,
        answers: {
          status: 200,
          description: "The answer",
          schema: schemas.searchResponse,
          headers: NOT_INDEXED_HEADER,
        },
        refusals: SEARCH_REFUSALS,
      },
      async (call, request) => answerSearch(call, present(request)),
    ),
    withBody(
      {
        ...COMMON,
        path: "/api/stream_search",
        action: "streamSearch",
        audit: "search.performed",
        summary: "Stream search results",
        description:
          "Server-sent events, one in each `data:` line. The last line is `data: [DONE]`.",
        body: schemas.streamRequest(settings.maxMatches),
        streams: true,
        answers: {
          status: 200,
          description: "The event in each `data:` line",
          schema: schemas.streamEvent,
          contentType: "text/event-stream",
          headers: NOT_INDEXED_HEADER,
        },
        refusals: SEARCH_REFUSALS,
      },
      async (call, request) => answerStream(call, present(request)),
    ),
    explainRoute(settings),
    FIND,
  ];
}

const FIND = withBody(
  {
    ...COMMON,
    path: "/api/find",
    action: "find",
    audit: "search.performed",
    summary: "Find code by description",
    description:
      "Returns the places that a question in words describes. The answer is a choice of the best places.",
    body: findRequest,
    answers: { status: 200, description: "The places", schema: findResponse },
    refusals: ["FAILED_TO_PARSE_QUERY", "SEARCH_CONTEXT_NOT_FOUND", "OVERLOADED"],
  },
  async (call, request) =>
    answerInSlot(call, async (options) => {
      const body = await call.engine.find(present(request), findOptions(options));
      await makeAbsolute(call, body.places);
      return { body };
    }),
);

function explainRoute(settings: Settings): Route {
  const body = schemas.searchRequest(settings.maxMatches);
  return withBody(
    {
      ...COMMON,
      path: "/api/explain",
      action: "explainSearch",
      summary: "Explain a search",
      description:
        "Runs the search and returns how the query was interpreted. Suggestions, if nothing was found.",
      body,
      answers: {
        status: 200,
        description: "The explanation",
        schema: explanation(body),
      },
      refusals: SEARCH_REFUSALS,
    },
    async (call, request) =>
      answerInSlot(call, async (options) => ({
        body: told(await call.engine.explain(present(request), options)),
      })),
  );
}

function told({ query, stats, hints, suggestions, notIndexed }: Explanation): Told {
  return { query, stats, hints, suggestions, notIndexed };
}

const SEARCH_REFUSALS = [
  "FAILED_TO_PARSE_QUERY",
  "SEARCH_CONTEXT_NOT_FOUND",
  "OVERLOADED",
] as const;

/** Removes undefined fields, because the types of the engine do not allow them. */
export function present<T extends object>(
  fields: T,
): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof T]: Exclude<T[Name], undefined> };
}

async function answerSearch(call: Call, request: SearchRequest): Promise<Response> {
  const slot = await call.slots.take(call.caller, call.request.signal);
  const { giveBack, onReader } = slot;
  try {
    const options = searchOptions(call, call.request.signal);
    const headers = await notIndexedHeader(call.engine, request, options);
    const answer = await coreOf(call.engine).view(options).begin(request);
    const { confirm } = call;
    if (isLong(answer)) {
      const told = call.recordLater();
      const onEnd = (): void => {
        answer.close();
        giveBack();
        told();
      };
      return lateResponse(searchPieces(watchedAnswer(call, answer, slot)), {
        headers,
        onEnd,
        onReader,
        confirm,
      });
    }
    await makeAbsolute(call, answer.files);
    noteOutcome(call, answer);
    slot.hold(await heldBytes(answer));
    return jsonResponse(answer, { headers, onEnd: giveBack, onReader, confirm });
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** Adds the number of results and the duration of a search to its audit record. */
export function noteOutcome(
  call: Call,
  { stats, isSearchExhaustive }: Pick<SearchResponse, "stats" | "isSearchExhaustive">,
): void {
  const { totalMatchCount, fileCount, duration } = stats;
  const durationMs = Math.round(duration / 1e6);
  call.note({ totalMatchCount, fileCount, durationMs, isSearchExhaustive });
}

/**
 * Wraps a long answer. Makes its addresses absolute, updates the memory that its slot counts, and notes the outcome
 * of the search at the end.
 */
function watchedAnswer(call: Call, answer: LongAnswer, { hold }: Slot): LongAnswer {
  return {
    ...answer,
    async next() {
      const files = await answer.next();
      if (files) await makeAbsolute(call, files);
      hold(answer.keptBytes + (files ? await heldBytes(files) : 0));
      return files;
    },
    end() {
      const rest = answer.end();
      noteOutcome(call, rest);
      return rest;
    },
  };
}

/**
 * Takes a slot, runs the operation, and returns its result as a response. The slot is kept until the response has
 * been read, so memory never holds more responses than there are slots.
 */
export async function answerInSlot(
  call: Call,
  run: (options: SearchOptions) => Promise<{ body: object; headers?: Record<string, string> }>,
): Promise<Response> {
  const { giveBack, onReader, hold } = await call.slots.take(call.caller, call.request.signal);
  try {
    const { body, headers = {} } = await run(searchOptions(call, call.request.signal));
    hold(await heldBytes(body));
    return jsonResponse(body, { headers, onEnd: giveBack, onReader, confirm: call.confirm });
  } catch (error) {
    giveBack();
    throw error;
  }
}

function searchOptions(call: Call, signal: AbortSignal): SearchOptions {
  const { timeoutMs, maxAnswerBytes: maxBytes } = call.settings;
  return { signal, timeoutMs, maxBytes, ...viewerOption(call) };
}

async function answerStream(call: Call, request: SearchRequest): Promise<Response> {
  const { giveBack, onReader, hold } = await call.slots.take(call.caller, call.request.signal);
  const abort = new AbortController();
  const { signal } = call.request;
  const leave = (): void => abort.abort(signal.reason);
  signal.addEventListener("abort", leave);
  const settle = (): void => {
    giveBack();
    signal.removeEventListener("abort", leave);
  };
  try {
    if (signal.aborted) leave();
    const options = searchOptions(call, abort.signal);
    const notIndexed = await notIndexedHeader(call.engine, request, options);
    const events = watched(call, call.engine.stream(request, options), hold);
    const first = await events.next();
    const onEnd = (refusal: Refusal | undefined): void => {
      settle();
      call.onEnd(refusal);
    };
    const { confirm } = call;
    const body = eventStream(first, events, { abort, confirm, onEnd, onReader });
    return new Response(body, { headers: { ...STREAM_HEADERS, ...notIndexed } });
  } catch (error) {
    settle();
    throw error;
  }
}

async function* watched(
  call: Call,
  events: AsyncIterable<SearchEvent>,
  hold: Slot["hold"],
): AsyncGenerator<SearchEvent, undefined> {
  for await (const event of events) {
    if (event.type === "chunk") await makeAbsolute(call, event.files);
    else noteOutcome(call, { ...event, stats: event.accumulatedStats });
    // doubled, because the bytes that came from the threads also stay in memory until the next event
    hold(2 * (await heldBytes(event)));
    yield event;
  }
  return undefined;
}

const STREAM_HEADERS = {
  "Content-Type": "text/event-stream",
  "X-Accel-Buffering": "no", // without this, some proxies buffer events
};
