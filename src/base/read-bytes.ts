/** Reads the body of a request up to a limit. */

import { QuernError } from "./errors.ts";
import { newPause } from "./yield.ts";

function joined(parts: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/**
 * Resolves to the body of the request, or to undefined if the body is longer than the limit. Rejects with ABORTED if
 * the connection breaks off.
 */
export async function readBytes(
  request: Request,
  mostBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (Number(request.headers.get("content-length")) > mostBytes) return undefined;
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  const pause = newPause(); // a body may come in parts of a single byte
  try {
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) return joined(parts, length);
      length += part.value.length;
      if (length > mostBytes) return undefined;
      parts.push(part.value);
      const wait = pause();
      if (wait) await wait;
    }
  } catch (cause) {
    throw new QuernError("ABORTED", "the connection was closed before the body ended", { cause });
  } finally {
    // the body is not cancelled, because several adapters would close the connection before the response is sent
    reader?.releaseLock();
  }
}
