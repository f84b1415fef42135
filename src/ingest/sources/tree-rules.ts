/**
 * Defines the rules by which a source of files on disk selects files. The code that follows the folder for changes
 * applies the same rules. Internal.
 */

import type { Source } from "./source.ts";

export const TREE_RULES: unique symbol = Symbol("quern.tree-rules");

export interface TreeRules {
  readonly patterns: readonly string[];
  /** Whether .gitignore and .ignore files apply. */
  readonly gitignore: boolean;
  /** Whether git decides which files are listed. If so, git's index and git's exclude files affect the list, too. */
  readonly isGit: boolean;
}

/** The rules of a source that has not passed any. All files are listed. */
const ALL: TreeRules = { patterns: [], gitignore: false, isGit: false };

export const treeRulesOf = (source: Source & { readonly [TREE_RULES]?: TreeRules }): TreeRules =>
  source[TREE_RULES] ?? ALL;
