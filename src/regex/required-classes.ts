/**
 * Finds a triple for an expression that has no required literal. A triple consists of three classes of ASCII bytes.
 * Every match of the expression contains three neighbouring bytes, one of each class in this order. For instance,
 * `[a-z]{3}_[A-Z]{4}` has the triple [a-z] _ [A-Z]. The kernel searches a text for a triple five times as fast as the
 * automaton reads the text. So the automaton reads only those lines in which the kernel has found the triple.
 *
 * To find triples, an expression is converted to a list of steps. A step is either a set of bytes or a gap. A set
 * stands for one byte that is in the set, and a gap stands for any text. If three successive steps are sets, they are
 * a triple.
 */

import type { Node } from "./ast.ts";
import type { CodePoints } from "./code-points.ts";

export type Triple = readonly [CodePoints, CodePoints, CodePoints];

type Step = CodePoints | typeof GAP;

const GAP = "gap" as const;
/**
 * The number of steps that are kept at the beginning and at the end of a repeated part. Without this limit, nested
 * repetitions would multiply the number of steps.
 */
const KEPT = 8;
const COPIES = 3;
/** The maximum frequency of a triple in code. Searching for a more frequent triple does not pay off. */
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

/**
 * Returns the steps of a repetition, given the steps of the repeated part. If the repetition has a small fixed number
 * of copies, these are the steps of all copies. Otherwise, these are the steps of the first copies, a gap, and the
 * steps of the last copies.
 */
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

// the number of bytes of each kind: lower case, upper case, digit, underscore, blank, any other
const SIZES = [26, 26, 10, 1, 2, 32];

// The frequencies of three neighbouring bytes in C, Go, Python and TypeScript, by the kinds of the bytes. Each digit
// is the negative binary logarithm of a frequency, in base 36. A line has the digits for one kind of the first byte.
// Within a line, the digits are ordered by the kind of the second byte, then by the kind of the third byte.
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

/**
 * Estimates how often three neighbouring bytes of code are in three given sets, the first byte in the first set, and so
 * on. Each argument is the result of sharesOf() for one set.
 */
function frequencyOf(a: Float64Array, b: Float64Array, c: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < 6; i++)
    for (let j = 0; j < 6; j++)
      for (let k = 0; k < 6; k++) sum += a[i]! * b[j]! * c[k]! * FREQUENCIES[36 * i + 6 * j + k]!;
  return sum;
}

/** For each kind of byte, returns the share of the bytes of this kind that are in the set. */
function sharesOf(set: CodePoints): Float64Array {
  const shares = new Float64Array(SIZES.length);
  for (let i = 0; i < set.length; i += 2)
    for (let byte = set[i]!; byte <= set[i + 1]!; byte++)
      shares[KINDS[byte]!]! += 1 / SIZES[KINDS[byte]!]!;
  return shares;
}

/**
 * Encodes the sets of a triple for kernel/assembly/classes.ts. Each set becomes a table of 16 entries, one for each
 * value of the low half of a byte. An entry is one byte. It has a bit for each value of the high half.
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
