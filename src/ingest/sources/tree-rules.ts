/** Which files of its folder a source lists, for whoever follows that folder. No host knows it. */

import type { Source } from "./source.ts";

export const TREE_RULES: unique symbol = Symbol("quern.tree-rules");

export interface TreeRules {
  readonly patterns: readonly string[];
  /** Whether .gitignore and .ignore files count. */
  readonly gitignore: boolean;
  /** Whether git says which files count: then its index and its excluded files are rules, too. */
  readonly isGit: boolean;
}

/** Without rules that are known, every file counts. */
const ALL: TreeRules = { patterns: [], gitignore: false, isGit: false };

export const treeRulesOf = (source: Source & { readonly [TREE_RULES]?: TreeRules }): TreeRules =>
  source[TREE_RULES] ?? ALL;
