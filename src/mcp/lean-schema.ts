/**
 * Converts the schemas of tools to JSON Schema. Leaves out everything that a model does not need, because the schemas
 * take up tokens in every conversation. Arguments are still checked against the full schema.
 */

import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";
import { checked } from "../validation/complaint.ts";
import { OUTPUT, type Facts } from "./tool.ts";

type Json = Record<string, unknown>;

export function lean<Schema extends z.ZodObject>(
  schema: Schema,
  aliases: Readonly<Record<string, string>> = {},
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const { properties, required } = z.toJSONSchema(schema, { io: "input" });
  const json: Json = {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, property]) => [
        name,
        leanProperty(property as Json),
      ]),
    ),
    ...(required && { required }),
  };
  const { vendor } = schema["~standard"];
  const jsonSchema = { input: () => json, output: () => json };
  const validate = (value: unknown) => {
    const result = checked(schema, renamed(value, aliases), "the arguments");
    return "data" in result ? { value: result.data } : { issues: [{ message: result.complaint }] };
  };
  return { "~standard": { version: 1, vendor, validate, jsonSchema } };
}

/** Gives fields their own names instead of aliases. A field that is also there under its own name is not renamed. */
function renamed(value: unknown, aliases: Readonly<Record<string, string>>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, field]): [string, unknown] => {
    const own = Object.hasOwn(aliases, name) ? aliases[name]! : name;
    return [Object.hasOwn(value, own) ? name : own, field];
  });
  return Object.fromEntries(entries);
}

/**
 * Keeps only the type and the description. Defaults and limits are left out, because the instructions state those
 * that matter.
 */
const leanProperty = ({ type, description }: Json): Json => ({
  type,
  ...(description !== undefined && { description }),
});

/**
 * Returns the schema of the structured facts that accompany the text of a tool's answers. All facts are optional in
 * this schema, which makes it shorter.
 */
export function leanOutput(facts: readonly (keyof Facts)[]): ReturnType<typeof lean> {
  const kept = Object.entries(OUTPUT.shape).filter(([name]) => facts.includes(name as keyof Facts));
  return lean(z.object(Object.fromEntries(kept)).partial());
}
