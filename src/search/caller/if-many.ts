/**
 * Lets the number of matches decide how many ranges a search shows. An agent's answer shows every range if there are
 * few ranges. Otherwise, it shows only the best range of each file.
 */

export interface IfMany {
  /**
   * If more ranges match than the request's `matches`, the search answers as if the request had this value of
   * `matches`, and `matchesPerFile: 1`.
   */
  readonly matches: number;
  /**
   * Called before the search resolves, with true if more ranges match than the request's `matches`. Called again if
   * the search starts again because the index has changed.
   */
  readonly onCounted: (isMany: boolean) => void;
}
