/** Keeps the latest searches, so that going back shows the files that were loaded. */

import { useEffect, useReducer, useRef } from "preact/hooks";
import type { Client } from "../wire/client.ts";
import { startSearch, type Asked, type Found, type LiveSearch } from "./live-search.ts";

const KEPT = 10;

/** The searches of each client, the newest last. */
const searches = new WeakMap<Client, Map<string, LiveSearch>>();
let changed: (search: LiveSearch) => void = () => {};

const keyOf = ({ query, regex, matchCase }: Asked): string =>
  JSON.stringify([query, regex, matchCase]);

function searchFor(client: Client, asked: Asked): LiveSearch {
  let kept = searches.get(client);
  if (kept === undefined) searches.set(client, (kept = new Map()));
  const key = keyOf(asked);
  const known = kept.get(key);
  if (known !== undefined && known.found.state === "done") return known;
  known?.stop();
  const search: LiveSearch = startSearch(client, asked, () => changed(search));
  kept.delete(key);
  kept.set(key, search);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  return search;
}

export interface Searching {
  found: Found;
  /** The search whose files are shown: the latest one with an answer. */
  shown: Found;
  more: () => void;
}

/** Runs the search `asked`. When `asked` changes, stops this search if it is still running. */
export function useSearch(client: Client, asked: Asked): Searching {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const current = useRef<{ key: string; search: LiveSearch }>(undefined);
  const last = useRef<Found>(undefined);
  const key = keyOf(asked);
  if (current.current?.key !== key) {
    const before = current.current?.search;
    if (before?.found.state !== "done") before?.stop();
    current.current = { key, search: searchFor(client, asked) };
  }
  const { search } = current.current;
  useEffect(() => {
    changed = (which) => {
      if (which === current.current?.search) render(undefined);
    };
    render(undefined); // draws files that arrived before this effect
    return () => {
      changed = () => {};
      const at = current.current?.search;
      if (at?.found.state !== "done") at?.stop();
      current.current = undefined;
    };
  }, [client]);
  const { found } = search;
  if (found.state === "streaming" || found.state === "done") last.current = found;
  return { found, shown: last.current ?? found, more: () => search.more() };
}
