/**
 * Limits how many searches run or wait for their reader. A further search is rejected immediately, because a queue
 * would only delay all of them. But if a reader is so slow that its answer mostly just holds a slot, that answer is
 * cut off to free the slot.
 *
 * Callers without a credential may use at most three quarters of the slots, so that strangers cannot lock out callers
 * who have one.
 */

import type { Identity } from "../auth/principal.ts";
import type { Settings } from "./options.ts";
import { overloaded } from "./refusal.ts";
import type { Reader } from "./stalled.ts";

export interface Slots {
  /** Takes a slot. Throws OVERLOADED if none is free. */
  take(caller: { readonly identity: Identity }): Slot;
}

export interface Slot {
  /** Releases the slot. May be called twice. */
  readonly giveBack: () => void;
  /** Sets the reader that the slot's answer waits for from now on. */
  readonly onReader: (reader: Reader) => void;
}

type SlotSettings = Pick<Settings, "maxConcurrent" | "tokens" | "authenticate">;

interface Taken {
  reader?: Reader;
}

/** How far a reader may fall behind before others may take its slot. */
const MOST_LATE_MS = 10_000;

export function createSlots({ maxConcurrent: most, tokens, authenticate }: SlotSettings): Slots {
  const isAnybodyKnown = tokens !== undefined || authenticate !== undefined;
  const anonymousMost = isAnybodyKnown ? Math.ceil((3 * most) / 4) : most;
  const anonymous = new Set<Taken>();
  const known = new Set<Taken>();
  return {
    take({ identity }) {
      const isAnonymous = identity.principal.kind === "anonymous";
      const own = isAnonymous ? anonymous : known;
      const taken: Taken = {};
      if (isAnonymous && anonymous.size >= anonymousMost) mustCutOffOne(anonymous);
      if (anonymous.size + known.size >= most)
        mustCutOffOne(isAnonymous ? anonymous : [...anonymous, ...known]);
      own.add(taken);
      return {
        giveBack: () => void own.delete(taken),
        onReader: (reader) => void (taken.reader = reader),
      };
    },
  };
}

/**
 * Cuts off the reader that is furthest behind, which frees its slot. Throws OVERLOADED if none is far enough behind.
 */
function mustCutOffOne(crowd: Iterable<Taken>): void {
  let [latest, lateMs]: [Reader | undefined, number] = [undefined, MOST_LATE_MS];
  for (const { reader } of crowd) {
    const own = reader?.lateMs() ?? 0;
    if (own > lateMs) [latest, lateMs] = [reader, own];
  }
  if (latest === undefined) throw overloaded();
  latest.cutOff(new Error("this body was read too slowly, and another caller needed its place"));
}
