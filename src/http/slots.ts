/**
 * Limits the number of searches that are running or whose responses are being read, and the memory that these
 * responses take. Further searches are rejected immediately, because a queue would only delay all searches. But if a
 * reader is far behind, its response is cut off, and its slot is used for the new search.
 *
 * If the service accepts credentials, callers without one may use at most three quarters of the slots and of the
 * memory, so that they cannot lock out callers with a credential.
 */

import type { Identity } from "../auth/principal.ts";
import type { Settings } from "./options.ts";
import { overloaded } from "./refusal.ts";
import type { Reader } from "./stalled.ts";

export interface Slots {
  /** Takes a slot. Throws OVERLOADED if no slot is free and none can be freed. */
  take(caller: { readonly identity: Identity }): Slot;
}

export interface Slot {
  /** Releases the slot. May be called twice. */
  readonly giveBack: () => void;
  /** Sets the reader of the response that holds the slot. */
  readonly onReader: (reader: Reader) => void;
  /**
   * Sets the memory that the response takes, in bytes. Throws OVERLOADED if this exceeds the limit for all responses.
   */
  readonly hold: (bytes: number) => void;
}

type SlotSettings = Pick<Settings, "maxConcurrent" | "tokens" | "authenticate">;

interface Taken {
  reader?: Reader;
  /** The memory that the response takes. It is at most MOST_COUNTED. */
  bytes: number;
}

/** How far a reader may fall behind before another caller may take its slot. */
const MOST_LATE_MS = 10_000;
/** The maximum memory that all responses together may take, in bytes. */
const MOST_HELD = 256 * 2 ** 20;
/**
 * The maximum number of bytes that one response counts as, even if it takes more memory. So even the largest response
 * can be sent if few other responses are being sent.
 */
const MOST_COUNTED = MOST_HELD / 2;

export function createSlots({ maxConcurrent: most, tokens, authenticate }: SlotSettings): Slots {
  const isAnybodyKnown = tokens !== undefined || authenticate !== undefined;
  const shareOf = (whole: number) => (isAnybodyKnown ? Math.ceil((3 * whole) / 4) : whole);
  const anonymous = new Set<Taken>();
  const known = new Set<Taken>();
  return {
    take({ identity }) {
      const isAnonymous = identity.principal.kind === "anonymous";
      const own = isAnonymous ? anonymous : known;
      const taken: Taken = { bytes: 0 };
      const others = () => (isAnonymous ? anonymous : [...anonymous, ...known]);
      if (isAnonymous && anonymous.size >= shareOf(most)) mustCutOffOne(anonymous);
      if (anonymous.size + known.size >= most) mustCutOffOne(others());
      own.add(taken);
      return {
        giveBack: () => void own.delete(taken),
        onReader: (reader) => void (taken.reader = reader),
        hold(bytes) {
          taken.bytes = Math.min(bytes, MOST_COUNTED);
          while (isAnonymous && sum(anonymous) > shareOf(MOST_HELD)) mustCutOffOne(anonymous);
          while (sum(anonymous) + sum(known) > MOST_HELD) mustCutOffOne(others());
        },
      };
    },
  };
}

function sum(crowd: Iterable<Taken>): number {
  let held = 0;
  for (const { bytes } of crowd) held += bytes;
  return held;
}

/**
 * Cuts off the reader that is furthest behind, which frees its slot. Throws OVERLOADED if no reader is far enough
 * behind.
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
