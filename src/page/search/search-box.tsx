/**
 * The search box. On the first view and among results, every key stroke searches; where a file is read,
 * Enter does. Code of several lines that is pasted is put in quotes, which find it as it stands.
 */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Address, SearchAddress } from "../frame/address.ts";
import { Icon } from "../frame/icons.tsx";
import { moveFocus } from "../frame/keyboard.ts";
import { usePage } from "../frame/page-context.ts";
import { wordAt } from "./query-text.ts";
import { Completions, optionId } from "./completion-list.tsx";
import { useCompletions } from "./use-completions.ts";

const NO_SEARCH: SearchAddress = { view: "search", query: "", regex: false, matchCase: false };

export function SearchBox() {
  const { router } = usePage();
  const { address } = router;
  const [asked, setAsked] = useAsked(address);
  const box = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const completions = useCompletions(box);

  const search = (changes: Partial<SearchAddress>, how: "typing" | "enter"): void => {
    const next = { ...asked, ...changes };
    setAsked(next);
    const isLive = address.view === "home" || address.view === "search";
    if (how === "typing" && !isLive) return;
    if (next.query.trim() === "" && address.view !== "search") return;
    if (address.view !== "search") router.go(next);
    else router.go(next, how === "typing" ? "typing" : "replace");
  };
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
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      search({}, "enter");
      completions.close();
      if (address.view === "search") moveFocus(1);
    } else if (event.key === "Escape") box.current!.blur();
    else if (event.key === "ArrowDown" && isLastLine(box.current!)) {
      event.preventDefault();
      moveFocus(1);
    }
  };
  const onPaste = (event: ClipboardEvent): void => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!text.trim().includes("\n") || asked.regex) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = box.current!;
    box.current!.setRangeText(quoteCode(text), selectionStart, selectionEnd, "end");
    onInput();
  };

  return (
    <form class="search" role="search" onSubmit={(event) => event.preventDefault()}>
      <Icon name="search" />
      <textarea
        ref={box}
        id="search"
        rows={Math.min(6, asked.query.split("\n").length)}
        value={asked.query}
        placeholder="Search code"
        aria-label="Search code"
        aria-haspopup="listbox"
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={
          completions.active === undefined ? undefined : optionId(list, completions.active)
        }
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        autofocus={address.view === "home"}
        onInput={onInput}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        onBlur={completions.close}
      />
      <Toggle
        label="Match case"
        text="Aa"
        isOn={asked.matchCase}
        onToggle={() => search({ matchCase: !asked.matchCase }, "typing")}
      />
      <Toggle
        label="Regular expression"
        text=".*"
        isOn={asked.regex}
        onToggle={() => search({ regex: !asked.regex }, "typing")}
      />
      <Completions id={list} items={completions.items} active={completions.active} onTake={take} />
    </form>
  );
}

/** What the box holds: that of the address, where it is one of a search, or else what was typed last. */
function useAsked(address: Address): [SearchAddress, (asked: SearchAddress) => void] {
  const [asked, setAsked] = useState(address.view === "search" ? address : NO_SEARCH);
  useEffect(() => {
    if (address.view === "search") setAsked(address);
    else if (address.view === "home") setAsked(NO_SEARCH);
  }, [address]);
  return [asked, setAsked];
}

const isLastLine = ({ value, selectionEnd }: HTMLTextAreaElement): boolean =>
  !value.slice(selectionEnd).includes("\n");

function quoteCode(text: string): string {
  const code = text.replaceAll("\r\n", "\n").replace(/^\n+|\s+$/g, "");
  return `"${code.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
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
