/**
 * A search that still takes seconds. Its expression reads on beyond its matches, so that it is left to the two passes,
 * and nearly every place of its text needs a new state. It takes about 3 µs a byte; an ordinary expression takes 1 ns.
 */

import { randomFrom } from "../regex/random.ts";

export const HARD = { query: "[a-c]*d|c[ab]{200}a|[ab]|1", isRegexEnabled: true };

/**
 * Returns a text with `early` matches that are found immediately, each on its own line, followed by a line of this many
 * bytes.
 */
export function hardText(bytes: number, early: number): string {
  const random = randomFrom(1);
  const letters = Array.from({ length: bytes }, () => "aaaaabbbbbc"[random(11)]);
  return `${"1\n".repeat(early)}${letters.join("")}`;
}
