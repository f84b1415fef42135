/**
 * Limits how many searches run or wait for their reader. One more is refused at once, because a queue would
 * only make all of them late. But if an answer is read so slowly that it does little more than hold its
 * slot, it gives way.
 *
 * Callers without a credential share three quarters of the slots and take none from others, so that a
 * stranger cannot lock out those who have one.
 */

import type { Identity } from "../auth/principal.ts";
import type { Settings } from "./options.ts";
import { overloaded } from "./refusal.ts";
import type { Reader } from "./stalled.ts";

export interface Slots {
  /** Takes a slot. Throws OVERLOADED if there is none. */
  take(caller: { readonly identity: Identity }): Slot;
}

export interface Slot {
  /** Releases the slot. May be called twice. */
  readonly giveBack: () => void;
  /** Names the reader that the slot waits for from now on. */
  readonly onReader: (reader: Reader) => void;
}

type SlotSettings = Pick<Settings, "maxConcurrent" | "tokens" | "authenticate">;

interface Taken {
  reader?: Reader;
}

/** How long a reader may be late before others may take its slot. */
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

/** Cuts off the latest reader, which gives its slot back. Throws OVERLOADED if none is late enough. */
function mustCutOffOne(crowd: Iterable<Taken>): void {
  let [latest, lateMs]: [Reader | undefined, number] = [undefined, MOST_LATE_MS];
  for (const { reader } of crowd) {
    const own = reader?.lateMs() ?? 0;
    if (own > lateMs) [latest, lateMs] = [reader, own];
  }
  if (latest === undefined) throw overloaded();
  latest.cutOff(new Error("this body was read too slowly, and another caller needed its place"));
}
