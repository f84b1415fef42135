/**
 * What a search still takes seconds for: an expression that reads on behind its matches, so that it is
 * left to the two passes, on a text of which nearly every place is a state of its own to them. Some
 * 3 µs a byte, where an everyday expression takes 1 ns.
 */

import { randomFrom } from "../regex/random.ts";

export const HARD = { query: "[a-c]*d|c[ab]{200}a|[ab]|1", isRegexEnabled: true };

/** `early` matches that are found at once, each in a line of its own, and a line of so many bytes. */
export function hardText(bytes: number, early: number): string {
  const random = randomFrom(1);
  const letters = Array.from({ length: bytes }, () => "aaaaabbbbbc"[random(11)]);
  return `${"1\n".repeat(early)}${letters.join("")}`;
}
