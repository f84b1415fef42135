/** Keeps the view, the address bar and the browser's history in sync. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { parseAddress, formatAddress, type Address } from "./address.ts";
import { placeNow, type Place } from "./place.ts";

export interface Router {
  readonly address: Address;
  /** The reader's position in this view when the reader left it. */
  readonly place: Place | undefined;
  /** How many views of this page come before this one in the browser's history. */
  readonly depth: number;
  /**
   * Opens a view. With `push` (default), adds it to the browser's history. With `replace` or `typing`, it replaces
   * the current view in the history. With `typing`, the address bar changes a little later.
   */
  go(address: Address, how?: "push" | "replace" | "typing"): void;
  /** Returns the link to a view. */
  href(address: Address): string;
}

interface Entry {
  address: Address;
  place: Place | undefined;
  depth: number;
}

/** The parts of an entry that the browser's history keeps. */
type Kept = Partial<Omit<Entry, "address">> | null;

const kept = (): Kept => history.state as Kept;

const TYPING_MS = 250; // browsers reject more than 100 changes in 30 s

export function useRouter(root: string): Router {
  const [entry, setEntry] = useState<Entry>(() => ({
    address: parseAddress(location.href, root),
    place: kept()?.place,
    depth: kept()?.depth ?? 0,
  }));
  const shown = useRef(entry); // the address that the address bar shows now or soon
  const timer = useRef(0);
  const href = useCallback((address: Address) => root + formatAddress(address), [root]);
  const go = useCallback<Router["go"]>(
    (address, how = "push") => {
      clearTimeout(timer.current);
      const before = shown.current;
      const depth = before.depth + (how === "push" ? 1 : 0);
      shown.current = { address, place: undefined, depth };
      const replace = (): void => history.replaceState({ depth }, "", href(address));
      if (how === "typing") {
        timer.current = window.setTimeout(replace, TYPING_MS);
        window.scrollTo(0, 0); // other results begin at the top
      } else if (how === "replace") replace();
      else {
        const left = { place: placeNow(), depth: before.depth };
        history.replaceState(left, "", href(before.address));
        history.pushState({ depth }, "", href(address));
        window.scrollTo(0, 0);
      }
      setEntry(shown.current);
    },
    [href],
  );
  useEffect(() => {
    history.scrollRestoration = "manual";
    const onPop = (): void => {
      clearTimeout(timer.current);
      const { place, depth = 0 } = kept() ?? {};
      shown.current = { address: parseAddress(location.href, root), place, depth };
      setEntry(shown.current);
    };
    addEventListener("popstate", onPop);
    return () => removeEventListener("popstate", onPop);
  }, [root]);
  useLinks(root, go);
  return useMemo(() => ({ ...entry, go, href }), [entry, go, href]);
}

/** Opens a view when its link is clicked without modifier keys. Leaves all other clicks to the browser. */
function useLinks(root: string, go: Router["go"]): void {
  useEffect(() => {
    const onClick = (event: MouseEvent): void => {
      const link = event
        .composedPath() // a link may be in a shadow root
        .find((element): element is HTMLAnchorElement => element instanceof HTMLAnchorElement);
      if (!link || !isPlainClick(event) || link.target || link.hasAttribute("download")) return;
      const address = link.href.startsWith(root) ? parseAddress(link.href, root) : undefined;
      if (address === undefined || address.view === "missing") return;
      event.preventDefault();
      go(address);
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, [root, go]);
}

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 &&
  !event.defaultPrevented &&
  !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
