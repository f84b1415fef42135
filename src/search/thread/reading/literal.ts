/** Prepares a literal for a search. Computes its bytes and masks, its folded code points, and its grams. */

import { LruCache } from "../../../base/lru-cache.ts";
import { foldCodePoint, foldText, orbit } from "../../../kernel/folding.ts";
import { gramsOf } from "../../../kernel/gram-numbers.ts";
import { rarestTwo } from "../../../kernel/rarest-bytes.ts";
import { OVERLAP } from "../../../store/format/format.ts";
import type { LiteralAtom } from "../../messages/plan.ts";

export interface Literal {
  readonly text: string;
  readonly caseSensitive: boolean;
  /** The prefix of the literal that is looked up in the index, folded. */
  readonly folded: Uint8Array;
  /** The grams that are on every page on which a match starts. Empty if `folded` has fewer than three bytes. */
  readonly grams: readonly number[];
  /** The minimum and maximum number of bytes of a match. */
  readonly shortest: number;
  readonly longest: number;
  /**
   * `bytes` is the text in UTF-8, folded unless case matters. `masks` has the bits in which a match may differ from
   * `bytes`. Both are padded with 0xff to a multiple of 16 bytes.
   */
  readonly bytes: Uint8Array;
  readonly masks: Uint8Array;
  readonly length: number;
  /** The positions in `bytes` of the two bytes that are rarest in source code. */
  readonly rarest: readonly [first: number, second: number];
  /**
   * The characters beyond ASCII that fold to an ASCII letter of the literal. Only U+212A (to `k`) and U+017F (to `s`)
   * do so. In text without these characters, comparing bytes under the masks finds every match. Undefined if the
   * literal itself has letters beyond ASCII, because their upper and lower case may differ in other bits.
   */
  readonly partners: readonly Buffer[] | undefined;
  /**
   * The folded code points of the literal. These are compared with text in which folding changes code points beyond
   * ASCII.
   */
  readonly points: Uint32Array;
  /** The values that the first two bytes of a match may have, as two sets in the form that the kernel reads. */
  readonly leads: Uint8Array;
}

const encoder = new TextEncoder();

/** The most recently prepared literals. Planning, searching and showing each prepare the same literal from its text. */
const recentLiterals = new LruCache<string, Literal>({ most: 16 });
/** The maximum number of characters of a literal that is cached in `recentLiterals`. */
const MOST_RECENT = 256;

export function prepareLiteral(atom: LiteralAtom): Literal {
  const { text, caseSensitive } = atom;
  if (text.length > MOST_RECENT) return prepare(atom);
  return recentLiterals.getOrMake(`${caseSensitive}${text}`, () => prepare(atom));
}

function prepare({ text, caseSensitive }: LiteralAtom): Literal {
  const wellFormed = text.replace(/\p{Surrogate}/gu, "\ufffd"); // encoding as UTF-8 would do the same
  const points: number[] = [];
  const partners = new Set<number>();
  let [shortest, longest, planned, isBeyond] = [0, 0, "", false];
  for (const char of wellFormed) {
    const point = char.codePointAt(0)!;
    let least = encodedLength(point);
    let most = least;
    const members = orbit(point);
    for (const member of members) {
      if (member >= 0x80 && member !== point) partners.add(member);
      if (caseSensitive) continue;
      least = Math.min(least, encodedLength(member));
      most = Math.max(most, encodedLength(member));
    }
    if (point >= 0x80 && members.length > 1) isBeyond = true;
    points.push(point);
    shortest += least;
    longest += most;
    // the grams of a page include all grams of such a prefix of a match that starts on the page
    if (longest <= OVERLAP) planned += char;
  }
  const encoded = encoder.encode(caseSensitive ? wellFormed : foldText(wellFormed));
  const [bytes, masks] = padded(encoded, caseSensitive);
  const folded = encoder.encode(foldText(planned));
  return {
    text: wellFormed,
    caseSensitive,
    folded,
    grams: gramsOf(folded),
    shortest,
    longest,
    bytes,
    masks,
    length: encoded.length,
    rarest: rarestTwo(encoded),
    partners: isBeyond
      ? undefined
      : Array.from(partners, (point) => Buffer.from(String.fromCodePoint(point))),
    points: Uint32Array.from(points, foldCodePoint),
    leads: leadSets(points),
  };
}

const encodedLength = (point: number): number =>
  point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

function padded(
  encoded: Uint8Array,
  caseSensitive: boolean,
): [bytes: Uint8Array, masks: Uint8Array] {
  const length = (encoded.length + 15) & ~15;
  const bytes = new Uint8Array(length).fill(0xff);
  const masks = new Uint8Array(length).fill(0xff);
  bytes.set(encoded);
  for (let i = 0; i < encoded.length; i++)
    masks[i] = !caseSensitive && encoded[i]! >= 97 && encoded[i]! <= 122 ? 0x20 : 0;
  return [bytes, masks];
}

/**
 * Returns the two sets that the kernel's scanFolded() uses: the possible values of the first byte of a match, and those
 * of its second byte.
 */
function leadSets([first, second]: readonly number[]): Uint8Array {
  const leads = new Uint8Array(64);
  const add = (set: number, byte: number) => {
    leads[set + ((byte >> 7) << 4) + (byte & 15)]! |= 1 << ((byte >> 4) & 7);
  };
  for (const [byte, next] of encodedOrbit(first!)) {
    add(0, byte!);
    if (next !== undefined) add(32, next);
    else if (second === undefined) leads.fill(0xff, 32);
    else for (const [lead] of encodedOrbit(second)) add(32, lead!);
  }
  return leads;
}

const encodedOrbit = (point: number): Uint8Array[] =>
  orbit(point).map((member) => encoder.encode(String.fromCodePoint(member)));
