/**
 * `file:`: which paths of a segment an expression matches. All paths lie in memory one after another,
 * so what the expression requires is looked for in all of them at once, and only those that hold it
 * are tried. Trying each of linux's 78 000 took 7 ms, looking for `raid5` in them takes 0.5.
 */

import { isAscii } from "node:buffer";
import {
  countBits,
  emptyBitset,
  intersect,
  nextBit,
  setBit,
  type Bitset,
} from "../../../base/bitset.ts";
import type { Arena } from "../../../kernel/arena.ts";
import type { Matcher } from "../../../regex/matcher.ts";
import type { ExpressionSource } from "../../../regex/expression.ts";
import type { Formula } from "../../../regex/required.ts";
import type { PathTable } from "../../../store/segments/segment-tables.ts";
import { prepareLiteral } from "../reading/literal.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import {
  placeLiteral,
  type LiteralScanner,
  type PlacedLiteral,
} from "../reading/literal-scanner.ts";

export interface PathExpression {
  readonly expression: ExpressionSource;
  readonly matcher: Matcher;
  /** Literals of which every match holds one; undefined: there are none, or too many. */
  readonly anchors: readonly PlacedLiteral[] | undefined;
}

type Tools = Pick<SearchTools, "arena" | "literals">;
type ClockedTools = Tools & Pick<SearchTools, "isStopped" | "pause">;

/** More than so many literals are not looked for one after another. */
const MOST_ANCHORS = 4;
/** Trying one path takes as long as looking for a literal in so many bytes. */
const TRY_BYTES = 1024;
/** Paths tried between two looks at the clock: 0.1 ms as a rule, and the matcher looks within each. */
const TRIES = 1024;

/** REQUIRES: the arena's mark of before stays as long as they are used. */
export function pathAnchors(required: Formula, arena: Arena): readonly PlacedLiteral[] | undefined {
  return anchorTexts(required)?.map(({ text, fold }) =>
    placeLiteral(prepareLiteral({ kind: "literal", text, caseSensitive: !fold }), arena),
  );
}

type Text = Formula & { readonly kind: "literal" };

/** Of literals that must all be there the longest: paths are few, and it is the rarest as a rule. */
function anchorTexts(formula: Formula): readonly Text[] | undefined {
  switch (formula.kind) {
    case "any":
      return undefined;
    case "none":
      return [];
    case "literal":
      return [formula];
    case "and":
      return formula.children
        .flatMap((child) => [anchorTexts(child) ?? []])
        .filter(({ length }) => length > 0)
        .toSorted((a, b) => shortest(b) - shortest(a))[0];
    case "or": {
      const texts = formula.children.map(anchorTexts);
      if (texts.includes(undefined)) return undefined;
      const all = texts.flatMap((one) => one!);
      return all.length <= MOST_ANCHORS ? all : undefined;
    }
  }
}

const shortest = (texts: readonly Text[]): number =>
  Math.min(...texts.map(({ text }) => text.length));

/** Resolves to those of `among` whose path the expression matches; undefined: stopped. */
export async function filesWithPath(
  { matcher, anchors }: PathExpression,
  paths: PathTable,
  among: Bitset,
  { arena, literals, isStopped, pause }: ClockedTools,
): Promise<Bitset | undefined> {
  const { starts, bytes } = paths;
  const out = emptyBitset(32 * among.length);
  let [tries, isCut] = [0, false];
  const mark = arena.mark();
  const at = arena.put(bytes);
  let tried = among;
  if (anchors && TRY_BYTES * countBits(among) > bytes.length) {
    tried = emptyBitset(32 * among.length);
    for (const anchor of anchors)
      forEachHolding(anchor, paths, { at, literals }, (file) => setBit(tried, file));
    intersect(tried, among);
  }
  for (let file = nextBit(tried, 0); file >= 0 && !isCut; file = nextBit(tried, file + 1)) {
    const found = matcher.count(at + starts[file]!, at + starts[file + 1]!, isStopped);
    if (found > 0) setBit(out, file);
    isCut = matcher.stopped;
    if (++tries % TRIES > 0) continue;
    isCut ||= isStopped();
    await pause();
  }
  arena.release(mark);
  return isCut ? undefined : out;
}

/** Files whose paths hold the text in any case, and perhaps some whose paths do not. */
export function filesHolding(text: string, paths: PathTable, { arena, literals }: Tools): Bitset {
  const out = emptyBitset(paths.starts.length - 1);
  const mark = arena.mark();
  const at = arena.put(paths.bytes);
  const literal = prepareLiteral({ kind: "literal", text, caseSensitive: false });
  const visit = (file: number) => setBit(out, file);
  forEachHolding(placeLiteral(literal, arena), paths, { at, literals }, visit);
  arena.release(mark);
  return out;
}

/**
 * Files whose paths a literal touches, some of them twice. Places of a literal do not overlap, so one
 * that runs from a path into the next may hide one that lies in the next.
 */
function forEachHolding(
  anchor: PlacedLiteral,
  { starts, bytes }: PathTable,
  { at, literals }: { readonly at: number; readonly literals: LiteralScanner },
  visit: (file: number) => void,
): void {
  const region = { from: at, to: at + bytes.length, lowest: at };
  // where one byte is one character, only ASCII letters differ in case
  const isFolded = !isAscii(bytes) && literals.mustFold(anchor.literal, region);
  let file = 0;
  for (const place of literals.places(anchor, [region], isFolded)) {
    while (starts[file + 1]! <= place - at) file++;
    const end = Math.min(bytes.length, place - at + anchor.literal.longest);
    for (let touched = file; starts[touched]! < end; touched++) visit(touched);
  }
}
