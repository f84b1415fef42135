/**
 * Handles the keys that work anywhere. A key moves the focus, so results and dialogs need not know which row is
 * selected.
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
  ["Enter on a name in a file", "Show its definitions and references"],
  ["Ctrl + F in a file", "Find in the file"],
  ["?", "Show these keys"],
];

/** The event that asks for the permanent link of a view. The file's view listens to it. */
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
 * Returns whether a dialog is open. Asks the document, because a component learns of a dialog's end one task later, and
 * a key in between would be lost.
 */
const isInDialog = (): boolean => document.querySelector("dialog[open]") !== null;

function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof Element && target.matches("input, textarea, select");
}

/** Does what a key stands for. Returns whether the key has a meaning here. */
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

/** Moves the focus to the next result, or to the first one if none has it. */
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

/** Goes back to where the reader came from. If the view was opened by its link, goes to the start page. */
function back({ router }: Page): boolean {
  if (router.address.view === "home") return false;
  if (router.depth > 0) history.back();
  else router.go({ view: "home" });
  return true;
}
