/**
 * The slow twin: a direct simulation of an expression's threads over a text, one byte position after
 * another, with characters decoded as they come. Shares the AST with the engine and nothing else.
 */

import type { Assertion, Node } from "../../src/regex/ast.ts";

type Step =
  | { op: "match" }
  | { op: "read"; read: (bytes: Uint8Array, at: number) => number; next: number } // bytes read; 0 for none
  | { op: "assert"; assertion: Assertion; next: number }
  | { op: "split"; first: number; second: number };

/** Returns whether a sorted set contains a member. It stops at the first larger member. */
const inside = (members: readonly number[], cp: number) => {
  for (let i = 0; i < members.length && members[i]! <= cp; i += 2)
    if (cp <= members[i + 1]!) return true;
  return false;
};

/**
 * Decodes bytes of the right form. `isOverlong` says that they are not the shortest form, or beyond the last code
 * point.
 */
function decode(bytes: Uint8Array, at: number) {
  const lead = bytes[at];
  if (lead === undefined) return undefined;
  if (lead < 0x80) return { cp: lead, width: 1, isOverlong: false };
  const width = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4) return undefined;
  let cp = lead & (0x7f >> width);
  for (let i = 1; i < width; i++) {
    const byte = bytes[at + i];
    if (byte === undefined || (byte & 0xc0) !== 0x80) return undefined;
    cp = cp * 64 + (byte & 63);
  }
  const least = [0, 0, 0x80, 0x800, 0x10000][width]!;
  return { cp, width, isOverlong: cp < least || cp > 0x10ffff };
}

function reader(members: readonly number[]) {
  const isLoose = members.at(-1) === 0x10ffff && members.at(-2)! <= 0x80;
  return (bytes: Uint8Array, at: number) => {
    const char = decode(bytes, at);
    if (!char) return 0;
    if (isLoose && bytes[at]! >= 0x80) return char.width;
    return !char.isOverlong && inside(members, char.cp) ? char.width : 0;
  };
}

function compile(node: Node, steps: Step[], next: number): number {
  const add = (step: Step) => steps.push(step) - 1;
  switch (node.kind) {
    case "empty":
      return next;
    case "char":
      return add({ op: "read", read: reader([node.cp, node.cp]), next });
    case "class":
      return add({ op: "read", read: reader(node.members), next });
    case "byte":
      return add({ op: "read", read: (bytes, at) => (at < bytes.length ? 1 : 0), next });
    case "assert":
      return add({ op: "assert", assertion: node.assertion, next });
    case "concat":
      return node.children.reduceRight((after, child) => compile(child, steps, after), next);
    case "alternate":
      return node.children
        .map((child) => compile(child, steps, next))
        .reduceRight((second, first) => add({ op: "split", first, second }));
    case "repeat":
      return compileRepeat(node, steps, next);
  }
}

function compileRepeat(node: Node & { kind: "repeat" }, steps: Step[], next: number): number {
  const split = (body: number, out: number) =>
    steps.push({
      op: "split",
      first: node.greedy ? body : out,
      second: node.greedy ? out : body,
    }) - 1;
  if (node.max !== Infinity) {
    let entry = node.last ? compile(node.last, steps, next) : next;
    for (let i = node.last ? node.min + 1 : node.min; i < node.max; i++)
      entry = split(compile(node.child, steps, entry), next);
    for (let i = 0; i < node.min; i++) entry = compile(node.child, steps, entry);
    return entry;
  }
  if (node.last) {
    let entry = compile(node.last, steps, next);
    for (let i = 1; i < node.min; i++) entry = compile(node.child, steps, entry);
    return entry;
  }
  const loop = split(0, 0);
  const body = compile(node.child, steps, loop);
  const [first, second] = node.greedy ? [body, next] : [next, body];
  steps[loop] = { op: "split", first, second };
  let entry = node.min === 0 ? loop : body;
  for (let i = 1; i < node.min; i++) entry = compile(node.child, steps, entry);
  return entry;
}

const isWord = (byte: number | undefined) =>
  byte !== undefined && /[0-9A-Za-z_]/.test(String.fromCharCode(byte)) && byte < 0x80;

function holds(assertion: Assertion, bytes: Uint8Array, at: number): boolean {
  switch (assertion) {
    case "lineStart":
      return at === 0 || bytes[at - 1] === 10;
    case "lineEnd":
      return at === bytes.length || bytes[at] === 10;
    case "textStart":
      return at === 0;
    case "textEnd":
      return at === bytes.length;
    case "wordBoundary":
      return isWord(bytes[at - 1]) !== isWord(bytes[at]);
    case "notWordBoundary":
      return isWord(bytes[at - 1]) === isWord(bytes[at]);
  }
}

interface Thread {
  step: number;
  start: number;
  skip: number; // the remaining bytes of the character that was just read
}

/** Returns a function that finds the leftmost-first match at or after `from`. */
export function naiveFinder(
  node: Node,
): (bytes: Uint8Array, from: number) => { start: number; end: number } | undefined {
  const steps: Step[] = [{ op: "match" }];
  const entry = compile(node, steps, 0);
  return (bytes, from) => {
    let threads: Thread[] = [];
    let best: { start: number; end: number } | undefined;
    for (let at = from; at <= bytes.length; at++) {
      if (!best) threads.push({ step: entry, start: at, skip: 0 });
      const { match, next } = advance(steps, bytes, at, threads);
      best = match ?? best;
      threads = next;
    }
    return best;
  };
}

/** Advances the threads, in order of priority, by one byte. A match drops the threads after it. */
function advance(steps: Step[], bytes: Uint8Array, at: number, threads: Thread[]) {
  const next: Thread[] = [];
  const seen = new Set<number>();
  const stack = threads.toReversed();
  for (let thread = stack.pop(); thread; thread = stack.pop()) {
    const { start, skip } = thread;
    const key = 4 * thread.step + skip; // a character has at most three more bytes
    if (seen.has(key)) continue;
    seen.add(key);
    const step = steps[thread.step]!;
    if (skip > 0) next.push({ step: thread.step, start, skip: skip - 1 });
    else if (step.op === "match") return { match: { start, end: at }, next };
    else if (step.op === "split")
      stack.push({ step: step.second, start, skip }, { step: step.first, start, skip });
    else if (step.op === "assert") {
      if (holds(step.assertion, bytes, at)) stack.push({ step: step.next, start, skip });
    } else {
      const width = step.read(bytes, at);
      if (width > 0) next.push({ step: step.next, start, skip: width - 1 });
    }
  }
  return { match: undefined, next };
}
