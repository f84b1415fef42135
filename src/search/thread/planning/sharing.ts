/** Chooses the expressions of a query that share one pass over each blob: those that no literal narrows down. */

import type { Kernel } from "../../../kernel/kernel.ts";
import { mayShare, SharedPass } from "../../../regex/shared-pass.ts";
import { readsAll, type PlacedExpression } from "./expression-plan.ts";

/** The expressions that share a pass, in one thread. */
export interface Sharing {
  /** The numbers of their atoms. */
  readonly atoms: ReadonlySet<number>;
  readonly pass: SharedPass;
}

/**
 * Returns the expressions that share a pass: those that have no literal to search for and do not cross lines. Returns
 * undefined if there are fewer than two.
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
