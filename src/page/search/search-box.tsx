/**
 * Draws the search box. On the start page and on a page of results, every keystroke starts a search. On other pages,
 * only Enter starts a search. If the reader pastes several lines of code, exactly this code is searched for.
 */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Address } from "../frame/address.ts";
import { Icon } from "../frame/icons.tsx";
import { moveFocus } from "../frame/keyboard.ts";
import { usePage } from "../frame/page-context.ts";
import { boxFor, sentFor, type BoxText, type Sent } from "./box-text.ts";
import { quotedLines } from "./pasted-code.ts";
import { wordAt } from "./query-text.ts";
import { Completions, optionId } from "./completion-list.tsx";
import { useCompletions } from "./use-completions.ts";

export function SearchBox() {
  const box = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const completions = useCompletions(box);
  const { asked, isStart, isQuestion, search } = useBox();
  const onInput = (): void => {
    search({ text: box.current!.value }, "typing");
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
    const pasted = asked.regex ? undefined : quotedLines(text, rest);
    if (pasted === undefined) return;
    event.preventDefault();
    box.current!.setRangeText(pasted, start, end, "end");
    search({ text: box.current!.value }, "typing");
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
        rows={Math.min(6, asked.text.split("\n").length)}
        value={asked.text}
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

/** What the box shows, and the search that it stands for. */
interface Asked extends BoxText {
  matchCase: boolean;
  sent: Sent;
}

type Changes = Partial<BoxText & { matchCase: boolean }>;

interface Box {
  asked: Asked;
  isStart: boolean;
  /** Whether the box contains a question in words. */
  isQuestion: boolean;
  search: (changes: Changes, how: "typing" | "enter") => void;
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
  const isQuestion = address.view === "find";
  const search: Box["search"] = (changes, how) => {
    const next = { ...asked, ...changes };
    if (next.text !== asked.text || next.regex !== asked.regex) next.sent = sentFor(next);
    setAsked(next);
    const isResults = address.view === "search" || isQuestion;
    if (how === "typing" && !isResults && address.view !== "home") return;
    if (next.text.trim() === "" && !isResults) return;
    const { matchCase, sent } = next;
    const grouped = address.view === "search" && address.isGrouped ? { isGrouped: true } : {};
    const to: Address = isQuestion
      ? { view: "find", query: next.text }
      : { view: "search", ...sent, matchCase, ...grouped };
    own.current.add(to);
    if (!isResults) router.go(to);
    else router.go(to, how === "typing" ? "typing" : "replace");
  };
  return { asked, isStart: address.view === "home", isQuestion, search };
}

/**
 * Returns the search that the box shows, and follows changes of the address. `own` contains the addresses that the
 * box itself has made. These are ignored, because the reader may have typed more by the time they arrive.
 */
function useAsked(address: Address, own: WeakSet<Address>): [Asked, (asked: Asked) => void] {
  const [asked, setAsked] = useState(askedIn(address) ?? NOTHING);
  useEffect(() => {
    if (own.has(address)) return;
    const there = askedIn(address);
    if (there !== undefined) setAsked(there);
    else if (address.view === "home") setAsked(NOTHING);
  }, [address, own]);
  return [asked, setAsked];
}

const NOTHING: Asked = {
  text: "",
  regex: false,
  matchCase: false,
  sent: { query: "", regex: false },
};

function askedIn(address: Address): Asked | undefined {
  if (address.view === "find") {
    const { query } = address;
    return { ...NOTHING, text: query, sent: { query, regex: false } };
  }
  if (address.view !== "search") return undefined;
  const { query, regex, matchCase } = address;
  const sent = { query, regex };
  return { ...boxFor(sent), matchCase, sent };
}

const isLastLine = ({ value, selectionEnd }: HTMLTextAreaElement): boolean =>
  !value.slice(selectionEnd).includes("\n");

interface TogglesProps {
  asked: Asked;
  onChange: (changes: Changes) => void;
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
