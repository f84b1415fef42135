/**
 * Lets the number of matches decide, within one search, how many ranges are shown. An agent's answer shows every
 * range if there are few, and otherwise only the best range of each file.
 */

/** The key of an internal option of search() that quern/mcp uses for a first page. An engine may ignore it. */
export const IF_MANY = Symbol.for("quern.ifMany");

export interface IfMany {
  /**
   * If more ranges match than the request's `matches`, the search answers as if the request had this value of
   * `matches`, and `matchesPerFile: 1`.
   */
  readonly matches: number;
  /** Called before the answer. Called again if the search starts again because the index has changed. */
  readonly onCounted: (isMany: boolean) => void;
}

export interface AsksIfMany {
  readonly [IF_MANY]?: IfMany;
}
