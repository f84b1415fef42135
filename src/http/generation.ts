/**
 * Lets callers read their own writes. A request with the header `X-Quern-Generation: shard=generation` waits until
 * the shard has this generation or a newer one. A single engine always answers from its newest generation, so it
 * ignores the header.
 */

import type { Engine } from "../engine.ts";
import { coreOf } from "../core-of.ts";
import { parseGenerations } from "../search/caller/generations.ts";
import { forbidden, type Caller } from "./gate.ts";
import { Refusal } from "./refusal.ts";

export const GENERATION_HEADER = "X-Quern-Generation";

/** Resolves when the engine has the generations that the request asks for. */
export async function reachGeneration(
  { headers, signal }: Request,
  { viewer }: Caller,
  engine: Engine,
): Promise<void> {
  const text = headers.get(GENERATION_HEADER);
  if (text === null) return;
  const { reach } = coreOf(engine);
  if (!reach) return;
  // the waiting time would reveal how often a shard changes, and the shard may have repositories that the caller may
  // not see
  if (viewer)
    throw forbidden(`${GENERATION_HEADER} is for callers who may search every repository`);
  const generations = parseGenerations(text);
  if (!generations)
    throw new Refusal(
      "INVALID_REQUEST_BODY",
      `${GENERATION_HEADER}: must be a list of shards and generations such as 3=17,4=2, got ${JSON.stringify(text.slice(0, 100))}`,
    );
  await reach(generations, signal);
}
