/**
 * Defines the syntax tree of regular expressions. The parser has resolved flags, escapes and class names, so the
 * meaning of a node depends only on the node. Groups are not represented, because no part of a search needs them.
 */

import type { CodePoints } from "./code-points.ts";

export type Assertion =
  | "lineStart"
  | "lineEnd"
  | "textStart"
  | "textEnd"
  | "wordBoundary" // of ASCII words, whatever the flags
  | "notWordBoundary";

export type Node =
  | { readonly kind: "empty" }
  | { readonly kind: "char"; readonly cp: number } // exactly this code point
  | { readonly kind: "class"; readonly members: CodePoints } // also represents a folded character; may be empty
  | { readonly kind: "byte" } // \C
  | { readonly kind: "assert"; readonly assertion: Assertion }
  | { readonly kind: "concat"; readonly children: readonly Node[] }
  | { readonly kind: "alternate"; readonly children: readonly Node[] } // in order of preference
  | {
      readonly kind: "repeat";
      readonly child: Node;
      readonly min: number;
      readonly max: number; // Infinity if unbounded
      readonly greedy: boolean;
      /**
       * Replaces the last copy of `child` if RE2 simplifies that copy to a loop over the child's own child. The
       * replacement matches the same texts, but may prefer another match. For example, RE2 writes (y?){2,} as y?y*
       * and (y+){0,2} as (y+y*)?.
       */
      readonly last?: Node;
    };

export const EMPTY: Node = { kind: "empty" };

/** The maximum depth of a tree. The parser rejects deeper expressions. */
export const NESTING_LIMIT = 1_000;
