/** Writes the messages for invalid values. The library, the HTTP interface and the tools for agents share them. */

const MOST = 60;

/**
 * Returns a sentence such as "matches must be a whole number of 0 or more, not -1". `wants` is the text after "must
 * be".
 */
export const mustBe = (name: string, wants: string, value: unknown): string =>
  value === undefined
    ? `${name} is missing; it must be ${wants}`
    : `${name} must be ${wants}, not ${valueText(value)}`;

/** Returns a value as it would be written in code. A long text is cut. */
export function valueText(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint" || typeof value === "symbol" || Number.isNaN(value))
    return String(value);
  if (value === Infinity || value === -Infinity) return String(value);
  const text = textOf(value);
  return text.length <= MOST ? text : `${text.slice(0, MOST)}…`;
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "an object"; // a value that contains itself
  }
}

/** Returns a text such as "a whole number from 0 to 9" or "a whole number of 1 or more". */
export function wholeNumber(least: number, most: number): string {
  if (most >= Number.MAX_SAFE_INTEGER)
    return least <= Number.MIN_SAFE_INTEGER
      ? "a whole number"
      : `a whole number of ${least} or more`;
  return `a whole number from ${least} to ${most}`;
}
