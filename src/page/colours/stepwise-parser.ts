/**
 * Parses a text in steps of 50 000 characters. CodeMirror pauses a parse every few milliseconds, but then builds the
 * whole tree without a pause. For 2 MiB this takes longer than a frame. Each step reuses nearly all of the previous
 * step's tree, so all steps together take no longer than one parse.
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
    // the known part need not end at a full step, because the parser reads a token to its end before it stops
    const end = (known?.from === 0 ? known.to : 0) + STEP;
    if (end < input.length) parse.stopAt(end);
    return parse;
  }
}
