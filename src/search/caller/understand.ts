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
import { unknownContext } from "./scope.ts";

/**
 * Looks up a saved set of repositories for `context:`. Returns the names of the set's repositories, or undefined if
 * there is no set with this name. The names may include repositories that the viewer may not see; no answer reveals
 * them. `viewer` is the viewer of the call, or undefined if the call has none. Called once for each different name in
 * a query.
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

export interface Understanding {
  readonly pool: Pool;
  readonly contexts: Contexts | undefined;
}

/**
 * Checks and parses a request. If the signal is aborted while a worker parses the query, rejects with ABORTED
 * immediately.
 */
export async function understand(
  given: SearchRequest,
  { signal, viewer }: Pick<SearchOptions, "signal" | "viewer">,
  { pool, contexts }: Understanding,
): Promise<Understood> {
  const request = checkRequest(given);
  const dialect = {
    regex: request.isRegexEnabled,
    caseSensitive: request.isCaseSensitivityEnabled,
  };
  const asked: QueryText = { text: request.query, dialect };
  const meaning = isShort(request.query)
    ? meaningOf(asked)
    : await understandElsewhere(asked, signal, pool);
  return { ...meaning, request, contexts: await resolveContexts(meaning, viewer, contexts) };
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

export async function resolveContexts(
  { contextNames }: Pick<Meaning, "contextNames">,
  viewer: Viewer | undefined,
  contexts: Contexts | undefined,
): Promise<Map<string, ReadonlySet<string>>> {
  const resolved = new Map<string, ReadonlySet<string>>();
  for (const name of contextNames) {
    const names = await contexts?.(name, viewer);
    if (!names) throw unknownContext(name);
    resolved.set(name, new Set(names));
  }
  return resolved;
}
