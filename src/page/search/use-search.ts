/** Keeps the latest searches, so that going back shows the files that were loaded. */

import { useEffect, useReducer, useRef } from "preact/hooks";
import { LruCache } from "../../base/lru-cache.ts";
import type { Client } from "../wire/client.ts";
import { startSearch, type Asked, type Found, type LiveSearch } from "./live-search.ts";

const KEPT = 10;

/** The latest searches of a client. */
class KeptSearches {
  readonly #client: Client;
  readonly #searches = new LruCache<string, LiveSearch>({ most: KEPT });
  /** Called whenever a search has changed. */
  onChange: (search: LiveSearch) => void = () => {};

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns the search if it is done, and otherwise starts it anew. */
  get(asked: Asked): LiveSearch {
    const key = keyOf(asked);
    const known = this.#searches.get(key);
    if (known?.found.state === "done") return known;
    known?.stop();
    const search: LiveSearch = startSearch(this.#client, asked, () => this.onChange(search));
    this.#searches.set(key, search);
    return search;
  }
}

const kept = new WeakMap<Client, KeptSearches>();

function keptFor(client: Client): KeptSearches {
  let searches = kept.get(client);
  if (searches === undefined) kept.set(client, (searches = new KeptSearches(client)));
  return searches;
}

const keyOf = ({ query, regex, matchCase }: Asked): string =>
  JSON.stringify([query, regex, matchCase]);

export interface Searching {
  found: Found;
  /** The search whose files are shown: the latest one with an answer. */
  shown: Found;
  more: () => void;
}

/** Runs the search `asked`. When `asked` changes, stops the earlier search if it is still running. */
export function useSearch(client: Client, asked: Asked): Searching {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const current = useRef<{ key: string; search: LiveSearch }>(undefined);
  const last = useRef<Found>(undefined);
  const searches = keptFor(client);
  const key = keyOf(asked);
  if (current.current?.key !== key) {
    const before = current.current?.search;
    if (before?.found.state !== "done") before?.stop();
    current.current = { key, search: searches.get(asked) };
  }
  const { search } = current.current;
  useEffect(() => {
    searches.onChange = (which) => {
      if (which === current.current?.search) render(undefined);
    };
    render(undefined); // draws files that arrived before this effect
    return () => {
      searches.onChange = () => {};
      const at = current.current?.search;
      if (at?.found.state !== "done") at?.stop();
      current.current = undefined;
    };
  }, [searches]);
  const { found } = search;
  if (found.state === "streaming" || found.state === "done") last.current = found;
  return { found, shown: last.current ?? found, more: () => search.more() };
}
