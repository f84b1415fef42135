/**
 * Remembers the position of the reader in a long list. The position consists of the element that was at the top of
 * the window, and the result that had the focus. It is not a distance in pixels, because elements that are not drawn
 * have only estimated heights.
 */

import { useLayoutEffect, useRef } from "preact/hooks";

export interface Place {
  /** The index of the element at the top of the window, and its distance from the top. */
  top?: { index: number; distance: number };
  /** The index of the result that had the focus. */
  result?: number;
}

/** Selects the elements of lists that can be at the top of the window. */
const PLACES = "[data-place]";
/** Selects the results that `j` and `k` step through. */
export const RESULTS = "[data-result]";

export const resultsNow = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(RESULTS)];

export function placeNow(): Place {
  const result = resultsNow().indexOf(document.activeElement as HTMLElement);
  const top = window.scrollY === 0 ? undefined : topNow();
  return { ...(top && { top }), ...(result !== -1 && { result }) };
}

function topNow(): Place["top"] {
  const places = [...document.querySelectorAll(PLACES)];
  const index = places.findIndex((place) => place.getBoundingClientRect().bottom > 0);
  return index === -1 ? undefined : { index, distance: places[index]!.getBoundingClientRect().top };
}

/** Scrolls back to the position where the reader left the list, as soon as the list is drawn. */
export function usePlace(place: Place | undefined, isThere: boolean): void {
  const isDue = useRef(true);
  useLayoutEffect(() => {
    if (!isDue.current || !isThere) return;
    isDue.current = false;
    if (place === undefined) return;
    holdTo(place);
    if (place.result !== undefined && hasNoFocus())
      resultsNow()[place.result]?.focus({ preventScroll: true });
  }, [isThere]);
}

/**
 * The number of frames in which the position is restored again, because elements get their heights a few frames after
 * they become visible. Restoring ends early if the reader scrolls, clicks or presses a key.
 */
const FRAMES_HELD = 10;

function holdTo(place: Place): void {
  const input = new AbortController();
  for (const type of ["wheel", "touchmove", "keydown", "pointerdown"])
    addEventListener(type, () => input.abort(), { signal: input.signal, passive: true });
  const hold = (frames: number): void => {
    if (input.signal.aborted) return;
    if (frames === 0) return input.abort();
    scrollTo(place);
    requestAnimationFrame(() => hold(frames - 1));
  };
  hold(FRAMES_HELD);
}

function scrollTo({ top }: Place): void {
  const element = top && document.querySelectorAll(PLACES)[top.index];
  if (element) window.scrollBy(0, element.getBoundingClientRect().top - top.distance);
}

/** Whether no control has the focus. This is so after the view with the focused control has been replaced. */
export function hasNoFocus(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement.matches("body, main");
}

/** Moves the focus to the view itself, so that a screen reader begins there, and keys work. */
export function focusMain(): void {
  const main = document.getElementById("main");
  main?.setAttribute("tabindex", "-1");
  main?.focus({ preventScroll: true });
}
