/**
 * Rejects unknown keys. An option with a misspelt name would be ignored, which can be dangerous: `{ readonly: true }`
 * would open the index for writing, and `{ viwer }` would search everything.
 */

import { QuernError } from "./errors.ts";
import { nearestWord } from "./edit-distance.ts";

/** An object with every key of `T`. The compiler reports a missing key. */
export type KeysOf<T> = { readonly [Key in keyof Required<T>]: true };

/**
 * Throws INVALID_REQUEST if `given` is not an object, or has a key that `known` does not have. The message begins with
 * `call`. `what` is the word for a key, such as "option".
 */
export function checkKeys(
  { call, what }: { call: string; what: "option" | "field" },
  given: unknown,
  known: object,
): void {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new QuernError("INVALID_REQUEST", `${call}: ${what}s must be an object`);
  const { signal } = given as { readonly signal?: unknown };
  if ("signal" in known && signal !== undefined && !isSignal(signal))
    throw new QuernError("INVALID_REQUEST", `${call}: signal must be an AbortSignal`);
  const words = Object.keys(known);
  const stranger = Object.keys(given).find((key) => !words.includes(key));
  if (stranger === undefined) return;
  const nearest = nearestWord(stranger, words);
  const advice =
    nearest === undefined ? `there are ${words.join(", ")}` : `did you mean ${nearest}?`;
  const name = JSON.stringify(stranger.slice(0, 80));
  throw new QuernError("INVALID_REQUEST", `${call}: unknown ${what} ${name}; ${advice}`);
}

/** Whether a value can abort a call. A signal of another realm, such as that of a test environment, is not an instance. */
const isSignal = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
