/** Checks responses against the OpenAPI document that is served, with an independent validator. */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type Json = Record<string, unknown>;
interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, unknown>; headers?: Json }>;
}
export interface Document extends Json {
  paths: Record<string, Record<string, Operation>>;
}

export interface Interface {
  document: Document;
  /** Returns what is wrong with a response, or undefined. `path` is the template. */
  problem(method: string, path: string, response: Response, text: string): string | undefined;
}

/** Validators by document. They are costly to make, and the same for every way to serve one document. */
const read = new Map<string, Interface>();

export function readInterface(document: Document): Interface {
  const key = JSON.stringify([document.paths, document["components"]]);
  const made = read.get(key) ?? makeInterface(document);
  read.set(key, made);
  return made;
}

function makeInterface(document: Document): Interface {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...(closed(document) as Json), $id: "doc:" });
  const compiled = new Map<string, ValidateFunction>();
  const check = (pointer: readonly string[], value: unknown): string | undefined => {
    const $ref = `doc:#/${pointer.map(escape).join("/")}`;
    const validate = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, validate);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
  return {
    document,
    problem(method, path, { status, headers }, text) {
      const answer = document.paths[path]?.[method]?.responses[status];
      if (answer === undefined) return `${method} ${path} says nothing of status ${status}`;
      const strange = strangeHeader(headers, answer.headers ?? {});
      if (strange !== undefined) return `header ${strange} is not described`;
      if (answer.content === undefined) return text === "" ? undefined : "a body is not described";
      const type = headers.get("content-type") ?? "";
      if (answer.content[type] === undefined) return `content type ${type} is not described`;
      const content = ["responses", String(status), "content", type];
      const isStream = type === "text/event-stream";
      const event = ["schema", "properties", "data", "anyOf", "1", "contentSchema"];
      const schema = [...content, ...(isStream ? event : ["schema"])];
      const values = type.startsWith("text/plain")
        ? [text]
        : isStream
          ? events(text)
          : [JSON.parse(text) as unknown];
      return values
        .map((value) => check(["paths", path, method, ...schema], value))
        .find((wrong) => wrong !== undefined);
    },
  };
}

const TELLING = ["link", "x-total-count", "x-quern-not-indexed"];

function strangeHeader(headers: Headers, described: Json): string | undefined {
  const known = new Set(Object.keys(described).map((name) => name.toLowerCase()));
  return TELLING.find((name) => headers.has(name) && !known.has(name));
}

/** Returns the JSON of each event of a complete stream. */
export function events(text: string): { type: string; [name: string]: unknown }[] {
  const lines = text.split("\n\n").filter((line) => line !== "");
  return lines
    .map((line) => line.replace(/^data: /, ""))
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as { type: string });
}

const escape = (part: string) =>
  encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));

/** Returns the document with every object closed, so that a field that is not described is an error. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, closed(field)] as const);
  const isObject = "properties" in value && !("additionalProperties" in value);
  return { ...Object.fromEntries(fields), ...(isObject && { additionalProperties: false }) };
}
