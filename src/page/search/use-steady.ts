/**
 * Keeps the reader's position when the ranked answer replaces the streamed files, which are in another order. The
 * first visible card stays in its place, and the focus stays on the same link.
 */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Found } from "./live-search.ts";

interface Seen {
  /** The first card in the window and its distance from the top. Undefined if the reader is at the top. */
  card?: { label: string; top: number };
  /** The link that has the focus, by its address and its card. */
  focus?: { label: string; href: string };
}

const CARD = "article[data-place]";

export function useSteady(state: Found["state"]): void {
  const before = useRef(state);
  const seen = useRef<Seen>(undefined);
  // the stream's cards are still in the document here
  if (before.current === "streaming" && state === "done") seen.current = seenNow();
  before.current = state;
  useLayoutEffect(() => {
    if (seen.current !== undefined) showAgain(seen.current);
    seen.current = undefined;
  }, [state]);
}

const labelOf = (card: Element): string => card.getAttribute("aria-label") ?? "";
const cardsNow = (): Element[] => [...document.querySelectorAll(CARD)];

function seenNow(): Seen {
  const { activeElement } = document;
  const focused = activeElement?.closest(CARD);
  const first =
    window.scrollY === 0
      ? undefined
      : cardsNow().find((card) => card.getBoundingClientRect().bottom > 0);
  return {
    ...(first && { card: { label: labelOf(first), top: first.getBoundingClientRect().top } }),
    ...(focused &&
      activeElement instanceof HTMLAnchorElement && {
        focus: { label: labelOf(focused), href: activeElement.href },
      }),
  };
}

function showAgain({ card, focus }: Seen): void {
  const cards = cardsNow();
  const found = (label: string): Element | undefined => cards.find((one) => labelOf(one) === label);
  const first = card && found(card.label);
  if (first) window.scrollBy(0, first.getBoundingClientRect().top - card.top);
  const links = focus && found(focus.label)?.querySelectorAll("a");
  const link = links && [...links].find(({ href }) => href === focus.href);
  if (link !== document.activeElement) link?.focus({ preventScroll: true });
}
