/**
 * Handles the keys that work everywhere on the page. The selected result is the one that has the focus, so no
 * component has to know which result is selected.
 */

import { useLayoutEffect } from "preact/hooks";
import { usePage, type Page } from "./page-context.ts";
import { RESULTS, resultsNow } from "./place.ts";

export type Command = "help" | "find-file" | "permalink";

export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["/", "Go to the search box"],
  ["j or ↓", "Next result"],
  ["k or ↑", "Previous result"],
  ["Enter", "Open the result"],
  ["Esc", "Back"],
  ["t", "Find a file by its name"],
  ["y", "Make the address permanent: the commit in place of the branch"],
  ["Enter on a name in a file", "Show its definitions and uses"],
  ["d on a name in a file", "Go to its definition"],
  ["Ctrl + F in a file", "Find in the file"],
  ["?", "Show these keys"],
];

/** The event that requests the permanent link of a view. The views of files and folders listen to it. */
export const PERMALINK = "quern-permalink";

export function useKeyboard(onCommand: (command: Command) => void): void {
  const page = usePage();
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isInDialog()) return;
      if (isTyping(event.composedPath()[0])) return; // the event's own target is the host of the shadow root
      if (act(event.key, page, onCommand)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [page, onCommand]);
}

/**
 * Returns whether a dialog is open. Asks the document, because a component learns only one task later that a dialog
 * has been closed, and a key that is pressed in between would be lost.
 */
const isInDialog = (): boolean => document.querySelector("dialog[open]") !== null;

function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof Element && target.matches("input, textarea, select");
}

/** Performs the action of a key. Returns whether the key has an action in this view. */
function act(key: string, page: Page, onCommand: (command: Command) => void): boolean {
  switch (key) {
    case "/":
      return focusSearch();
    case "?":
      return (onCommand("help"), true);
    case "t":
      return (onCommand("find-file"), true);
    case "y":
      return !document.dispatchEvent(new Event(PERMALINK, { cancelable: true }));
    case "j":
      return moveFocus(1);
    case "k":
      return moveFocus(-1);
    case "ArrowDown":
    case "ArrowUp":
      return isOnResult() && moveFocus(key === "ArrowDown" ? 1 : -1);
    case "Escape":
      return back(page);
    default:
      return false;
  }
}

function focusSearch(): boolean {
  const box = document.querySelector<HTMLTextAreaElement>("#search");
  box?.focus();
  box?.select();
  return box !== null;
}

const isOnResult = (): boolean => document.activeElement?.matches(RESULTS) === true;

/**
 * Moves the focus to the next or the previous result. If no result has the focus, moves it to the first result. The
 * search box comes before the first result.
 */
export function moveFocus(step: 1 | -1): boolean {
  const results = resultsNow();
  if (results.length === 0) return false;
  const at = results.indexOf(document.activeElement as HTMLElement);
  if (at === 0 && step === -1) return focusSearch();
  const next = results[at === -1 ? 0 : Math.min(at + step, results.length - 1)]!;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

/**
 * Goes back to the previous view. If there is none, because the reader has opened this view by its link, goes to the
 * start page.
 */
function back({ router }: Page): boolean {
  if (router.address.view === "home") return false;
  if (router.depth > 0) history.back();
  else router.go({ view: "home" });
  return true;
}
