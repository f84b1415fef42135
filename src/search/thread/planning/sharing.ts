/**
 * Chooses the expressions of a query that share one pass over each blob. These are expressions that have no literal to
 * search for first.
 */

import type { Kernel } from "../../../kernel/kernel.ts";
import { mayShare, SharedPass } from "../../../regex/shared-pass.ts";
import { readsAll, type PlacedExpression } from "./expression-plan.ts";

/** The expressions of a query that share a pass, in one thread. */
export interface Sharing {
  /** The numbers of the atoms with these expressions. */
  readonly atoms: ReadonlySet<number>;
  readonly pass: SharedPass;
}

/**
 * Returns the expressions that share a pass. These are the expressions that must run over all text (readsAll()) and
 * whose matches do not cross lines. Returns undefined if there are too few or too many of them.
 */
export function sharingOf(
  expressions: ReadonlyMap<number, PlacedExpression>,
  kernel: Kernel,
): Sharing | undefined {
  const sharing = [...expressions].filter(([, one]) => readsAll(one) && mayShare(one.expression));
  const pass = SharedPass.of(
    kernel,
    sharing.map(([, { expression }]) => expression),
  );
  return pass && { atoms: new Set(sharing.map(([atom]) => atom)), pass };
}
