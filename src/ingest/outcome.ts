/**
 * Adds to the error of a failed index run which repositories the run has published. A run publishes repositories one
 * after another, then their symbols, and then merged segments, so it may fail although new content can be searched.
 */

import { QuernError } from "../base/errors.ts";

/** What the run did when it failed. */
export type Step = "content" | "symbols" | "words" | "history" | "merge" | "refresh";

const MOST_NAMES = 5;

const OUTCOMES: Readonly<Record<Step, (names: string) => string>> = {
  content: (names) => `${names} had been published before`,
  symbols: (names) => `${names} had been published, but the next run must find missing symbols`,
  words: (names) =>
    `${names} had been published, but the next run must index their words for find()`,
  history: (names) =>
    `${names} had been published, but the next run must index the rest of their history`,
  merge: (names) => `${names} had been published completely; only segments were not merged`,
  refresh: (names) => `${names} had been published, but searches on this machine do not see it yet`,
};

/** Returns the error of a run that has published these repositories. Returns errors of the host unchanged. */
export function withOutcome(error: unknown, step: Step, published: readonly string[]): unknown {
  if (!(error instanceof QuernError) || published.length === 0) return error;
  const { code, message, cause } = error;
  const all = [...new Set([...published, ...error.published])];
  const names = published.slice(0, MOST_NAMES).join(", ");
  const more = published.length > MOST_NAMES ? ` and ${published.length - MOST_NAMES} more` : "";
  const told = `${message}; ${OUTCOMES[step](names + more)}`;
  return new QuernError(code, told, { cause, published: all });
}
