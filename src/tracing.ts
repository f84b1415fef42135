/**
 * Reports the calls of an engine to subscribers of Node's tracing channels `quern:search` and `quern:index`, and to
 * observers inside this package. If there are no subscribers and no observers, a call costs only a few comparisons
 * more.
 *
 * Each call publishes events of a TracingChannel. `start` and `end` are published when the call begins, which for a
 * stream is the first read. `asyncStart` and `asyncEnd` are published when the answer is complete. If the call fails,
 * `error` is published before `asyncStart`. All events of a call pass the same object. The outcome of the call is
 * added to this object before `error` and `asyncStart`.
 */

import { tracingChannel, type TracingChannel } from "node:diagnostics_channel";
import type { IndexReport } from "./ingest/run/report.ts";
import type { SearchRequest } from "./search/messages/request.ts";
import type { IfMany } from "./search/caller/if-many.ts";
import { isLong, type LongAnswer } from "./search/caller/long-answer.ts";
import type { Explanation, SearchEvent, SearchResponse } from "./search/messages/response.ts";
import type { SearchStats } from "./search/messages/stats.ts";

/**
 * The message that the tracing channel `quern:search` publishes about one search. The channel also reports searches
 * by workspaces, by the HTTP interface, and by the tools for agents.
 *
 * @example
 * import { tracingChannel } from "node:diagnostics_channel";
 *
 * tracingChannel<unknown, SearchTrace>("quern:search").asyncEnd.subscribe((message) => {
 *   const { request, stats, durationMs } = message as SearchTrace;
 *   console.log(request.query, stats?.totalMatchCount, durationMs);
 * });
 */
export interface SearchTrace {
  /** The method of the engine that was called. */
  readonly call: "search" | "stream" | "explain";
  /** The data directory, absolute. */
  readonly path: string;
  /**
   * The request as the caller passed it, before it was checked. It may contain text that a person typed, so treat it
   * as personal data.
   */
  readonly request: SearchRequest;
  /**
   * The time from the start of the call to its end, in milliseconds. A stream starts with the first read. A stream or
   * a long answer over HTTP ends when the caller has read it, or stops reading it.
   */
  durationMs?: number;
  /** The counters of the search. Absent if the search failed, or if the caller stopped reading before the end. */
  stats?: SearchStats;
  /** The same value as `isSearchExhaustive` in the response. Absent for explain(), and when `stats` is absent. */
  isSearchExhaustive?: boolean;
  /** The error with which the call rejected, nearly always a QuernError. */
  error?: unknown;
}

/**
 * The message that the tracing channel `quern:index` publishes about one write.
 *
 * @example
 * import { tracingChannel } from "node:diagnostics_channel";
 *
 * tracingChannel<unknown, IndexTrace>("quern:index").asyncEnd.subscribe((message) => {
 *   const { reports = [], durationMs } = message as IndexTrace;
 *   for (const { repository, added } of reports) console.log(repository, added, durationMs);
 * });
 */
export interface IndexTrace {
  /** The method of the engine that was called. */
  readonly call: "index" | "remove" | "compact";
  /** The data directory, absolute. */
  readonly path: string;
  /** The time from the start of the call to its end, in milliseconds. It includes the wait for earlier writes. */
  durationMs?: number;
  /** The result of index(). */
  reports?: readonly IndexReport[];
  /** The error with which the call rejected, nearly always a QuernError. */
  error?: unknown;
}

/** Receives each trace when its call has ended. Also learns of each worker that has died. */
export interface Observer {
  searched(trace: SearchTrace): void;
  indexed(trace: IndexTrace): void;
  workerDied(): void;
}

/** The size of an index. */
export interface IndexSize {
  readonly repositories: number;
  readonly segments: number;
  /** The number of files in all segments. A file that was replaced or removed counts until its segment is merged. */
  readonly files: number;
  readonly textBytes: number;
}

const SEARCHES = tracingChannel<unknown, SearchTrace>("quern:search");
const WRITES = tracingChannel<unknown, IndexTrace>("quern:index");

/** The channel that publishes traces of one kind, and the function that passes such a trace to an observer. */
interface Audience<T extends SearchTrace | IndexTrace> {
  readonly channel: TracingChannel<unknown, T>;
  readonly tell: (observer: Observer, trace: T) => void;
}

const OF_SEARCHES: Audience<SearchTrace> = {
  channel: SEARCHES,
  tell: (observer, trace) => observer.searched(trace),
};
const OF_WRITES: Audience<IndexTrace> = {
  channel: WRITES,
  tell: (observer, trace) => observer.indexed(trace),
};

type Answer = Pick<SearchResponse, "stats" | "isSearchExhaustive">;

const outcomeOf = ({ stats, isSearchExhaustive }: Answer): Partial<SearchTrace> => ({
  stats,
  isSearchExhaustive,
});

/** The searches of a view of an index. */
interface Searches {
  readonly search: (request: SearchRequest, ifMany?: IfMany) => Promise<SearchResponse>;
  readonly begin: (request: SearchRequest) => Promise<SearchResponse | LongAnswer>;
  readonly stream: (request: SearchRequest) => AsyncIterable<SearchEvent>;
  readonly explain: (request: SearchRequest) => Promise<Explanation>;
}

/** Traces the calls of one engine. */
export class Tracer {
  readonly #path: string;
  readonly #observers = new Set<Observer>();

  constructor(path: string) {
    this.#path = path;
  }

  add(observer: Observer): void {
    this.#observers.add(observer);
  }

  workerDied(): void {
    for (const observer of this.#observers) observer.workerDied();
  }

  /** Returns a view whose searches are traced. Calls `onSearch` before each of them. */
  view<View extends Searches>(view: View, onSearch: () => void = () => {}): View {
    return {
      ...view,
      search: (request, ifMany) => {
        onSearch();
        return this.#search(request, () => view.search(request, ifMany));
      },
      begin: (request) => {
        onSearch();
        return this.#beginLong(request, () => view.begin(request));
      },
      stream: (request) => {
        onSearch();
        return this.#streamOf(request, view.stream(request));
      },
      explain: (request) => {
        onSearch();
        return this.#explain(request, () => view.explain(request));
      },
    };
  }

  #search<T extends Answer>(request: SearchRequest, run: () => Promise<T>): Promise<T> {
    if (!this.#isHeard(SEARCHES)) return run();
    return this.#trace(OF_SEARCHES, { call: "search", path: this.#path, request }, run, outcomeOf);
  }

  #explain(request: SearchRequest, run: () => Promise<Explanation>): Promise<Explanation> {
    if (!this.#isHeard(SEARCHES)) return run();
    const trace: SearchTrace = { call: "explain", path: this.#path, request };
    return this.#trace(OF_SEARCHES, trace, run, ({ stats }) => ({ stats }));
  }

  #streamOf(
    request: SearchRequest,
    events: AsyncIterable<SearchEvent>,
  ): AsyncIterable<SearchEvent> {
    if (!this.#isHeard(SEARCHES)) return events;
    return this.#stream({ call: "stream", path: this.#path, request }, events);
  }

  async *#stream(trace: SearchTrace, events: AsyncIterable<SearchEvent>) {
    const end = this.#begin(OF_SEARCHES, trace);
    try {
      for await (const event of events) {
        if (event.type === "final")
          Object.assign(trace, outcomeOf({ ...event, stats: event.accumulatedStats }));
        yield event;
      }
    } catch (error) {
      trace.error = error;
      throw error;
    } finally {
      end();
    }
  }

  /** Traces a search whose answer may be a LongAnswer. In that case, the trace ends when the LongAnswer is closed. */
  async #beginLong(
    request: SearchRequest,
    run: () => Promise<SearchResponse | LongAnswer>,
  ): Promise<SearchResponse | LongAnswer> {
    if (!this.#isHeard(SEARCHES)) return run();
    const trace: SearchTrace = { call: "search", path: this.#path, request };
    const end = this.#begin(OF_SEARCHES, trace);
    try {
      const answer = await run();
      if (isLong(answer)) return this.#long(trace, answer, end);
      Object.assign(trace, outcomeOf(answer));
      end();
      return answer;
    } catch (error) {
      trace.error = error;
      end();
      throw error;
    }
  }

  #long(trace: SearchTrace, answer: LongAnswer, end: () => void): LongAnswer {
    let isOpen = true;
    return {
      ...answer,
      async next() {
        try {
          return await answer.next();
        } catch (error) {
          trace.error = error;
          throw error;
        }
      },
      end() {
        const rest = answer.end();
        Object.assign(trace, outcomeOf(rest));
        return rest;
      },
      close() {
        answer.close();
        if (isOpen) end();
        isOpen = false;
      },
    };
  }

  write<T>(
    call: IndexTrace["call"],
    run: () => Promise<T>,
    outcome: (result: T) => Partial<IndexTrace> = () => ({}),
  ): Promise<T> {
    if (!this.#isHeard(WRITES)) return run();
    return this.#trace(OF_WRITES, { call, path: this.#path }, run, outcome);
  }

  async #trace<T extends SearchTrace | IndexTrace, R>(
    audience: Audience<T>,
    trace: T,
    run: () => Promise<R>,
    outcome: (result: R) => Partial<T>,
  ): Promise<R> {
    const end = this.#begin(audience, trace);
    try {
      const result = await run();
      Object.assign(trace, outcome(result));
      return result;
    } catch (error) {
      trace.error = error;
      throw error;
    } finally {
      end();
    }
  }

  /** Publishes the beginning of a call, and returns a function that publishes the end of the call. */
  #begin<T extends SearchTrace | IndexTrace>({ channel, tell }: Audience<T>, trace: T): () => void {
    const startedAt = performance.now();
    channel.start.publish(trace);
    channel.end.publish(trace);
    return () => {
      trace.durationMs = performance.now() - startedAt;
      if ("error" in trace) channel.error.publish(trace as T & { error: unknown });
      channel.asyncStart.publish(trace);
      channel.asyncEnd.publish(trace);
      for (const observer of this.#observers) tell(observer, trace);
    };
  }

  #isHeard({ start, end, asyncStart, asyncEnd, error }: typeof SEARCHES | typeof WRITES): boolean {
    if (this.#observers.size > 0) return true;
    return [start, end, asyncStart, asyncEnd, error].some((one) => one.hasSubscribers);
  }
}
