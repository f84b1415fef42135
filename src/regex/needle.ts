/**
 * Finds the needle of an expression, which is a literal that every match contains near its beginning. For example,
 * `dev_err\([^)]*%d` has the needle `dev_err(`. While no match has begun, the automaton's loop searches for the
 * needle, and skips to the position where the next match may begin. This is twenty times as fast as reading byte by
 * byte.
 */

import { rarestTwo } from "../kernel/rarest-bytes.ts";
import type { Node } from "./ast.ts";
import { members, size } from "./code-points.ts";

/** The literal to search for. A byte b of the text matches position i of the needle if (b | masks[i]) is bytes[i]. */
export interface Needle {
  readonly bytes: Uint8Array;
  /**
   * For each byte of the needle, the bits that may differ in the text. These are 0x20 for an ASCII letter that
   * matches in either case, and 0 for any other byte.
   */
  readonly masks: Uint8Array;
  /** The positions of the two bytes that are rarest in code. */
  readonly rarest: readonly [first: number, second: number];
  /** The maximum number of bytes of a match before the needle. */
  readonly lead: number;
}

/** The maximum number of bytes of a needle. Each place for an automaton in a kernel has room for this many. */
export const MOST_NEEDLE = 16;
/** The minimum number of bytes of a needle. Shorter needles occur too often. */
const LEAST_NEEDLE = 2;
/**
 * The maximum number of bytes of a match before the needle. While the automaton reads these bytes, it may return to
 * its start state again and again. Each time, the loop searches for the same needle.
 */
const MOST_LEAD = 32;
/** The maximum number of members of a class. A class with more members is not examined. */
const MOST_MEMBERS = 4;
const CASE = 0x20;

interface NeedleByte {
  readonly byte: number;
  readonly mask: number;
}

/**
 * Returns the longest run of ASCII characters that follows a prefix of limited length. Returns undefined if there is
 * no such run.
 */
export function needleOf(node: Node): Needle | undefined {
  let best: { readonly run: readonly NeedleByte[]; readonly lead: number } | undefined;
  let run: NeedleByte[] = [];
  let lead = 0; // the bytes before the run
  for (const part of node.kind === "concat" ? node.children : [node]) {
    if (part.kind !== "char" && part.kind !== "class") break; // an assertion, or a node whose matches differ in length
    const byte = byteOf(part);
    if (byte && run.length < MOST_NEEDLE) run.push(byte);
    else {
      lead += run.length + (byte ? 1 : MOST_UTF8);
      run = [];
      if (lead > MOST_LEAD) break;
    }
    if (run.length > (best?.run.length ?? LEAST_NEEDLE - 1)) best = { run: [...run], lead };
  }
  if (!best) return undefined;
  const bytes = Uint8Array.from(best.run, ({ byte }) => byte);
  const masks = Uint8Array.from(best.run, ({ mask }) => mask);
  return { bytes, masks, rarest: rarestTwo(bytes), lead: best.lead };
}

/** The maximum number of bytes of a code point. */
const MOST_UTF8 = 4;

/**
 * Returns the ASCII byte that a node matches, or the ASCII letter that it matches in both cases. Returns undefined if
 * the node matches anything else. For example, a k in both cases also matches U+212A, and an s in both cases also
 * matches U+017F.
 */
function byteOf(node: Extract<Node, { kind: "char" | "class" }>): NeedleByte | undefined {
  if (node.kind === "char") return isAscii(node.cp) ? { byte: node.cp, mask: 0 } : undefined;
  if (size(node.members) > MOST_MEMBERS) return undefined;
  const [upper, lower, ...others] = members(node.members);
  if (upper === undefined || !isAscii(upper)) return undefined;
  if (lower === undefined) return { byte: upper, mask: 0 };
  const isPair = others.length === 0 && isLetter(lower) && lower === (upper | CASE);
  return isPair ? { byte: lower, mask: CASE } : undefined;
}

const isAscii = (cp: number): boolean => cp < 0x80;
const isLetter = (cp: number): boolean => cp >= 0x61 && cp <= 0x7a;
