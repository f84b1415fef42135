/**
 * The slow twin of src/base/definition-body.ts and src/search/thread/showing/enclosing.ts: bodies of split
 * lines, and every definition before a line, from the last one back.
 */

const TAB_COLUMNS = 4;

/** Returns the indentation of a line, in columns. */
export const indentOf = (line: string): number =>
  /^[ \t\v\f\r]*/.exec(line)![0].replaceAll("\t", " ".repeat(TAB_COLUMNS)).length;

const isEmpty = (line: string): boolean => !/[^ \t\v\f\r]/.test(line);

/** Returns the parts of a line that end in one of the brackets, followed by nothing or only a remark. */
function endingIn(brackets: string, line: string): string[] {
  const isLast = (behind: string): boolean =>
    behind === "" ||
    behind.startsWith("//") ||
    (behind.startsWith("/*") && behind.slice("/*".length).endsWith("*/"));
  const parts = Array.from(line, (_, i) => line.slice(0, i + 1));
  return parts.filter(
    (part) => brackets.includes(part.at(-1)!) && isLast(line.slice(part.length).trim()),
  );
}

const times = (part: string, text: string): number => text.split(part).length - 1;

const areOpen = (text: string): boolean => times("(", text) > times(")", text);

/** Returns the first mark that begins a text on the line and does not end it there. */
const textLeftOpen = (line: string, marks: readonly string[]): string | undefined =>
  marks.find((mark) => times(mark, line) % 2 === 1);

const TEXT_MARKS = [`"""`, "'''"];
/** Parts of one body that are indented like its first line. */
const PARTS = ["else", "elsif", "elif", "except", "finally", "rescue", "ensure", "catch", "where"];

/** Returns the word that a line begins with, or its first character. */
const beginning = (line: string): string => /^(?:\w+|.)?/.exec(line.trimStart())![0];
const closes = (line: string): boolean => [")", "]", "}", "end"].includes(beginning(line));
/** Says whether a line ends in a colon, like `) -> str:  # a remark`. */
const endsInColon = (line: string): boolean =>
  line.split("#").some((_, i, parts) =>
    parts
      .slice(0, i + 1)
      .join("#")
      .trimEnd()
      .endsWith(":"),
  );

/**
 * Returns the last line of the body of a definition that begins at `begin`: the last of all lines that are
 * its own. Lines at the margin in an open bracket or text, and those behind them, are its own only once
 * something closes what is open.
 */
export function endOfBody(lines: readonly string[], begin: number): number {
  const header = lines.at(begin - 1) ?? "";
  const own = [begin];
  let doubtful: number[] | undefined;
  /** Whether a line at the margin must close a bracket. */
  let isOpen = endingIn("([{", header).length > 0;
  /** The delimiter that ends an open text. */
  let mark = isOpen ? undefined : textLeftOpen(header, [...TEXT_MARKS, "`"]);
  /** The first lines, up to the one that closes their round brackets. */
  let argumentsOf = areOpen(header) ? header : undefined;
  const add = (line: number): void => void (doubtful ?? own).push(line);
  const addAll = (line: number): void => {
    own.push(...(doubtful ?? []), line);
    doubtful = undefined;
  };
  for (let line = begin + 1; line <= lines.length; line++) {
    const text = lines[line - 1]!;
    const depth = indentOf(text) - indentOf(header);
    if (mark !== undefined) {
      doubtful ??= [];
      if (textLeftOpen(text, [mark]) === undefined) continue;
      mark = undefined;
      addAll(line);
    } else if (isEmpty(text)) continue;
    else if (lines[line - 2]!.replace(/\r$/, "").endsWith("\\")) add(line);
    else if (depth > 0) {
      add(line);
      if (!isOpen) mark = textLeftOpen(text, TEXT_MARKS); // within brackets, an unindented line ends nothing
      if (argumentsOf === undefined || areOpen((argumentsOf += text))) continue;
      argumentsOf = undefined;
      isOpen = endingIn("{", text).length > 0;
    } else if (depth < 0 && (closes(text) || !isOpen)) break;
    else if (closes(text)) {
      addAll(line);
      isOpen = endingIn("([{", text).length > 0;
      if (!isOpen && !endsInColon(text)) break;
    } else if (isOpen) doubtful ??= [];
    else {
      isOpen = endingIn("{", text).some((part) => part.trim() === "{");
      if (!isOpen && !PARTS.includes(beginning(text))) break;
      add(line);
    }
  }
  return own.at(-1)!;
}

/**
 * Returns the position of the definition around a line (1-based) of a text of single bytes, or -1. `starts`
 * are the places of the names of all definitions, ascending.
 */
export function slowEnclosing(text: string, starts: readonly number[], line: number): number {
  const lines = text.split("\n");
  const all = starts.map((start, i) => ({ i, line: text.slice(0, start).split("\n").length }));
  if (all.some((one) => one.line === line)) return -1;
  const firstOfLines = all.filter((one, i) => all[i - 1]?.line !== one.line);
  let outer = indentOf(lines[line - 1]!);
  for (const one of firstOfLines.filter((one) => one.line < line).reverse()) {
    const indent = indentOf(lines[one.line - 1]!);
    if (indent >= outer) continue;
    if (endOfBody(lines, one.line) >= line) return one.i;
    outer = indent;
  }
  return -1;
}
