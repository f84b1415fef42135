/** Bodies: read no further than the limit, decoded strictly, checked against a schema. */

import type { z } from "@hono/zod-openapi";
import { QuernError } from "../base/errors.ts";
import { checked } from "../validation/complaint.ts";
import { Refusal } from "./refusal.ts";

/** REQUIRES: the caller was admitted. Nothing of a body is read before. */
export async function readJson(request: Request, mostBytes: number): Promise<unknown> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity")
    throw invalid("the body must be sent without Content-Encoding");
  const bytes = await readBytes(request, mostBytes);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw invalid("the body is not JSON in UTF-8", cause);
  }
}

/** REQUIRES: as readJson(). */
export async function readBytes(request: Request, mostBytes: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length"));
  if (announced > mostBytes) throw tooLarge(mostBytes);
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  try {
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) return Buffer.concat(parts, length);
      length += part.value.length;
      if (length > mostBytes) throw tooLarge(mostBytes);
      parts.push(part.value);
    }
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new QuernError("ABORTED", "the body broke off", { cause });
  } finally {
    // not cancelled: several adapters would close the connection before the answer is out
    reader?.releaseLock();
  }
}

function tooLarge(mostBytes: number): Refusal {
  return new Refusal("BODY_TOO_LARGE", `a body may have at most ${mostBytes} bytes`);
}

/** JSON, with any parameters, and what is a kind of it. */
export function isJson(contentType: string | null): boolean {
  return /^\s*application\/(?:[\w.!#$&^+-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "");
}

/** The query of a URL as one object. A name that stands twice is refused: which one was meant? */
export function queryObject(url: string): Record<string, string> {
  const { searchParams } = new URL(url);
  for (const name of searchParams.keys())
    if (searchParams.getAll(name).length > 1) throw invalid(`${name} is given more than once`);
  return Object.fromEntries(searchParams);
}

/** The value as the schema has it; refuses with what is wrong with the first field that is. */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = checked(schema, value, "body");
  if ("data" in result) return result.data;
  throw invalid(result.complaint);
}

function invalid(message: string, cause?: unknown): Refusal {
  return new Refusal("INVALID_REQUEST_BODY", message, { cause });
}
