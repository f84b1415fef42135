/** Checks the name and the metadata of a source when the source is made. */

import { invalid } from "../../base/errors.ts";
import { checkKeys } from "../../base/known-keys.ts";
import { CODE_HOST_TYPES, type RepositoryMetadata } from "../../store/format/records.ts";

const MAX_NAME_BYTES = 512;
const KEYS = [
  "codeHostType",
  "displayName",
  "webUrl",
  "archived",
  "fork",
  "public",
  "rank",
] as const;

/**
 * Checks the metadata among the options of a source, and returns it without undefined values. `call` is the name of
 * the function that was called, such as 'git'. Error messages begin with this name.
 */
export function checkedMetadata(call: string, options: RepositoryMetadata): RepositoryMetadata {
  for (const key of KEYS) {
    const problem = options[key] === undefined ? undefined : RULES[key](options[key]);
    if (problem !== undefined)
      throw invalid(`${call}: ${key} ${problem}, not ${formatValue(options[key])}`);
  }
  const given = KEYS.filter((key) => options[key] !== undefined);
  return Object.fromEntries(given.map((key) => [key, options[key]]));
}

const aBoolean = (value: unknown) => (typeof value === "boolean" ? undefined : "must be a boolean");

/**
 * For each key, a function that checks a value. It returns what is wrong with the value, or undefined if the value is
 * valid. REQUIRES: the value is not undefined.
 */
const RULES: Record<(typeof KEYS)[number], (value: unknown) => string | undefined> = {
  codeHostType: (value) =>
    CODE_HOST_TYPES.some((type) => type === value)
      ? undefined
      : `must be one of ${CODE_HOST_TYPES.join(", ")}`,
  displayName: (value) =>
    typeof value === "string" && value !== "" ? undefined : "must be a non-empty string",
  webUrl: (value) =>
    typeof value === "string" && isWebUrl(value) ? undefined : "must be an http or https URL",
  archived: aBoolean,
  fork: aBoolean,
  public: aBoolean,
  rank: (value) =>
    typeof value === "number" && value >= 0 && value <= 1
      ? undefined
      : "must be a number from 0 to 1",
};

// only these two schemes may become links in a page that displays results
function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === "http:" || protocol === "https:";
}

export function checkedName(call: string, name: unknown): string {
  const problem = typeof name === "string" ? problemOfName(name) : "must be a string";
  if (problem !== undefined) throw invalid(`${call}: the name of a repository ${problem}`);
  return name as string;
}

/**
 * Returns what is wrong with a name, as words that follow "the name of a repository". Returns undefined if the name
 * is valid.
 */
export function problemOfName(name: string): string | undefined {
  if (name === "") return "must not be empty; give the option name";
  if (/\p{Cs}/u.test(name)) return "must be well-formed Unicode";
  if (/\p{Cc}/u.test(name)) return `must not contain control characters: ${formatValue(name)}`;
  if (name.trim() !== name) return `must not begin or end with white space: ${formatValue(name)}`;
  // browsers remove these parts from addresses, so links to the repository would lead elsewhere
  if (name.split("/").some((part) => part === "." || part === ".."))
    return `must not have the parts . or ..: ${formatValue(name)}`;
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    return `must not be longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

/** Checks that the options are an object without unknown keys. */
export function checkedOptions(call: string, options: unknown, own: readonly string[]): void {
  const known = [...own, "name", ...KEYS].map((key) => [key, true] as const);
  checkKeys({ call, what: "option" }, options, Object.fromEntries(known));
}

/** Checks the path of a source on disk. */
export function checkedDiskPath(call: string, path: unknown): string {
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return path;
  throw invalid(`${call}: the path must be a non-empty string without NUL`);
}

/**
 * Formats a value for an error message. The result is short, has one line, and contains no control characters for a
 * terminal.
 */
export function formatValue(value: unknown): string {
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "an array" : "an object";
  if (typeof value !== "string") return String(value);
  const text = JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  // JSON.stringify() does not escape DEL and the control characters from U+0080 to U+009F
  return text.replace(/\p{Cc}/gu, (control) => `\\u00${control.charCodeAt(0).toString(16)}`);
}
