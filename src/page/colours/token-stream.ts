/**
 * A line of text that a stream grammar reads token by token, with the methods that these grammars call. CodeMirror has
 * such a class, too, but it comes with the whole editor, which results of a search do not need.
 */

import type { StreamParser, StringStream } from "@codemirror/language";

type Match = string | RegExp | ((char: string) => boolean);

const TAB = 4;

class LineStream {
  readonly string: string;
  pos = 0;
  start = 0;

  constructor(line: string) {
    this.string = line;
  }

  eol(): boolean {
    return this.pos >= this.string.length;
  }

  sol(): boolean {
    return this.pos === 0;
  }

  peek(): string | undefined {
    return this.string.charAt(this.pos) || undefined;
  }

  next(): string | undefined {
    return this.pos < this.string.length ? this.string.charAt(this.pos++) : undefined;
  }

  eat(match: Match): string | undefined {
    const char = this.string.charAt(this.pos);
    if (char === "" || !isMatch(match, char)) return undefined;
    this.pos++;
    return char;
  }

  eatWhile(match: Match): boolean {
    const { pos } = this;
    while (this.eat(match) !== undefined);
    return this.pos > pos;
  }

  eatSpace(): boolean {
    return this.eatWhile(/[\s\u00a0]/);
  }

  skipToEnd(): void {
    this.pos = this.string.length;
  }

  skipTo(char: string): boolean | undefined {
    const found = this.string.indexOf(char, this.pos);
    if (found < 0) return undefined;
    this.pos = found;
    return true;
  }

  backUp(count: number): void {
    this.pos -= count;
  }

  column(): number {
    return columnOf(this.string.slice(0, this.start));
  }

  indentation(): number {
    return columnOf(/^[\s\u00a0]*/.exec(this.string)![0]);
  }

  match(pattern: string | RegExp, consume = true, ignoreCase = false) {
    if (typeof pattern === "string") return this.#matchText(pattern, consume, ignoreCase);
    const found = this.string.slice(this.pos).match(pattern);
    if (found === null || found.index! > 0) return null;
    if (consume) this.pos += found[0].length;
    return found;
  }

  #matchText(text: string, consume: boolean, ignoreCase: boolean): true | null {
    const part = this.string.slice(this.pos, this.pos + text.length);
    const isSame = ignoreCase ? part.toLowerCase() === text.toLowerCase() : part === text;
    if (!isSame) return null;
    if (consume) this.pos += text.length;
    return true;
  }

  current(): string {
    return this.string.slice(this.start, this.pos);
  }
}

function isMatch(match: Match, char: string): boolean {
  if (typeof match === "string") return match === char;
  return match instanceof RegExp ? match.test(char) : match(char);
}

function columnOf(text: string): number {
  let column = 0;
  for (const char of text) column += char === "\t" ? TAB - (column % TAB) : 1;
  return column;
}

/** A token, as the grammar names it. */
export interface NamedToken {
  from: number;
  to: number;
  name: string;
}

const MOST_EMPTY_READS = 10;

/** Returns the tokens of each line. */
export function readTokens(mode: StreamParser<unknown>, lines: readonly string[]): NamedToken[][] {
  const state = mode.startState?.(TAB) ?? {};
  return lines.map((line) => {
    if (line === "") {
      mode.blankLine?.(state, TAB);
      return [];
    }
    return tokensOf(mode, line, state);
  });
}

function tokensOf(mode: StreamParser<unknown>, line: string, state: unknown): NamedToken[] {
  const stream = new LineStream(line);
  const tokens: NamedToken[] = [];
  let empty = 0;
  while (!stream.eol()) {
    stream.start = stream.pos;
    const name = mode.token(stream as unknown as StringStream, state);
    if (stream.pos > stream.start) empty = 0;
    else if (++empty > MOST_EMPTY_READS) return tokens; // a faulty grammar
    if (name && stream.pos > stream.start)
      tokens.push({ from: stream.start, to: stream.pos, name });
  }
  return tokens;
}
