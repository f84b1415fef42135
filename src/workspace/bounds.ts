/** Defines how many changed files a search may lay over the index. docs/limits.md lists these limits. */

export interface Most {
  readonly files: number;
  readonly bytes: number;
}

export interface WorkspaceBounds {
  /**
   * The most changed files, and the most bytes in them, that get posting lists and symbols before the index has
   * caught up.
   */
  readonly withSymbols: Most;
  /**
   * The most changed files, and the most bytes in them, that are laid over the index. If more have changed, a search
   * waits for the index.
   */
  readonly overlaid: Most;
}

export const WORKSPACE_BOUNDS: WorkspaceBounds = {
  withSymbols: { files: 400, bytes: 8 * 2 ** 20 },
  overlaid: { files: 50_000, bytes: 256 * 2 ** 20 },
};
