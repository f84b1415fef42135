/**
 * Draws the search box. On the start page and on a page of results, every keystroke starts a search. On other pages,
 * only Enter starts a search. If the reader pastes several lines of code, exactly this code is searched for.
 */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Address, SearchAddress } from "../frame/address.ts";
import { Icon } from "../frame/icons.tsx";
import { moveFocus } from "../frame/keyboard.ts";
import { usePage } from "../frame/page-context.ts";
import { pasteCode } from "./pasted-code.ts";
import { wordAt } from "./query-text.ts";
import { Completions, optionId } from "./completion-list.tsx";
import { useCompletions } from "./use-completions.ts";

const NO_SEARCH: SearchAddress = { view: "search", query: "", regex: false, matchCase: false };

export function SearchBox() {
  const box = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const completions = useCompletions(box);
  const { asked, isStart, isQuestion, search } = useBox();
  const onInput = (): void => {
    search({ query: box.current!.value }, "typing");
    completions.ask();
  };
  const take = (text: string): void => {
    const { value, selectionStart } = box.current!;
    const { start, end } = wordAt(value, selectionStart);
    box.current!.setRangeText(text, start, end, "end");
    onInput();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || completions.onKey(event, take)) return;
    if (event.key === "Enter") completions.close();
    onBoxKey(event, box.current!, () => search({}, "enter"));
  };
  const onPaste = (event: ClipboardEvent): void => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const { value, selectionStart: start, selectionEnd: end } = box.current!;
    const rest = `${value.slice(0, start)} ${value.slice(end)}`;
    const pasted = asked.regex ? undefined : pasteCode(text, rest);
    if (pasted === undefined) return;
    event.preventDefault();
    box.current!.setRangeText(pasted.text, start, end, "end");
    search({ query: box.current!.value, regex: pasted.regex }, "typing");
    completions.close();
  };
  const { items, active } = completions;
  return (
    <form class="search" role="search" onSubmit={(event) => event.preventDefault()}>
      <Icon name="search" />
      <textarea
        ref={box}
        {...BOX}
        placeholder={isQuestion ? "Describe the code in words" : "Search code"}
        autofocus={isStart}
        rows={Math.min(6, asked.query.split("\n").length)}
        value={asked.query}
        aria-controls={list}
        aria-activedescendant={active === undefined ? undefined : optionId(list, active)}
        onInput={onInput}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        onBlur={() => completions.close()}
      />
      {!isQuestion && <Toggles asked={asked} onChange={(changes) => search(changes, "typing")} />}
      <Completions id={list} items={items} active={active} onTake={take} />
    </form>
  );
}

const BOX = {
  id: "search",
  "aria-label": "Search code",
  "aria-haspopup": "listbox",
  "aria-autocomplete": "list",
  autocomplete: "off",
  autocapitalize: "off",
  spellcheck: false,
} as const;

function onBoxKey(event: KeyboardEvent, box: HTMLTextAreaElement, search: () => void): void {
  if (event.key === "Escape") return box.blur();
  const isDown = event.key === "ArrowDown" && isLastLine(box);
  const isEnter = event.key === "Enter" && !event.shiftKey;
  if (!isDown && !isEnter) return;
  event.preventDefault();
  if (isEnter) search();
  moveFocus(1);
}

interface Box {
  asked: SearchAddress;
  isStart: boolean;
  /** Whether the box contains a question in words. */
  isQuestion: boolean;
  search: (changes: Partial<SearchAddress>, how: "typing" | "enter") => void;
}

/**
 * Returns the search that the box shows, and the function that changes it. If the page's address contains a search, the
 * box shows that search. If the address changes to the start page, the box becomes empty. Elsewhere, it keeps its text.
 */
function useBox(): Box {
  const { router } = usePage();
  const { address } = router;
  const own = useRef(new WeakSet<Address>());
  const [asked, setAsked] = useAsked(address, own.current);
  const search: Box["search"] = (changes, how) => {
    const next = { ...asked, ...changes };
    setAsked(next);
    const isResults = address.view === "search" || address.view === "find";
    if (how === "typing" && !isResults && address.view !== "home") return;
    if (next.query.trim() === "" && !isResults) return;
    const to: Address = address.view === "find" ? { view: "find", query: next.query } : next;
    own.current.add(to);
    if (!isResults) router.go(to);
    else router.go(to, how === "typing" ? "typing" : "replace");
  };
  return { asked, isStart: address.view === "home", isQuestion: address.view === "find", search };
}

/**
 * Returns the search that the box shows, and follows changes of the address. `own` contains the addresses that the
 * box itself has made. These are ignored, because the reader may have typed more by the time they arrive.
 */
function useAsked(
  address: Address,
  own: WeakSet<Address>,
): [SearchAddress, (asked: SearchAddress) => void] {
  const [asked, setAsked] = useState(searchIn(address) ?? NO_SEARCH);
  useEffect(() => {
    if (own.has(address)) return;
    const search = searchIn(address);
    if (search !== undefined) setAsked(search);
    else if (address.view === "home") setAsked(NO_SEARCH);
  }, [address, own]);
  return [asked, setAsked];
}

function searchIn(address: Address): SearchAddress | undefined {
  if (address.view === "search") return address;
  return address.view === "find" ? { ...NO_SEARCH, query: address.query } : undefined;
}

const isLastLine = ({ value, selectionEnd }: HTMLTextAreaElement): boolean =>
  !value.slice(selectionEnd).includes("\n");

interface TogglesProps {
  asked: SearchAddress;
  onChange: (changes: Partial<SearchAddress>) => void;
}

function Toggles({ asked: { matchCase, regex }, onChange }: TogglesProps) {
  return (
    <>
      <Toggle
        label="Match case"
        text="Aa"
        isOn={matchCase}
        onToggle={() => onChange({ matchCase: !matchCase })}
      />
      <Toggle
        label="Regular expression"
        text=".*"
        isOn={regex}
        onToggle={() => onChange({ regex: !regex })}
      />
    </>
  );
}

interface ToggleProps {
  label: string;
  text: string;
  isOn: boolean;
  onToggle: () => void;
}

function Toggle({ label, text, isOn, onToggle }: ToggleProps) {
  return (
    <button
      type="button"
      class="toggle"
      aria-pressed={isOn}
      aria-label={label}
      title={label}
      onClick={onToggle}
    >
      {text}
    </button>
  );
}
