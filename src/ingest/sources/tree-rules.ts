/** Passes the rules of a source to the code that follows its folder. Internal. */

import type { Source } from "./source.ts";

export const TREE_RULES: unique symbol = Symbol("quern.tree-rules");

export interface TreeRules {
  readonly patterns: readonly string[];
  /** Whether .gitignore and .ignore files apply. */
  readonly gitignore: boolean;
  /** Whether git decides which files are listed. If so, git's index and exclude files are rules, too. */
  readonly isGit: boolean;
}

/** Stands in for the rules of a source that does not pass any: every file is listed. */
const ALL: TreeRules = { patterns: [], gitignore: false, isGit: false };

export const treeRulesOf = (source: Source & { readonly [TREE_RULES]?: TreeRules }): TreeRules =>
  source[TREE_RULES] ?? ALL;
