/**
 * Colours consecutive lines of a file, such as those of a search result. The lines are parsed by themselves, because
 * the rest of the file is not there. Lines that begin within a comment or a text may therefore have wrong colours.
 */

import { highlightTree } from "@lezer/highlight";
import type { LRParser } from "@lezer/lr";
import style from "../style/tokens.shadow.css";
import { grammarFor } from "./grammars.ts";
import { tokenClasses } from "./token-classes.ts";
import { readTokens } from "./token-stream.ts";

/** A coloured part of a line, in UTF-16 units. */
export interface Token {
  from: number;
  to: number;
  /** The CSS classes. */
  classes: string;
}

/** Longer texts have no colours, because parsing them takes longer than a frame. */
const MOST_CHARACTERS = 20_000;

/** The names of tokens in stream grammars, without what follows a minus sign or a point. */
const CLASSES: Readonly<Record<string, string>> = {
  keyword: "tok-keyword",
  qualifier: "tok-keyword",
  string: "tok-string",
  link: "tok-string",
  number: "tok-number",
  atom: "tok-number",
  comment: "tok-comment",
  meta: "tok-comment",
  type: "tok-type",
  tag: "tok-type",
  def: "tok-name",
  property: "tok-name",
  attribute: "tok-name",
  header: "tok-strong",
  strong: "tok-strong",
  em: "tok-emphasis",
};

export type ColourLines = (lines: readonly string[]) => Token[][];

let isStyled = false;

/** Resolves to the function that colours lines in a language, or to undefined if it has no grammar. */
export async function colourFor(language: string): Promise<ColourLines | undefined> {
  const grammar = await grammarFor(language);
  if (grammar === undefined) return undefined;
  if (!isStyled) addStyle();
  return (lines) => {
    const length = lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (length > MOST_CHARACTERS) return lines.map(() => []);
    return grammar.kind === "parser"
      ? parsed(grammar.parser, lines)
      : readTokens(grammar.mode, lines).map((tokens) => tokens.flatMap(classed));
  };
}

function addStyle(): void {
  isStyled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

function classed({ from, to, name }: { from: number; to: number; name: string }): Token[] {
  for (const word of name.split(" ")) {
    const classes = CLASSES[word.split(/[-.]/)[0]!];
    if (classes !== undefined) return [{ from, to, classes }];
  }
  return [];
}

function parsed(parser: LRParser, lines: readonly string[]): Token[][] {
  const starts: number[] = [];
  let length = 0;
  for (const line of lines) {
    starts.push(length);
    length += line.length + 1;
  }
  const tokens: Token[][] = lines.map(() => []);
  let at = 0;
  highlightTree(parser.parse(lines.join("\n")), tokenClasses, (from, to, classes) => {
    while (at + 1 < lines.length && starts[at + 1]! <= from) at++;
    // a token such as a comment may have several lines
    for (let line = at; line < lines.length && starts[line]! < to; line++) {
      const start = starts[line]!;
      const part = {
        from: Math.max(from - start, 0),
        to: Math.min(to - start, lines[line]!.length),
      };
      if (part.to > part.from) tokens[line]!.push({ ...part, classes });
    }
  });
  return tokens;
}
