/**
 * Fuzzes the handler with requests of any kind. It must always answer with a known status, and every error must have
 * the error object. An answer must never be a 500, or contain a stack trace or a secret. A seed has the form of an HTTP
 * request.
 */

import { STATUS, type ErrorBody } from "../src/http/refusal.ts";
import { startService, type Service } from "../test/http/service.ts";
import type { Random } from "../test/regex/random.ts";
import { mutate } from "./mutate.ts";
import { holds, type Target } from "./target.ts";

const STATUSES = new Set<number>([200, 201, 204, ...Object.values(STATUS)]);

export async function openHttpTarget(): Promise<Target> {
  const service = await startService({ cors: { origins: ["https://example.org"] } });
  return {
    make,
    async check(input) {
      const request = requestOf(input, service);
      if (request) await checkAnswer(await service.handler(request), request, service);
    },
  };
}

/**
 * Usually changes only one part of a request. With a broken credential, the handler would not look at the other parts.
 */
function make(random: Random, seeds: readonly Buffer[]): Buffer {
  const seed = seeds[random(seeds.length)]!;
  const end = seed.indexOf("\n\n") + 2;
  const line = seed.indexOf("\n");
  const parts: readonly (readonly [number, number])[] = [
    [end, seed.length],
    [seed.indexOf(" ") + 1, line],
    [line + 1, end - 2],
    [0, seed.length],
  ];
  const [from, to] = parts[random(3) === 0 ? random(parts.length) : end < seed.length ? 0 : 1]!;
  const changed = mutate(random, seed.subarray(from, to), seeds);
  return Buffer.concat([seed.subarray(0, from), changed, seed.subarray(to)]);
}

/** Returns undefined if no such request can be made. $KEY and $OWNER stand for secrets, and $HOST for the origin. */
function requestOf(input: Buffer, { keys }: Service): Request | undefined {
  const end = input.indexOf("\n\n");
  const head = input.toString("latin1", 0, end < 0 ? input.length : end);
  const body = end < 0 ? undefined : Uint8Array.from(input.subarray(end + 2));
  const [first = "", ...lines] = head
    .replaceAll("$KEY", keys.ada)
    .replaceAll("$OWNER", keys.owner)
    .split("\n");
  const space = first.indexOf(" ");
  const method = first.slice(0, space);
  try {
    const headers = new Headers();
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const isBare = method === "GET" || method === "HEAD" || body === undefined;
    const init = { method, headers, ...(isBare ? {} : { body }) };
    return new Request(`http://host${first.slice(space + 1)}`, init);
  } catch {
    return undefined; // no client can send it
  }
}

async function checkAnswer(response: unknown, { method }: Request, { keys }: Service) {
  holds(response instanceof Response, "the answer is no Response");
  const { status } = response;
  const text = await response.text();
  holds(STATUSES.has(status), `the status ${status}`);
  for (const secret of Object.values(keys)) holds(!text.includes(secret), "a secret is in it");
  if (status < 400) return;
  if (method === "HEAD") return holds(text === "", "a HEAD has a body");
  const error = JSON.parse(text) as ErrorBody;
  holds(
    Object.keys(error).sort().join() === "errorCode,message,statusCode" &&
      error.statusCode === status &&
      STATUS[error.errorCode] === status &&
      typeof error.message === "string",
    `the error ${text}`,
  );
  holds(error.errorCode !== "UNEXPECTED_ERROR", `${status}: ${text}`);
  holds(!/\n\s+at |node_modules|\.ts:\d/.test(error.message), `a stack: ${error.message}`);
}
