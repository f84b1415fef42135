/**
 * Refuses keys that nobody reads. A misspelt option is an option that does nothing, and some of them
 * protect: `{ readonly: true }` would open for writing, `{ viwer }` would search everything.
 */

import { QuernError } from "./errors.ts";
import { nearestWord } from "./edit-distance.ts";

/** The keys of `T`, each once: the compiler asks for a key that is added to `T`. */
export type KeysOf<T> = { readonly [Key in keyof Required<T>]: true };

/**
 * Throws INVALID_REQUEST unless `given` is an object with no other keys than those of `known`.
 * `call` begins the message; `what` is the word for a key.
 */
export function checkKeys(
  { call, what }: { call: string; what: "option" | "field" },
  given: unknown,
  known: object,
): void {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new QuernError("INVALID_REQUEST", `${call}: ${what}s must be an object`);
  const words = Object.keys(known);
  const stranger = Object.keys(given).find((key) => !words.includes(key));
  if (stranger === undefined) return;
  const nearest = nearestWord(stranger, words);
  const advice =
    nearest === undefined ? `there are ${words.join(", ")}` : `did you mean ${nearest}?`;
  const name = JSON.stringify(stranger.slice(0, 80));
  throw new QuernError("INVALID_REQUEST", `${call}: unknown ${what} ${name}; ${advice}`);
}
