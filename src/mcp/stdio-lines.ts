/**
 * Reads the lines that a client sends, and passes on those that are requests, answers or notifications. Any other
 * line is answered with an error, because the protocol package ignores it and the client would wait forever. Only the
 * beginning of a very long line is kept in memory. While the client does not read the answers, no more lines are read.
 */

import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { beyondJsonShape } from "../base/json-shape.ts";
import { newPause, yieldTurn } from "../base/yield.ts";
import { BODY_BYTES, MOST_VALUES } from "./message-bounds.ts";

const LF = 0x0a;

/** Yields lines that are valid messages. For every other line, writes a JSON-RPC error to `output`. */
export async function* messageLines(input: Readable, output: Writable): AsyncGenerator<Buffer> {
  for await (const line of linesOf(input)) {
    await yieldTurn(); // lets earlier requests be answered first
    if (output.writableNeedDrain) await once(output, "drain");
    const refused = await refusalOf(line);
    if (refused === undefined) yield line;
    else output.write(`${JSON.stringify({ jsonrpc: "2.0", ...refused })}\n`);
  }
}

/**
 * Yields lines with their line feed. If a line exceeds the limit, yields only its beginning, which also exceeds the
 * limit.
 */
async function* linesOf(input: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(LF, from) + 1 || chunk.length;
      const piece = chunk.subarray(from, end);
      from = end;
      if (length <= BODY_BYTES) rest.push(piece);
      length += piece.length;
      if (piece.at(-1) !== LF) continue;
      if (length > 1) yield Buffer.concat(rest);
      [rest, length] = [[], 0];
    }
  }
}

interface Refusal {
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

const refuse = (code: number, message: string, id: Refusal["id"] = null): Refusal => ({
  id,
  error: { code, message },
});

async function refusalOf(line: Buffer): Promise<Refusal | undefined> {
  if (line.length > BODY_BYTES)
    return refuse(-32_600, `a message may have at most ${BODY_BYTES} bytes`);
  const beyond = await beyondJsonShape(line, { pause: newPause(), ...MOST_VALUES });
  if (beyond !== undefined) return refuse(-32_600, `the message exceeds a limit: ${beyond}`);
  let message: unknown;
  try {
    message = JSON.parse(line.toString());
  } catch {
    return refuse(-32_700, "the message is not JSON");
  }
  if (typeof message !== "object" || message === null || Array.isArray(message))
    return refuse(-32_600, "a message is one object");
  const { jsonrpc, id, method, params } = message as Readonly<Record<string, unknown>>;
  const isNamed = typeof id === "string" || Number.isInteger(id);
  if (method === undefined && isNamed) return undefined; // an answer
  const known = isNamed ? (id as string | number) : null;
  if (jsonrpc !== "2.0") return refuse(-32_600, 'jsonrpc must be "2.0"', known);
  if (typeof method !== "string") return refuse(-32_600, "method must be a string", known);
  if (id !== undefined && !isNamed) return refuse(-32_600, "id must be a string or a whole number");
  if (
    params !== undefined &&
    (typeof params !== "object" || params === null || Array.isArray(params))
  )
    return refuse(-32_602, "params must be an object", known);
  return undefined;
}
