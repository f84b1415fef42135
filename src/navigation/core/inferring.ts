/** Defines what the parts of the core ask of each other, so that each part is a file of its own. */

import type { Definition, Facts, Step } from "../facts/facts.ts";
import type { Depth } from "./depth.ts";
import type { Names } from "./names.ts";
import type { MaybeType } from "./types.ts";

export interface Inferring {
  readonly names: Names;
  readonly depth: Depth;
  /** Returns the type of the value that a node makes. */
  valueAt(facts: Facts, node: number): MaybeType;
  /** Returns the type that a node names. */
  typeAt(facts: Facts, node: number): MaybeType;
  /** Returns the type of what a definition defines. */
  typeOf(definition: Definition): MaybeType;
  /** Returns the type of a part of a value. */
  part(facts: Facts, whole: MaybeType, step: Step): MaybeType;
}
