/**
 * Describes in one sentence why a schema refuses a value. The sentence says which field is wrong, what the field must
 * be, what it is, and what was probably meant. The words come from the schema, so a new field needs no text of its
 * own. If the schema has a message for a field, the sentence uses that message, which begins with "must".
 */

import { z } from "zod";
import { nearestWord } from "../base/edit-distance.ts";
import { mustBe, valueText, wholeNumber } from "../base/must-be.ts";

/** The message of an issue for which the schema has no message of its own. */
const NONE = "";

/**
 * Returns the value as the schema parses it, or a sentence that says what is wrong with it. `whole` is the name of the
 * whole value in that sentence.
 */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole: string,
): { readonly data: z.infer<Schema> } | { readonly complaint: string } {
  const result = schema.safeParse(value, { error: () => NONE });
  if (result.success) return { data: result.data };
  return { complaint: complaintOf(result.error.issues[0]!, { schema, value, whole }) };
}

interface Given {
  readonly schema: z.ZodType;
  readonly value: unknown;
  readonly whole: string;
}

function complaintOf(issue: z.core.$ZodIssue, { schema, value, whole }: Given): string {
  const place = nameOf(issue.path) || whole;
  const found = at(value, issue.path);
  const wanted = nodeAt(jsonOf(schema), issue.path);
  if (issue.code === "unrecognized_keys") return unknownField(place, issue.keys[0]!, wanted);
  if (issue.message !== NONE && found !== undefined)
    return `${place} ${issue.message}, not ${valueText(found)}`;
  return mustBe(place, wordsFor(wanted), found) + advice(found, wanted);
}

function unknownField(place: string, key: string, { properties = {} }: Json): string {
  const words = Object.keys(properties);
  const nearest = nearestWord(key, words);
  const advised =
    nearest === undefined ? `there are ${words.join(", ")}` : `did you mean ${nearest}?`;
  return `${place}: unknown field ${valueText(key)}; ${advised}`;
}

/** Suggests the word that was probably meant, if the schema lists the possible words. */
function advice(found: unknown, wanted: Json): string {
  const nearest = typeof found === "string" ? nearestWord(found, wordsOf(wanted)) : undefined;
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

// ── the schema, as JSON Schema describes it ──

interface Json {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly items?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly anyOf?: readonly Json[];
}

const jsonOf = (schema: z.ZodType): Json =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;

/** Returns the schema at a path, or an empty schema if there is none. */
function nodeAt(root: Json, path: readonly PropertyKey[]): Json {
  let node = root;
  for (const key of path)
    node = (typeof key === "number" ? node.items : node.properties?.[String(key)]) ?? {};
  return node;
}

function wordsOf({ enum: words = [] }: Json): string[] {
  return words.filter((word) => typeof word === "string");
}

function wordsFor(wanted: Json): string {
  if (wanted.enum) return `one of ${wanted.enum.join(", ")}`;
  if ("const" in wanted) return valueText(wanted.const);
  if (wanted.anyOf) return [...new Set(wanted.anyOf.map(wordsFor))].join(" or ");
  if (typeof wanted.type === "object")
    return wanted.type.map((type) => wordsFor({ ...wanted, type })).join(" or ");
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = wanted;
  switch (wanted.type) {
    case "integer":
      return wholeNumber(minimum, maximum);
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    case "string":
      return wanted.minLength ? "a non-empty string" : "a string";
    case "array":
      return listWords(wanted);
    case "null":
      return "null";
    case "object":
      return "an object";
    case undefined:
    default:
      return "something else";
  }
}

function listWords({ items, minItems = 0 }: Json): string {
  const list = minItems > 0 ? "a non-empty list" : "a list";
  return items?.type === undefined ? list : `${list}, each ${wordsFor(items)}`;
}

// ── the value ──

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return found;
}

/** Returns a path as JavaScript would write it, such as `files[0].path`, or '' for the value itself. */
function nameOf(path: readonly PropertyKey[]): string {
  const parts = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return parts.join("").replace(/^\./, "");
}
