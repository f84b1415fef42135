/**
 * Finds where the body of a definition ends, by the layout of code: lines that are indented deeper belong
 * to it, and the line that closes it. Some lines at the margin do not end it: labels, directives, lines
 * within open braces or strings of several lines, and lines after a backslash. Takes time linear in the
 * lines of the body, or of the file if nothing closes what was opened; then the indentation alone decides.
 */

/** The lines of a text, by 0-based position. */
export type Lines = Pick<readonly string[], "length" | "at">;

/** Gives single lines of a large file. Splitting the file took most of the time of an answer. */
export class TextLines implements Lines {
  readonly #text: string;
  readonly #ends: number[] = [];

  constructor(text: string) {
    this.#text = text;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1))
      this.#ends.push(end);
    this.#ends.push(text.length);
  }

  get length(): number {
    return this.#ends.length;
  }

  /** Returns a line. REQUIRES: `place` is 0 or more. */
  at(place: number): string | undefined {
    const end = this.#ends[place];
    const begin = place === 0 ? 0 : this.#ends[place - 1]! + 1;
    return end === undefined ? undefined : this.#text.slice(begin, end);
  }
}

const TAB_COLUMNS = 4;

/**
 * Returns the indentation of a line, in columns. Called for each line of a body; an expression would take
 * five times as long.
 */
export function indentOf(line: string): number {
  let columns = 0;
  for (let i = 0; i < line.length; i++) {
    const unit = line.charCodeAt(i);
    if (unit === TAB) columns += TAB_COLUMNS;
    else if (unit === BLANK || (unit > ASCII && /\s/.test(line[i]!)) || isOtherBlank(unit))
      columns++;
    else break;
  }
  return columns;
}

const [TAB, BLANK, ASCII] = [0x09, 0x20, 0x7f];
const isOtherBlank = (unit: number): boolean => unit > TAB && unit < 0x0e;

const isEmpty = (line: string): boolean => !/\S/.test(line);

const REMARK = String.raw`\s*(?:\/\/.*|\/\*.*\*\/\s*)?$`;
/** Matches a line after which a bracket is open. */
const OPENS = new RegExp(`[({[]${REMARK}`);
const OPENS_BLOCK = new RegExp(`\\{${REMARK}`);
/** Matches the opening brace of a block on a line of its own. */
const IS_OPENING = new RegExp(`^\\s*\\{${REMARK}`);
const CLOSES = /^\s*(?:[)\]}]|end\b)/;
/** Matches a line like `) -> str:`, which closes the arguments and is followed by the body. */
const BODY_FOLLOWS = /:\s*(?:#.*)?$/;
/** Matches parts of one body that are indented like its first line. */
const GOES_ON = /^\s*(?:else|elsif|elif|except|finally|rescue|ensure|catch|where)\b/;
const TEXT_MARKS = [`"""`, "'''"];

/** The state of the walk down the lines. */
interface Walk {
  /** Whether a bracket is open that a line at the indentation of the first one closes. */
  isOpen: boolean;
  /** The number of open round brackets of the first lines. */
  round: number;
  /** The mark that ends the open string of several lines. */
  mark: string | undefined;
  end: number;
  /** The end by indentation alone, set once a line at the margin was taken for a part of the body. */
  certain: number | undefined;
}

/** Returns the last line of the body of a definition that begins at `begin`. */
export function endOfBody(lines: Lines, begin: number): number {
  const header = lines.at(begin - 1) ?? "";
  const indent = indentOf(header);
  const isOpen = OPENS.test(header);
  const mark = isOpen ? undefined : markLeftOpen(header, [...TEXT_MARKS, "`"]);
  const walk: Walk = { isOpen, round: roundIn(header), mark, end: begin, certain: undefined };
  let before = header;
  for (let line = begin + 1; line <= lines.length; line++) {
    const text = lines.at(line - 1)!;
    const isContinued = before.endsWith("\\");
    before = text;
    if (walk.mark !== undefined) readText(walk, text, line);
    else if (isEmpty(text)) continue;
    else if (isContinued) walk.end = line;
    else if (indentOf(text) > indent) readDeeper(walk, text, line);
    else if (!goesOn(walk, { text, line, isShallower: indentOf(text) < indent })) break;
  }
  return walk.certain ?? walk.end;
}

/** Reads a line within a string of several lines. */
function readText(walk: Walk, text: string, line: number): void {
  walk.certain ??= walk.end;
  if (!isOdd(text, walk.mark!)) return;
  walk.mark = undefined;
  walk.end = line;
  walk.certain = undefined;
}

function readDeeper(walk: Walk, text: string, line: number): void {
  walk.end = line;
  if (!walk.isOpen) walk.mark = markLeftOpen(text, TEXT_MARKS); // in brackets the margin ends nothing
  if (walk.round <= 0) return;
  walk.round += roundIn(text);
  if (walk.round <= 0) walk.isOpen = OPENS_BLOCK.test(text);
}

interface AtMargin {
  readonly text: string;
  readonly line: number;
  readonly isShallower: boolean;
}

/**
 * Reads a line that is not indented deeper than the first one. Returns whether the body continues after it.
 */
function goesOn(walk: Walk, { text, line, isShallower }: AtMargin): boolean {
  const closes = CLOSES.test(text);
  if (isShallower && (closes || !walk.isOpen)) return false;
  if (closes) {
    walk.end = line;
    walk.certain = undefined;
    walk.isOpen = OPENS.test(text);
    return walk.isOpen || BODY_FOLLOWS.test(text);
  }
  if (walk.isOpen) {
    walk.certain ??= walk.end;
    return true;
  }
  walk.isOpen = IS_OPENING.test(text);
  if (!walk.isOpen && !GOES_ON.test(text)) return false;
  walk.end = line;
  return true;
}

const roundIn = (text: string): number => count(text, "(") - count(text, ")");

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++;
  return found;
}

const isOdd = (text: string, mark: string): boolean => count(text, mark) % 2 === 1;

const markLeftOpen = (text: string, marks: readonly string[]): string | undefined =>
  marks.find((mark) => isOdd(text, mark));
