/**
 * Draws a file's text with CodeMirror, which draws only the visible lines. This module is loaded when a file is first
 * shown.
 */

import {
  bracketMatching,
  defineLanguageFacet,
  Language,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import {
  Compartment,
  EditorState,
  StateEffect,
  StateField,
  type Extension,
} from "@codemirror/state";
import {
  Decoration,
  EditorView,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  type DecorationSet,
} from "@codemirror/view";
import type { Lines } from "../frame/address.ts";
import { grammarFor, type Grammar } from "../colours/grammars.ts";
import { StepwiseParser } from "../colours/stepwise-parser.ts";
import { tokenClasses } from "../colours/token-classes.ts";
import style from "../style/code.shadow.css";
import tokenStyle from "../style/tokens.shadow.css";
import type { Blame } from "../wire/answers.ts";
import { blameGutter } from "./blame-gutter.ts";

export interface CodeOptions {
  text: string;
  /** The name of the language in GitHub Linguist, or '' if it is not known. */
  language: string;
  /** The text's label for screen readers. */
  label: string;
  /** Called when line numbers are clicked. */
  onLines: (lines: Lines) => void;
  /** Called when a name is clicked, or when Enter is pressed while the caret is on a name. */
  onName: (name: Name) => void;
  /** Called when the reader wants to go to the definition of a name. */
  onDefinition: (name: Name) => void;
  /** Resolves to the card to show while the pointer is over a name, or to undefined to show none. */
  cardOf: (name: Name) => Promise<HTMLElement | undefined>;
}

/** A name in the text, and where it begins. */
export interface Name {
  name: string;
  line: number;
  /** The column in code points, from 1. */
  column: number;
}

export interface CodeView {
  /** Marks lines. If they are not visible, scrolls to them. */
  show(lines: Lines | undefined): void;
  /** Shows a column with the authors of the lines. If `blame` is undefined, removes this column. */
  blame(blame: Blame | undefined, linkOf: (hash: string) => string): void;
  focus(): void;
  destroy(): void;
}

export function openCode(parent: HTMLElement, options: CodeOptions): CodeView {
  const grammar = new Compartment();
  const blame = new Compartment();
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style + tokenStyle);
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [grammar.of([]), blame.of([]), ...extensionsOf(options)],
    }),
  });
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]; // comes after CodeMirror's own style sheets
  const observer = keepCaretInView(view);
  let isOpen = true;
  void grammarFor(options.language).then((found) => {
    if (isOpen && found) view.dispatch({ effects: grammar.reconfigure(languageOf(found)) });
  });
  return {
    show: (lines) => showLines(view, lines),
    blame: (told, linkOf) =>
      view.dispatch({ effects: blame.reconfigure(told ? blameGutter(told, linkOf) : []) }),
    focus: () => view.focus(),
    destroy: () => {
      isOpen = false;
      observer.disconnect();
      view.destroy();
    },
  };
}

const languageOf = (grammar: Grammar): Language =>
  grammar.kind === "parser"
    ? new Language(defineLanguageFacet(), new StepwiseParser(grammar.parser))
    : StreamLanguage.define(grammar.mode);

/** Scrolls to the caret when the view shrinks, such as when the panel of a name opens below it on a phone. */
function keepCaretInView(view: EditorView): ResizeObserver {
  let before = 0;
  const observer = new ResizeObserver(() => {
    const { clientHeight } = view.scrollDOM;
    if (clientHeight < before && view.hasFocus)
      view.dispatch({
        effects: EditorView.scrollIntoView(view.state.selection.main.head, { yMargin: 40 }),
      });
    before = clientHeight;
  });
  observer.observe(view.scrollDOM);
  return observer;
}

function extensionsOf({ label, onLines, cardOf, ...names }: CodeOptions): Extension[] {
  return [
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({
      "aria-label": label,
      inputmode: "none",
      tabindex: "0",
      spellcheck: "false",
    }),
    highlightSpecialChars({ addSpecialChars: /[\u202a-\u202e\u2066-\u2069]/ }),
    lineNumbers({ domEventHandlers: { click: clickedLine(onLines) } }),
    syntaxHighlighting(tokenClasses),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    keymap.of([
      { key: "Enter", run: (view) => nameAtCaret(view, names.onName) },
      { key: "d", run: (view) => nameAtCaret(view, names.onDefinition) },
      // the browser's own shortcuts reach only lines that are drawn
      { key: "Mod-Home", mac: "Cmd-ArrowUp", run: (view) => goTo(view, 0) },
      { key: "Mod-End", mac: "Cmd-ArrowDown", run: (view) => goTo(view, view.state.doc.length) },
      ...searchKeymap,
    ]),
    EditorView.domEventHandlers({ click: clickedName(names) }),
    hoverCards(cardOf),
    targetLines,
  ];
}

// ── lines ──

const setTarget = StateEffect.define<Lines | undefined>();

const targetLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marked, { effects, state }) {
    for (const effect of effects)
      if (effect.is(setTarget))
        return effect.value ? markLines(state, effect.value) : Decoration.none;
    return marked;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const targetLine = Decoration.line({ class: "cm-target" });

function markLines({ doc }: EditorState, { from, to }: Lines): DecorationSet {
  const marks = [];
  for (let line = from; line <= Math.min(to, doc.lines); line++)
    marks.push(targetLine.range(doc.line(line).from));
  return Decoration.set(marks);
}

function showLines(view: EditorView, lines: Lines | undefined): void {
  const effects: StateEffect<unknown>[] = [setTarget.of(lines)];
  const { doc } = view.state;
  if (lines === undefined || lines.from > doc.lines) return view.dispatch({ effects });
  const { from } = doc.line(lines.from);
  const { from: top, to: bottom } = view.viewport;
  const isSeen = view.state.selection.main.head > 0 && from >= top && from <= bottom;
  if (!isSeen) effects.push(EditorView.scrollIntoView(from, { y: "center" }));
  view.dispatch({ effects, selection: { anchor: from } });
}

const clickedLine =
  (onLines: CodeOptions["onLines"]) =>
  (view: EditorView, block: { from: number }, event: Event): boolean => {
    const { doc, selection } = view.state;
    const line = doc.lineAt(block.from).number;
    const other = (event as MouseEvent).shiftKey ? doc.lineAt(selection.main.head).number : line;
    onLines({ from: Math.min(line, other), to: Math.max(line, other) });
    return true;
  };

function goTo(view: EditorView, anchor: number): boolean {
  view.dispatch({ selection: { anchor }, scrollIntoView: true });
  return true;
}

// ── names ──

type OnNames = Pick<CodeOptions, "onName" | "onDefinition">;

const NO_NAMES = ".tok-keyword, .tok-comment, .tok-string, .tok-number, .cm-gutters";

const clickedName =
  ({ onName, onDefinition }: OnNames) =>
  (event: MouseEvent, view: EditorView): boolean => {
    const target = event.target as Element;
    const isName = target.closest(".tok-keyword, .tok-comment, .cm-gutters") === null;
    if (!isName || event.detail > 1 || !view.state.selection.main.empty) return false;
    const at = view.posAtCoords({ x: event.clientX, y: event.clientY }, false);
    const found = nameAt(view.state, at);
    if (found !== undefined) (event.ctrlKey || event.metaKey ? onDefinition : onName)(found.name);
    return false;
  };

function nameAtCaret(view: EditorView, use: (name: Name) => void): boolean {
  const found = nameAt(view.state, view.state.selection.main.head);
  if (found !== undefined) use(found.name);
  return found !== undefined;
}

const HOVER_MS = 350;

const hoverCards = (cardOf: CodeOptions["cardOf"]): Extension =>
  hoverTooltip(
    async (view, at) => {
      const { node } = view.domAtPos(at);
      const element = node instanceof Element ? node : node.parentElement;
      const found = element?.closest(NO_NAMES) ? undefined : nameAt(view.state, at);
      const dom = found && (await cardOf(found.name));
      if (found === undefined || dom === undefined) return null;
      return { pos: found.from, end: found.to, above: true, create: () => ({ dom }) };
    },
    { hoverTime: HOVER_MS },
  );

interface FoundName {
  name: Name;
  from: number;
  to: number;
}

function nameAt({ doc }: EditorState, at: number): FoundName | undefined {
  const { text, from, number } = doc.lineAt(at);
  const before = /[\p{L}\p{N}_$]*$/u.exec(text.slice(0, at - from))![0];
  const after = /^[\p{L}\p{N}_$]*/u.exec(text.slice(at - from))![0];
  const name = before + after;
  if (!/^[\p{L}_$]/u.test(name) || name.length > 200) return undefined;
  const start = at - before.length;
  const column = Array.from(text.slice(0, start - from)).length + 1;
  return { name: { name, line: number, column }, from: start, to: start + name.length };
}
