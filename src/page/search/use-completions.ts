/** Keeps the state of the list below the search box. The state consists of the suggestions and the selected row. */

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../frame/page-context.ts";
import { complete, type Completion } from "./completions.ts";

export interface CompletionState {
  items: readonly Completion[];
  active: number | undefined;
  /** Requests completions of the word at the caret. */
  ask(): void;
  close(): void;
  /** Returns whether the list has handled the key. */
  onKey(event: KeyboardEvent, take: (text: string) => void): boolean;
}

const WAIT_MS = 100;
const NONE: readonly Completion[] = [];

export function useCompletions(box: RefObject<HTMLTextAreaElement | null>): CompletionState {
  const { client } = usePage();
  const [items, setItems] = useState(NONE);
  const [active, setActive] = useState<number>();
  const asking = useRef<AbortController>(undefined);
  const close = (): void => {
    asking.current?.abort();
    setItems(NONE);
    setActive(undefined);
  };
  useEffect(() => () => asking.current?.abort(), []);

  const ask = (): void => {
    asking.current?.abort();
    const abort = (asking.current = new AbortController());
    setTimeout(() => {
      if (abort.signal.aborted || box.current === null) return;
      const { value, selectionStart } = box.current;
      complete(client, value, selectionStart, abort.signal).then(
        (found) => {
          if (abort.signal.aborted) return;
          setItems(found);
          setActive(undefined);
        },
        () => {}, // a word that is not a valid expression yet has no completions
      );
    }, WAIT_MS);
  };

  const onKey = (event: KeyboardEvent, take: (text: string) => void): boolean => {
    if (items.length === 0) return false;
    const { key } = event;
    if (key === "ArrowDown") setActive(active === undefined ? 0 : (active + 1) % items.length);
    else if (key === "ArrowUp" && active !== undefined)
      setActive(active === 0 ? undefined : active - 1);
    else if (key === "Escape") close();
    else if (key === "Tab" && !event.shiftKey) take(items[active ?? 0]!.text);
    else if (key === "Enter" && active !== undefined) take(items[active]!.text);
    else return false;
    event.preventDefault();
    return true;
  };
  return { items, active, ask, close, onKey };
}
