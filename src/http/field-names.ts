/**
 * Handles fields of a request that its schema does not have. The official interface ignores them, and so does this
 * one, because clients may send fields of later versions. But a misspelt field that is ignored changes what is
 * searched without a word. So a field whose name is near a known one is rejected, and all others are listed in a
 * response header:
 *
 *     X-Quern-Ignored-Fields: trace, limit
 *
 * The official interface calls the same field `repo` in some routes and `repoName` in others. All routes accept both.
 */

import type { z } from "@hono/zod-openapi";
import { nearestWord } from "../base/edit-distance.ts";
import { valueText } from "../base/must-be.ts";
import { headerList } from "./header-list.ts";
import { Refusal } from "./refusal.ts";

const NAME = "X-Quern-Ignored-Fields";

/** The header as the OpenAPI document describes it. */
export const IGNORED_HEADER = {
  [NAME]: "Fields of the request that do not exist: percent-encoded names with commas between.",
};

/** The names that a field has in other routes, by the names that a schema may have. */
const OTHER_NAMES: Readonly<Record<string, string>> = { repo: "repoName", repoName: "repo" };

/** Renames fields that are called otherwise in this route. Rejects a request that uses both names. */
export function withOwnNames(schema: z.ZodType, value: unknown): unknown {
  const known = fieldsOf(schema);
  if (!known || !isObject(value)) return value;
  let renamed = value;
  for (const [name, other] of Object.entries(OTHER_NAMES)) {
    if (!known.includes(name) || known.includes(other) || !Object.hasOwn(value, other)) continue;
    if (Object.hasOwn(value, name))
      throw invalid(`${name} and ${other} are the same field; give one of them`);
    const { [other]: given, ...rest } = renamed;
    renamed = { ...rest, [name]: given };
  }
  return renamed;
}

/** Returns the header for the fields of a body that are ignored. Rejects a field whose name is near a known one. */
export function ignoredHeader(schema: z.ZodType, body: unknown): Record<string, string> {
  const known = fieldsOf(schema);
  if (!known || !isObject(body)) return {};
  const unknown = Object.keys(body).filter((name) => !known.includes(name));
  for (const name of unknown) {
    const near = nearestWord(name, known) ?? known.find((one) => meansTheSame(name, one));
    if (near !== undefined)
      throw invalid(`body: unknown field ${valueText(name)}; did you mean ${near}?`);
  }
  return unknown.length === 0 ? {} : { [NAME]: headerList(unknown) };
}

/** The words of names that carry no meaning by themselves. */
const FILLERS = new Set(["is", "are", "enabled", "max", "maximum", "most", "name", "names", "num"]);

/**
 * Whether each word of the shorter name, fillers aside, begins like a word of the longer one: `isRegex` and
 * `isRegexEnabled`, `repositoryName` and `repoName`, `maxMatches` and `matches`.
 */
function meansTheSame(one: string, other: string): boolean {
  const [few, many] = [wordsOf(one), wordsOf(other)].toSorted((a, b) => a.length - b.length);
  return few!.length > 0 && few!.every((word) => many!.some((longer) => beginAlike(word, longer)));
}

const LEAST_LETTERS = 4;

/** Whether two words are equal, or differ only in their endings, as `repo` and `repository`. */
function beginAlike(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  let alike = 0;
  while (alike < shorter && a[alike] === b[alike]) alike++;
  return a === b || (alike >= LEAST_LETTERS && alike >= shorter - 1);
}

function wordsOf(name: string): string[] {
  const words = name.slice(0, 80).match(/[A-Z]?[a-z\d]+|[A-Z]+(?![a-z])/g) ?? [];
  return words.map((word) => word.toLowerCase()).filter((word) => !FILLERS.has(word));
}

function fieldsOf(schema: z.ZodType): readonly string[] | undefined {
  return "shape" in schema ? Object.keys(schema.shape as object) : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const invalid = (message: string): Refusal => new Refusal("INVALID_REQUEST_BODY", message);
