/** Defines what may end or pause a run over a text. */

export type Budget = () => boolean;

/**
 * Functions that may end or pause a run. They are called at least every 64 KiB of processed bytes, and while states are
 * built.
 */
export interface Limits {
  /** Ends the run if it returns true. */
  readonly budget?: Budget | undefined;
  /** Pauses the run if it returns true. */
  readonly isSliceOver?: (() => boolean) | undefined;
}
