/** Checks a request and parses its query. The result does not depend on a catalog. */

import type { Pool } from "../../threads/pool.ts";
import { isShort, meaningOf, type Meaning, type QueryText } from "../meaning/meaning.ts";
import {
  checkRequest,
  type CheckedRequest,
  type SearchOptions,
  type SearchRequest,
  type Viewer,
} from "../messages/request.ts";
import { unlessAborted } from "../../base/abort.ts";
import { closedError, QuernError } from "../../base/errors.ts";
import { JoinedSignal } from "../../base/joined-signal.ts";
import { unknownContext } from "./scope.ts";

/**
 * Looks up a saved set of repositories for `context:`. Returns the names of the set's repositories, or undefined if
 * there is no set with this name. The names may include repositories that the viewer may not see; no answer reveals
 * them. `viewer` is the viewer of the call, or undefined if the call has none. Called once for each different name in
 * a query. If it does not answer before the search times out, the search rejects with OVERLOADED.
 *
 * @example
 * const saved = new Map([["payments", ["shop", "ledger"]]]);
 * const contexts: Contexts = (name) => saved.get(name);
 * const engine = await open("./index", { contexts });
 */
export type Contexts = (
  name: string,
  viewer: Viewer | undefined,
) => Iterable<string> | undefined | Promise<Iterable<string> | undefined>;

export interface Understood extends Meaning {
  readonly request: CheckedRequest;
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
}

type LookupOptions = Pick<SearchOptions, "signal" | "timeoutMs" | "viewer">;

/** The function of the host, and a signal that is aborted when the engine closes. */
export interface Lookups {
  readonly contexts: Contexts | undefined;
  readonly closing?: AbortSignal | undefined;
}

export interface Understanding extends Lookups {
  readonly pool: Pool;
}

/**
 * Checks and parses a request, and looks up its contexts. If the signal is aborted meanwhile, rejects with ABORTED
 * immediately.
 */
export async function understand(
  given: SearchRequest,
  options: LookupOptions,
  { pool, ...lookups }: Understanding,
): Promise<Understood> {
  const request = checkRequest(given);
  const dialect = {
    regex: request.isRegexEnabled,
    caseSensitive: request.isCaseSensitivityEnabled,
  };
  const asked: QueryText = { text: request.query, dialect };
  const meaning = isShort(request.query)
    ? meaningOf(asked)
    : await understandElsewhere(asked, options.signal, pool);
  return { ...meaning, request, contexts: await resolveContexts(meaning, options, lookups) };
}

/** Parses the query on a worker thread. If the signal is aborted, the worker stops as well. */
async function understandElsewhere(
  asked: QueryText,
  signal: AbortSignal | undefined,
  pool: Pool,
): Promise<Meaning> {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const onAbort = () => void Atomics.store(stop, 0, 1);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const options = { lane: "search", isUrgent: true } as const;
    return await unlessAborted(
      signal,
      pool.run<Meaning>("search.meaning", { ...asked, stop }, options),
      "search",
    );
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/**
 * Looks up the contexts of a query. Does not wait for the host after an abort (ABORTED), the time-out (OVERLOADED) or
 * the end of the engine (ENGINE_CLOSED).
 */
export async function resolveContexts(
  { contextNames }: Pick<Meaning, "contextNames">,
  { signal, timeoutMs, viewer }: LookupOptions,
  { contexts, closing }: Lookups,
): Promise<Map<string, ReadonlySet<string>>> {
  const resolved = new Map<string, ReadonlySet<string>>();
  if (contextNames.length === 0) return resolved;
  using stop = new JoinedSignal([signal, closing], timeoutMs);
  const lookUp = async (name: string) => contexts?.(name, viewer);
  for (const name of contextNames) {
    const names = await unlessAborted(stop.signal, lookUp(name), "search").catch(
      (error: unknown) => {
        if (closing?.aborted) throw closedError();
        throw stop.isLate ? tooSlow(name) : error;
      },
    );
    if (!names) throw unknownContext(name);
    resolved.set(name, new Set(names));
  }
  return resolved;
}

const tooSlow = (name: string): QuernError =>
  new QuernError(
    "OVERLOADED",
    `the search timed out before the option contexts returned ${JSON.stringify(name)}; try again, or raise timeoutMs`,
  );
