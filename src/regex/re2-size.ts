/**
 * How large an expression is in RE2, about, without asking it: the bytes of all sequences that its
 * classes take, as often as they are repeated. RE2 writes out each copy of a class, and shares little
 * within one: `[\u0800\u0802\u0804…]` of 2 000 letters is 6 000 here, and five nodes of our own
 * automaton (utf8.ts). Compiling takes RE2 some 5 to 7 µs each.
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
