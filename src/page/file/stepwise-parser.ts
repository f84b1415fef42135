/**
 * Parses a text in steps of 50 000 characters. CodeMirror stops a parse after each few milliseconds, but
 * makes the tree of all that was parsed at once: for 2 MiB that takes longer than a frame. Each step's tree
 * takes over nearly everything of the step before, so the steps together take no longer than one parse.
 */

import { Parser, type Input, type PartialParse, type TreeFragment } from "@lezer/common";

export const STEP = 50_000;

export class StepwiseParser extends Parser {
  readonly #parser: Parser;

  constructor(parser: Parser) {
    super();
    this.#parser = parser;
  }

  createParse(
    input: Input,
    fragments: readonly TreeFragment[],
    ranges: readonly { from: number; to: number }[],
  ): PartialParse {
    const parse = this.#parser.startParse(input, fragments, ranges);
    const [known] = fragments;
    // a token is read to its end, wherever the parse is to stop, so more may be known than the steps say
    const end = (known?.from === 0 ? known.to : 0) + STEP;
    if (end < input.length) parse.stopAt(end);
    return parse;
  }
}
