/**
 * Where the body of a definition ends, by the way code is laid out: what is indented deeper belongs to it, and the
 * line that closes it. What stands at the margin within a body does not end it: labels, directives and texts in
 * braces that are still open, strings of several lines, and lines after a backslash. Linear in the lines of the body;
 * where nothing closes what was opened, in those of the file, and the indentation alone decides.
 */

/** Lines of a text by their place, as arrays have them. */
export type Lines = Pick<readonly string[], "length" | "at">;

/** The lines of a large file of which a few are asked for: most of the time of an answer was spent on cutting. */
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

  /** REQUIRES: 0 or more. */
  at(place: number): string | undefined {
    const end = this.#ends[place];
    const begin = place === 0 ? 0 : this.#ends[place - 1]! + 1;
    return end === undefined ? undefined : this.#text.slice(begin, end);
  }
}

const TAB_COLUMNS = 4;

/** Asked of each line of a body: without an expression it takes a fifth of the time. */
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
/** A bracket is open behind the line. */
const OPENS = new RegExp(`[({[]${REMARK}`);
const OPENS_BLOCK = new RegExp(`\\{${REMARK}`);
/** A block that begins on a line of its own. */
const IS_OPENING = new RegExp(`^\\s*\\{${REMARK}`);
const CLOSES = /^\s*(?:[)\]}]|end\b)/;
/** `) -> str:` closes the arguments, and the body comes behind it. */
const BODY_FOLLOWS = /:\s*(?:#.*)?$/;
/** Parts of one body that stand as deep as its beginning. */
const GOES_ON = /^\s*(?:else|elsif|elif|except|finally|rescue|ensure|catch|where)\b/;
const TEXT_MARKS = [`"""`, "'''"];

/** What is known on the way down. */
interface Walk {
  /** Whether a bracket is open that a line as deep as the beginning closes. */
  isOpen: boolean;
  /** Round brackets of the first lines that are open. */
  round: number;
  /** What ends the text of several lines that is open. */
  mark: string | undefined;
  end: number;
  /** The end by indentation alone, once a line at the margin was taken for a part of the body. */
  certain: number | undefined;
}

/** The last line of the body of what begins in a line. */
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

/** A line within a text of several lines. */
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

/** Whether the body goes on behind a line that is not indented deeper than its beginning. */
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
