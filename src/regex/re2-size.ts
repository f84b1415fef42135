/**
 * Estimates the size of an expression in RE2 without calling RE2. The size is the number of byte ranges in all
 * sequences that the expression's classes match. If a class is repeated, it counts once for each copy. RE2 writes out
 * each copy of a class, and shares little within one copy. So `[\u0800\u0802\u0804…]` with 2 000 letters has size 6 000
 * in RE2, but only five nodes in our own automaton (see utf8.ts). RE2 takes about 5 to 7 µs to compile each unit of
 * size.
 */

import type { Node } from "./ast.ts";
import { encodeCodePoint, sequenceBytes } from "./utf8.ts";

export function re2Size(node: Node): number {
  switch (node.kind) {
    case "empty":
    case "byte":
    case "assert":
      return 1;
    case "char":
      return encodeCodePoint(node.cp).length;
    case "class":
      return sequenceBytes(node.members);
    case "concat":
    case "alternate":
      return node.children.reduce((total, child) => total + re2Size(child) + 1, 0);
    case "repeat": {
      const copies = node.max === Infinity ? Math.max(node.min, 1) : node.max;
      return (re2Size(node.child) + 1) * copies + 1;
    }
  }
}
