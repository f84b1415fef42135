/**
 * Finds the end of a definition's body by indentation. The body consists of the lines that are indented deeper than the
 * definition, and the line that closes it. Some lines that have the same indentation as the definition do not end its
 * body. These are labels, directives, lines within open braces or multi-line strings, and lines after a backslash. If
 * an opened bracket or string is never closed, the indentation alone decides.
 *
 * Lines are read one by one, and only as far as the caller needs them. A line takes about 0.1 µs. Most lines are not
 * decoded.
 */

const [TAB, NEWLINE, RETURN, BLANK, BACKSLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x5c];
const TAB_COLUMNS = 4;

/** Returns the indentation of the line that begins at `start`, in columns. */
export function indentAt(text: Uint8Array, start: number): number {
  let columns = 0;
  for (let at = start; isBlank(text[at]!); at++) columns += text[at] === TAB ? TAB_COLUMNS : 1;
  return columns;
}

const isBlank = (byte: number): boolean =>
  byte === BLANK || (byte >= TAB && byte <= RETURN && byte !== NEWLINE);

/**
 * Returns a function that tests whether a line ends with a bracket, or with a bracket and a comment. The function takes
 * time linear in the line's length.
 */
function endsIn(bracket: string): (line: string) => boolean {
  const [atEnd, remark, block] = ["$", "//", String.raw`/\*`].map(
    (behind) => new RegExp(String.raw`${bracket}\s*${behind}`),
  );
  return (line) => {
    if (atEnd!.test(line) || remark!.test(line)) return true;
    const opened = block!.exec(line);
    if (!opened || !/\*\/\s*$/.test(line)) return false;
    return line.lastIndexOf("*/") >= opened.index + opened[0].length;
  };
}

/** Tests whether a line ends with an open bracket. */
const opens = endsIn("[({[]");
const opensBlock = endsIn(String.raw`\{`);
/** Tests whether a line consists of nothing but the opening brace of a block. */
const isOpening = endsIn(String.raw`^\s*\{`);
const CLOSES = /^\s*(?:[)\]}]|end\b)/;
/** Matches a line such as `) -> str:`, which closes the arguments of a definition and precedes its body. */
const BODY_FOLLOWS = /:\s*(?:#[^]*)?$/;
/**
 * Matches a line that begins with a keyword such as `else`, which continues a body at the indentation of its first
 * line.
 */
const GOES_ON = /^\s*(?:else|elsif|elif|except|finally|rescue|ensure|catch|where)\b/;
const TEXT_MARKS = [`"""`, "'''"];

/** Reads the body of a definition line by line, from its first line on. */
export class DefinitionBody {
  readonly #text: Buffer;
  readonly #begin: number;
  readonly #indent: number;
  /** The start of the current line. */
  #start: number;
  #after: number;
  /** Whether a bracket is open. A line with the indentation of the first line will close it. */
  #isOpen: boolean;
  /** The number of round brackets that the first lines leave open. */
  #round: number;
  /** The mark that ends the open multi-line string. Undefined if no such string is open. */
  #mark: string | undefined;
  /** The start of the last line that belongs to the body so far. */
  #last: number;
  /**
   * The start of the last line that belongs to the body even if the open bracket or string is never closed. Undefined
   * if it is the same as #last.
   */
  #certain: number | undefined;
  #isOver = false;
  /** Begins to read the body of the definition whose line starts at `start`. */
  constructor(text: Buffer, start: number) {
    this.#text = text;
    this.#begin = this.#start = this.#last = start;
    this.#after = lineEnd(text, start);
    const header = this.#line();
    this.#indent = indentAt(text, start);
    this.#isOpen = opens(header);
    this.#mark = this.#isOpen ? undefined : markLeftOpen(header, [...TEXT_MARKS, "`"]);
    this.#round = roundIn(header);
  }

  /** The number of bytes that were read. */
  get bytesRead(): number {
    return this.#after - this.#begin;
  }

  /** Returns true if the line that begins at `start` belongs to the body. */
  reaches(start: number): boolean {
    while (this.last < start && this.#readLine());
    return this.last >= start;
  }

  /** Reads lines until `bytes` more bytes have been read. Returns false if the end of the body has been found. */
  readOn(bytes: number): boolean {
    for (const until = this.#after + bytes; this.#after < until;)
      if (!this.#readLine()) return false;
    return true;
  }

  /** The start of the last line that is known to belong to the body. It never moves back. */
  get last(): number {
    return this.#certain ?? this.#last;
  }

  /** Reads the next line. Returns false if there is no next line or the body has ended. */
  #readLine(): boolean {
    const text = this.#text;
    if (this.#isOver || this.#after >= text.length) return false;
    const isContinued = endsInBackslash(text, this.#start, this.#after);
    this.#start = this.#after;
    this.#after = lineEnd(text, this.#start);
    const indent = indentAt(text, this.#start);
    if (this.#mark !== undefined) this.#readText(this.#mark);
    else if (this.#isEmpty()) return true;
    else if (isContinued) this.#last = this.#start;
    else if (indent > this.#indent) this.#readDeeper();
    else this.#isOver = !this.#goesOn(indent < this.#indent);
    return !this.#isOver;
  }

  /** Decodes the current line. The tests look only for ASCII characters, so invalid characters do no harm. */
  #line(): string {
    return this.#text.toString("latin1", this.#start, this.#after).replace(/\n$/, "");
  }

  #isEmpty(): boolean {
    let at = this.#start;
    while (at < this.#after && (isBlank(this.#text[at]!) || this.#text[at] === NEWLINE)) at++;
    return at === this.#after;
  }

  /** Reads a line within a multi-line string. */
  #readText(mark: string): void {
    this.#certain ??= this.#last;
    if (!isOdd(this.#line(), mark)) return;
    this.#mark = undefined;
    this.#last = this.#start;
    this.#certain = undefined;
  }

  #readDeeper(): void {
    this.#last = this.#start;
    // within brackets, an open string makes no difference, because indentation does not end the body there
    if (!this.#isOpen) this.#mark = markLeftOpen(this.#line(), TEXT_MARKS);
    if (this.#round <= 0) return;
    const line = this.#line();
    this.#round += roundIn(line);
    if (this.#round <= 0) this.#isOpen = opensBlock(line);
  }

  /**
   * Reads a line that is not indented deeper than the first line. Returns true if the body continues after this line.
   */
  #goesOn(isShallower: boolean): boolean {
    const line = this.#line();
    const closes = CLOSES.test(line);
    if (isShallower && (closes || !this.#isOpen)) return false;
    if (closes) {
      this.#last = this.#start;
      this.#certain = undefined;
      this.#isOpen = opens(line);
      return this.#isOpen || BODY_FOLLOWS.test(line);
    }
    if (this.#isOpen) {
      this.#certain ??= this.#last;
      return true;
    }
    this.#isOpen = isOpening(line);
    if (!this.#isOpen && !GOES_ON.test(line)) return false;
    this.#last = this.#start;
    return true;
  }
}

function lineEnd(text: Uint8Array, start: number): number {
  const newline = text.indexOf(NEWLINE, start);
  return newline < 0 ? text.length : newline + 1;
}

/** Returns true if a line ends in a backslash before its line break. */
function endsInBackslash(text: Uint8Array, start: number, after: number): boolean {
  let end = after;
  if (text[end - 1] === NEWLINE) end--;
  if (text[end - 1] === RETURN) end--;
  return end > start && text[end - 1] === BACKSLASH;
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
