/**
 * Describes all errors in a configuration file, up to a limit. Each message begins with the path of the field that is
 * wrong. Messages repeat only field names from the file, never values, because a value may be a misplaced secret.
 */

import { z } from "zod";
import { nearestWord } from "../base/edit-distance.ts";

/** The message of an issue for which the schema has no message of its own. */
const NONE = "";

/**
 * Returns the value as the schema parses it, or a text that says what is wrong with it. `whole` is the name of the
 * whole value in that text.
 */
export function checkedFile<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole: string,
): { readonly data: z.infer<Schema> } | { readonly complaint: string } {
  const result = schema.safeParse(value, { error: () => NONE });
  if (result.success) return { data: result.data };
  const given = { value, whole, fields: fieldsOf(schema) };
  const { issues } = result.error;
  const told = issues.slice(0, MOST_TOLD).flatMap((issue) => describe(issue, given));
  const all = issues.reduce((sum, one) => sum + ("keys" in one ? one.keys.length : 1), 0);
  const more = all > MOST_TOLD ? `; and ${all - MOST_TOLD} more` : "";
  return { complaint: told.slice(0, MOST_TOLD).join("; ") + more };
}

/**
 * The maximum number of errors that are described. With 60 000 unknown fields, the search for similar names would
 * take seconds, and the messages would take megabytes.
 */
const MOST_TOLD = 20;
const MOST_NAME = 100;
const cut = (name: string): string =>
  name.length > MOST_NAME ? `${name.slice(0, MOST_NAME)}…` : name;

interface Given {
  readonly value: unknown;
  readonly whole: string;
  /** The names of all fields of the schema, at any depth. */
  readonly fields: readonly string[];
}

function describe(issue: z.core.$ZodIssue, { value, whole, fields }: Given): string[] {
  const place = issue.path.map((one) => cut(String(one))).join(".") || whole;
  if (issue.code === "unrecognized_keys")
    return issue.keys
      .slice(0, MOST_TOLD)
      .map(cut)
      .map((key) => `${place}: unknown field ${JSON.stringify(key)}${advice(key, fields)}`);
  if (issue.code === "invalid_key")
    return issue.issues.map(({ message }) => `${place}: ${message}`);
  const words = wordsFor(issue);
  if (at(value, issue.path) === undefined)
    return [`${place} is missing${words.startsWith("one of") ? `; it must be ${words}` : ""}`];
  return [issue.message === NONE ? `${place} must be ${words}` : `${place}: ${issue.message}`];
}

function advice(key: string, fields: readonly string[]): string {
  const nearest = nearestWord(key, fields);
  if (nearest === undefined) return "";
  return nearest === key ? ", which belongs elsewhere" : `; did you mean ${nearest}?`;
}

/** Returns words that say what the value must be. */
function wordsFor(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return TYPES[issue.expected] ?? `a ${issue.expected}`;
  if (issue.code === "invalid_value") return `one of ${issue.values.join(", ")}`;
  // a union of objects, distinguished by one field
  if (issue.code === "invalid_union" && "options" in issue)
    return `one of ${issue.options.join(", ")}`;
  return "something else";
}

const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function fieldsOf(schema: z.ZodType): string[] {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { properties = {} } = node as { properties?: object };
    for (const field of Object.keys(properties)) found.add(field);
    for (const child of Object.values(node)) visit(child);
  };
  visit(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  return [...found];
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return found;
}
