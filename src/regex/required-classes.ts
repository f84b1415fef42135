/**
 * Finds three neighbouring classes of ASCII bytes that every match contains, for expressions without a required
 * literal. For instance, `[a-z]{3}_[A-Z]{4}` has [a-z] _ [A-Z]. The kernel finds places of such classes five times as
 * fast as the automaton runs. The automaton then reads only the lines with such places.
 *
 * An expression becomes a list of steps: a step is a set of bytes, or a gap that stands for any text. Three
 * successive sets are neighbours in every match.
 */

import type { Node } from "./ast.ts";
import type { CodePoints } from "./code-points.ts";

export type Triple = readonly [CodePoints, CodePoints, CodePoints];

type Step = CodePoints | typeof GAP;

const GAP = "gap" as const;
/**
 * How many steps of a repeated part are kept at each end. Without this limit, nested repetitions would multiply them.
 */
const KEPT = 8;
const COPIES = 3;
/** The highest frequency in code at which searching for the classes still pays off. */
const MOST_FREQUENT = 1 / 256;

/** Returns the rarest triple, or undefined if none is rare enough. */
export function requiredClasses(node: Node): Triple | undefined {
  const steps = stepsOf(node);
  const shares = steps.map((step) => (step === GAP ? undefined : sharesOf(step)));
  let [best, least]: [number, number] = [-1, MOST_FREQUENT];
  for (let i = 0; i + 2 < steps.length; i++) {
    const [a, b, c] = [shares[i], shares[i + 1], shares[i + 2]];
    if (!a || !b || !c) continue;
    const frequency = frequencyOf(a, b, c);
    if (frequency < least) [best, least] = [i, frequency];
  }
  return best < 0 ? undefined : (steps.slice(best, best + 3) as unknown as Triple);
}

function stepsOf(node: Node): readonly Step[] {
  switch (node.kind) {
    case "char":
      return [node.cp < 0x80 ? [node.cp, node.cp] : GAP];
    case "class":
      return [isAscii(node.members) ? node.members : GAP];
    case "byte":
    case "alternate":
      return [GAP];
    case "empty":
    case "assert":
      return [];
    case "concat":
      return node.children.flatMap(stepsOf);
    case "repeat":
      return repeated(stepsOf(node.child), node);
  }
}

/** Returns the steps of a repetition: its first copies, a gap, and its last copies. */
function repeated(
  steps: readonly Step[],
  { min, max }: Extract<Node, { kind: "repeat" }>,
): readonly Step[] {
  if (min === 0) return [GAP];
  const child =
    steps.length > 2 * KEPT ? [...steps.slice(0, KEPT), GAP, ...steps.slice(-KEPT)] : steps;
  const copies = Array.from({ length: Math.min(min, COPIES) }, () => child).flat();
  return min === max && min <= COPIES ? copies : [...copies, GAP, ...copies];
}

const isAscii = (set: CodePoints): boolean => set.length > 0 && set.at(-1)! < 0x80;

// the kinds of bytes: lower case, upper case, digit, underscore, blank, any other
const SIZES = [26, 26, 10, 1, 2, 32];

// The frequency of three neighbours of given kinds in C, Go, Python and TypeScript. Each is the negative binary
// logarithm, as a digit of base 36. A line stands for the kind of the first byte; within it, digits are ordered by
// the second and the third.
const NEIGHBOURS = [
  "2787557abjfdab7cb97dcchf58bcb768ab66",
  "6behbba59798gb9bdbe7cdjgbbcjabbbcg99",
  "ab8efacbbedbaa6aa7bacdkhbdeica9c9g78",
  "7idfddc7ddfegfcddcbcggfdgkojiedhkidd",
  "4eac9988dddc8e9nb9ceiced7aad4779bd76",
  "5c9db889ceeabf9id9beidie687b667aad55",
].join("");
const FREQUENCIES = Float64Array.from(NEIGHBOURS, (digit) => 2 ** -parseInt(digit, 36));

const KINDS = Uint8Array.from({ length: 128 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  const kind = [/[a-z]/, /[A-Z]/, /[0-9]/, /_/, /[ \t]/].findIndex((each) => each.test(char));
  return kind < 0 ? SIZES.length - 1 : kind;
});

/** Estimates how often three neighbouring bytes of code are in the sets with these shares. */
function frequencyOf(a: Float64Array, b: Float64Array, c: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < 6; i++)
    for (let j = 0; j < 6; j++)
      for (let k = 0; k < 6; k++) sum += a[i]! * b[j]! * c[k]! * FREQUENCIES[36 * i + 6 * j + k]!;
  return sum;
}

/** Returns the share of each kind of byte that is in the set. */
function sharesOf(set: CodePoints): Float64Array {
  const shares = new Float64Array(SIZES.length);
  for (let i = 0; i < set.length; i += 2)
    for (let byte = set[i]!; byte <= set[i + 1]!; byte++)
      shares[KINDS[byte]!]! += 1 / SIZES[KINDS[byte]!]!;
  return shares;
}

/**
 * Encodes the sets for kernel/assembly/classes.ts: for each set and low half of a byte, one byte with a bit for each
 * high half.
 */
export function tripleTables(triple: Triple): Uint8Array {
  const tables = new Uint8Array(48);
  triple.forEach((set, place) => {
    for (let i = 0; i < set.length; i += 2)
      for (let byte = set[i]!; byte <= set[i + 1]!; byte++)
        tables[16 * place + (byte & 15)]! |= 1 << (byte >>> 4);
  });
  return tables;
}
