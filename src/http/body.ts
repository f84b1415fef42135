/** Reads request bodies up to a size limit, decodes them strictly, and checks them against a schema. */

import type { z } from "@hono/zod-openapi";
import { beyondJsonShape } from "../base/json-shape.ts";
import { readBytes } from "../base/read-bytes.ts";
import { newPause } from "../base/yield.ts";
import { checked } from "../validation/complaint.ts";
import { Refusal } from "./refusal.ts";

const STEP_MS = 0.5;

/**
 * Reads a JSON body. Rejects a body that would take long to parse. REQUIRES: the caller has been admitted. No byte of
 * a body is read before that.
 */
export async function readJson(request: Request, mostBytes: number): Promise<unknown> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity")
    throw invalid("the body must be sent without Content-Encoding");
  const bytes = await readBody(request, mostBytes);
  const pause = newPause({ ms: STEP_MS }); // decoding and parsing each take up to 2 ms per megabyte
  const beyond = await beyondJsonShape(bytes, { pause });
  if (beyond !== undefined) throw invalid(`the body exceeds a limit: ${beyond}`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    await pause();
    const value: unknown = JSON.parse(text);
    await pause();
    return value;
  } catch (cause) {
    throw invalid("the body is not JSON in UTF-8", cause);
  }
}

/** Reads a body. Throws BODY_TOO_LARGE if it has more than `mostBytes` bytes. */
export async function readBody(request: Request, mostBytes: number): Promise<Uint8Array> {
  const bytes = await readBytes(request, mostBytes);
  if (bytes !== undefined) return bytes;
  throw new Refusal("BODY_TOO_LARGE", `a body may have at most ${mostBytes} bytes`);
}

/** Matches application/json with any parameters, and types that end with +json. */
export function isJson(contentType: string | null): boolean {
  return /^\s*application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "");
}

/**
 * Returns the query of a URL as an object. Rejects a name that occurs twice, because the client could mean either
 * value.
 */
export function queryObject(url: string): Record<string, string> {
  const query = new Map<string, string>();
  for (const [name, value] of new URL(url).searchParams) {
    if (query.has(name)) throw invalid(`${name} is given more than once`);
    query.set(name, value);
  }
  return Object.fromEntries(query);
}

/** Parses a value with the schema. Throws a refusal that names the first wrong field if the value does not fit. */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = checked(schema, value, "body");
  if ("data" in result) return result.data;
  throw invalid(result.complaint);
}

function invalid(message: string, cause?: unknown): Refusal {
  return new Refusal("INVALID_REQUEST_BODY", message, { cause });
}
