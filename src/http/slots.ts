/**
 * Limits the number of searches that are running or whose responses are being read, and the memory that these
 * responses take. Further searches wait for a slot in a queue, first come, first served. A search is rejected if the
 * queue is full, or if it has waited for too long. If a reader is far behind, its response is cut off, and its slot is
 * used for another search.
 *
 * If the service accepts credentials, callers without one may use at most three quarters of the slots and of the
 * memory, so that they cannot lock out callers with a credential.
 *
 * The clients that use or want slots have equal shares of the slots and of the memory. A share limits a client only
 * while another client below its own share wants more. Then the client's readers lose their slots as soon as they are
 * one second behind, and the client gets no new slot until the other one has been served or has given up.
 */

import type { Settings } from "./options.ts";
import type { Caller } from "./gate.ts";
import { overloaded } from "./refusal.ts";
import type { Reader } from "./stalled.ts";

export interface Slots {
  /**
   * Takes a slot, and waits for one if necessary. Rejects with OVERLOADED if there is no slot within MOST_QUEUED_MS, or
   * if the queue is full. If `signal` is aborted, the caller stops waiting.
   */
  take(caller: Pick<Caller, "identity" | "client">, signal: AbortSignal): Promise<Slot>;
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

type SlotSettings = Pick<Settings, "maxConcurrent" | "maxWaiting" | "tokens" | "authenticate">;

interface Taken {
  readonly client: string;
  readonly isAnonymous: boolean;
  reader?: Reader;
  /** The memory that the response takes. It is at most MOST_COUNTED. */
  bytes: number;
}

/** A resource that callers share. */
interface Resource {
  readonly amountOf: (taken: Taken) => number;
  readonly most: number;
  /** The clients that were rejected although they had less than their share, with the times until which they wait. */
  readonly waiting: Map<string, number>;
}

/** A caller that waits for a slot. */
interface Waiting {
  readonly caller: Parameters<Slots["take"]>[0];
  /** Ends the waiting, with a slot or without. */
  readonly end: (slot: Slot | undefined) => void;
}

/** How long a search may wait for a slot. */
const MOST_QUEUED_MS = 10_000;
/** How often waiting searches check whether a reader has fallen so far behind that it loses its slot. */
const LOOK_MS = 250;
/** How far a reader may fall behind before another caller may take its slot. */
const MOST_LATE_MS = 10_000;
/** The same, if the reader's client has more than its share, and the other caller has less. */
const MOST_LATE_OVER_SHARE_MS = 1_000;
/** How long a rejected client waits, in milliseconds. It is expected to try again within this time. */
const WAITS_MS = 5_000;
/** The maximum number of clients that wait for a resource. */
const MOST_WAITING = 1_000;
/** The maximum memory that all responses together may take, in bytes. */
const MOST_HELD = 256 * 2 ** 20;
/**
 * The maximum number of bytes that one response counts as, even if it takes more memory. So even the largest response
 * can be sent if few other responses are being sent.
 */
const MOST_COUNTED = MOST_HELD / 2;

export function createSlots(settings: SlotSettings): Slots {
  const { maxConcurrent, maxWaiting, tokens, authenticate } = settings;
  const isAnybodyKnown = tokens !== undefined || authenticate !== undefined;
  const all = new Set<Taken>();
  const slots: Resource = { amountOf: () => 1, most: maxConcurrent, waiting: new Map() };
  const memory: Resource = { amountOf: ({ bytes }) => bytes, most: MOST_HELD, waiting: new Map() };

  /** Cuts off readers until the caller's part of the resource fits. Throws OVERLOADED if it does not fit. */
  function makeRoom(one: Taken, resource: Resource): void {
    if (one.isAnonymous && isAnybodyKnown)
      makeRoomAmong(one, { ...resource, most: Math.ceil((3 * resource.most) / 4) }, isAnonymous);
    makeRoomAmong(one, resource, () => true);
    resource.waiting.delete(one.client);
  }

  function makeRoomAmong(
    one: Taken,
    { amountOf, most, waiting }: Resource,
    counts: (other: Taken) => boolean,
  ): void {
    dropExpired(waiting);
    for (;;) {
      const crowd = [...all].filter(counts);
      const amounts = new Map([...waiting.keys()].map((client) => [client, 0]));
      for (const other of crowd)
        amounts.set(other.client, (amounts.get(other.client) ?? 0) + amountOf(other));
      const share = Math.max(1, most / amounts.size);
      const hasMore = ({ client }: Taken): boolean => amounts.get(client)! > share;
      const doOthersWait = waiting.size > (waiting.has(one.client) ? 1 : 0);
      if (hasMore(one) && doOthersWait) throw overloaded();
      if (sum(amounts.values()) <= most) return;
      const victims = one.isAnonymous ? crowd.filter(isAnonymous) : crowd;
      const late =
        latestOf(victims, MOST_LATE_MS) ??
        (hasMore(one) ? undefined : latestOf(victims.filter(hasMore), MOST_LATE_OVER_SHARE_MS));
      if (late === undefined) {
        if (!hasMore(one) && waiting.size < MOST_WAITING)
          waiting.set(one.client, performance.now() + WAITS_MS);
        throw overloaded();
      }
      late.cutOff(
        new Error("the response was read too slowly, and another caller needed its slot"),
      );
    }
  }

  /** Takes a slot at once. Throws OVERLOADED if no slot is free and none can be freed. */
  function takeNow({ identity, client }: Parameters<Slots["take"]>[0]): Slot {
    const isAnonymous = identity.principal.kind === "anonymous";
    const taken: Taken = { client, isAnonymous, bytes: 0 };
    const giveBack = (): void => {
      if (all.delete(taken)) queue.admit();
    };
    all.add(taken);
    try {
      makeRoom(taken, slots);
    } catch (error) {
      all.delete(taken);
      throw error;
    }
    return {
      giveBack,
      onReader: (reader) => void (taken.reader = reader),
      hold(bytes) {
        taken.bytes = Math.min(bytes, MOST_COUNTED);
        makeRoom(taken, memory);
      },
    };
  }

  const queue = createQueue(takeNow, maxWaiting);
  return {
    async take(caller, signal) {
      try {
        return takeNow(caller);
      } catch {
        return queue.wait(caller, signal);
      }
    },
  };
}

/** Creates the queue of callers that wait for a slot. */
function createQueue(takeNow: (caller: Waiting["caller"]) => Slot, maxWaiting: number) {
  const queue = new Set<Waiting>();
  let look: NodeJS.Timeout | undefined;

  /** Gives slots to waiting callers, in the order in which they came. */
  function admit(): void {
    const refused = new Set<string>(); // what one caller does not get, no other one of the same client gets
    for (const waiting of queue) {
      const { identity, client } = waiting.caller;
      const key = `${identity.principal.kind} ${client}`;
      if (refused.has(key)) continue;
      try {
        waiting.end(takeNow(waiting.caller));
      } catch {
        refused.add(key);
      }
    }
  }

  function wait(caller: Waiting["caller"], signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (queue.size >= maxWaiting || signal.aborted) return reject(overloaded());
      const giveUp = (): void => end(undefined);
      const end = (slot: Slot | undefined): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        queue.delete(waiting);
        if (queue.size === 0) clearInterval(look);
        if (slot) resolve(slot);
        else reject(overloaded());
      };
      const timer = setTimeout(giveUp, MOST_QUEUED_MS);
      signal.addEventListener("abort", giveUp, { once: true });
      const waiting: Waiting = { caller, end };
      if (queue.size === 0) look = setInterval(admit, LOOK_MS);
      queue.add(waiting);
    });
  }

  return { admit, wait };
}

const isAnonymous = (taken: Taken): boolean => taken.isAnonymous;

function dropExpired(waiting: Map<string, number>): void {
  const now = performance.now();
  for (const [client, until] of waiting) if (until < now) waiting.delete(client);
}

function sum(amounts: Iterable<number>): number {
  let whole = 0;
  for (const amount of amounts) whole += amount;
  return whole;
}

/** Returns the reader that is furthest behind, or undefined if no reader is more than `ms` behind. */
function latestOf(crowd: Iterable<Taken>, ms: number): Reader | undefined {
  let [latest, lateMs]: [Reader | undefined, number] = [undefined, ms];
  for (const { reader } of crowd) {
    const own = reader?.lateMs() ?? 0;
    if (own > lateMs) [latest, lateMs] = [reader, own];
  }
  return latest;
}
