/**
 * Runs a node. A node keeps copies of the slices that it owns, and answers the requests of fronts. It reports in
 * PostgreSQL that it is alive, and which slices it has ready. Which slices a node owns depends only on the list of
 * nodes. A slice that the node holds but no longer owns is called foreign. The node keeps it until all owners have it
 * ready.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { LocalCore } from "../../local-core.ts";
import type { Environment } from "../../store/lmdb/environment.ts";
import { acquireLease } from "../../store/lmdb/lease.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Damage, DamagedObject } from "../catalog/damage.ts";
import type { ShardHead } from "../catalog/head.ts";
import { NewestHeads } from "../catalog/newest-heads.ts";
import { placedNames, type Membership, type NodeRow, type Nodes } from "../catalog/nodes.ts";
import { fetchHandler, type DirectHandler } from "../../base/direct-handlers.ts";
import { QuernError } from "../../base/errors.ts";
import { Placement } from "../catalog/placement.ts";
import { Follower } from "../follow/follower.ts";
import { bringTo, type WantedShard } from "../local/bring.ts";
import { isSameSlices, readContents, reading, type Contents } from "../local/contents.ts";
import { ObjectsDamaged } from "../local/damaged-objects.ts";
import { Mender } from "../local/mender.ts";
import type { SegmentStore } from "../objects/segment-store.ts";
import { answersOf } from "./answers.ts";
import { missingBytes, ofSlices, ownAlone, withinDisk, type Owns } from "./disk-budget.ts";
import { Holder, type HeldShard } from "./holder.ts";
import { nodeHandler } from "./node-handler.ts";

const BEAT_MS = 2_000;
const POLL_MS = 1_000;
/** If the disk is full even after all foreign slices were deleted, the node fetches nothing for this long. */
const FULL_MS = 60_000;
const MOST_CONCURRENT = 64;
/** A node meets damaged segments first, and then damaged objects of repositories. */
const MOST_TRIES = 3;
/** How long a node waits for another process on this machine that is updating the same directory. */
const TURN_MS = 600_000;

export interface NodeSettings {
  readonly name: string;
  readonly url: string;
  readonly secret: string;
  readonly diskBytes: number;
  readonly replicas: number;
  /** Starts the server that receives the requests of fronts. */
  readonly listen?: (internal: (request: Request) => Promise<Response>) => Promise<unknown>;
}

export interface NodeParts {
  readonly settings: NodeSettings;
  readonly catalog: Catalog;
  readonly nodes: Nodes;
  readonly damage: Damage;
  readonly store: SegmentStore;
  /** The directory that the node fills. */
  readonly environment: Environment;
  /** The core of a read-only engine that searches the same directory. */
  readonly core: LocalCore;
  readonly onWarning: (warning: { code: string; message: string }) => void;
}

export class ClusterNode {
  readonly answer: DirectHandler;
  readonly #node: NodeParts;
  readonly #holder = new Holder();
  readonly #placement: Placement;
  readonly #heads: NewestHeads;
  readonly #mender = new Mender();
  readonly #closing = new AbortController();
  /** Repeatedly updates the directory to the newest published state. */
  readonly follower: Follower<void>;
  /** Repeatedly records a heartbeat of the node. */
  readonly #beating: Follower<void>;
  /** The number of own slices that do not fit on the disk. A warning is issued when this number grows. */
  #leftOut = 0;
  /** The number of slices that are not held because of damaged objects. A warning is issued when it grows. */
  #damaged = 0;
  #isFirst = true;
  /** Whether the node's server listens. Before it does, the node records no slices as ready. */
  #isListening = false;
  /** The shards and slices of the newest state. */
  #held: readonly WantedShard[] = [];
  /**
   * The size in bytes of the segments that only older states have. They are deleted when no search reads those
   * states.
   */
  #retiredBytes = 0;
  /** The performance.now() before which no objects are fetched, because the disk was full. */
  #fullUntil = 0;

  private constructor(node: NodeParts) {
    this.#node = node;
    this.#heads = new NewestHeads(node.catalog);
    this.#placement = new Placement(node.settings.replicas);
    const { searching, reader } = node.core.parts;
    const onTrouble = (error: unknown): void => {
      const message = `this node cannot follow the publications of the cluster: ${String(error)}`;
      node.onWarning({ code: "INTERNAL", message });
    };
    const beat = () => node.nodes.beat(node.settings, false);
    this.follower = new Follower({ run: () => this.#bring(), everyMs: POLL_MS, onTrouble });
    this.#beating = new Follower({ run: beat, everyMs: BEAT_MS, onTrouble });
    const refresh = () => this.follower.run();
    this.answer = nodeHandler({
      secret: node.settings.secret,
      maxConcurrent: MOST_CONCURRENT,
      answers: answersOf({ searching, reader, refresh }),
      hold: (slices) => this.#holder.hold(slices),
    });
  }

  /** Starts a node. Resolves when the slices that the node owns are ready. */
  static async open(parts: NodeParts): Promise<ClusterNode> {
    const node = new ClusterNode(parts);
    await parts.nodes.beat(parts.settings, true);
    node.#beating.start(); // heartbeats begin before the first fetch, which may take an hour
    try {
      await node.follower.run();
      await parts.settings.listen?.(fetchHandler(node.answer));
      node.#isListening = true;
      await node.follower.run();
    } catch (error) {
      await node.kill();
      throw error;
    }
    node.follower.start();
    return node;
  }

  /**
   * Updates the directory. If that needs damaged objects, goes on without their slices. Rejects if the node stays at an
   * earlier generation of a shard for that reason.
   */
  async #bring(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    let behind: readonly DamagedObject[] | undefined;
    for (let tries = 1; !behind; tries++)
      behind = await this.#bringIntact().catch((error: unknown) => {
        if (!(error instanceof ObjectsDamaged) || tries === MOST_TRIES) throw error;
        return undefined; // the damage is recorded now
      });
    if (behind.length > 0) throw new ObjectsDamaged(behind);
  }

  /** Resolves to the damaged objects for which the node stays at an earlier generation. */
  async #bringIntact(): Promise<DamagedObject[]> {
    const { nodes, settings } = this.#node;
    const [members, heads] = await Promise.all([nodes.all(), this.#heads.read()]);
    this.#placement.place(placedNames(members.nodes));
    const owns: Owns = (...slice) => this.#placement.ownersOf(slice).includes(settings.name);
    const newest = heads.map((head) => this.#wanted(head, members));
    const { wanted: all, behind } = await this.#intact(newest);
    const wanted = this.#withinDisk(all, owns);
    const before = this.#holder.ready().length;
    const hasExpired = this.#holder.expire();
    const isChanged = this.#isFirst || !this.#isAt(wanted);
    if (isChanged) await this.#take(wanted, owns);
    else if (hasExpired) await this.#fetch(wanted);
    if (this.#holder.isAlone) this.#retiredBytes = 0;
    this.#isFirst = false;
    if (!this.#isListening) return behind;
    const ready = this.#holder.ready();
    const told = members.ready.filter(({ node }) => node === settings.name);
    if (isChanged || ready.length !== before || told.length !== ready.length)
      await nodes.setReady(settings.name, ready, { isWhole: true });
    return behind;
  }

  /**
   * Repairs damaged objects that this node has, and returns what it can hold in spite of the others. If the directory
   * has all wanted slices of a shard at an earlier generation, the node stays at that generation, so that answers stay
   * complete. Otherwise it does without the damaged slices.
   */
  async #intact(
    newest: readonly WantedShard[],
  ): Promise<{ readonly wanted: readonly WantedShard[]; readonly behind: DamagedObject[] }> {
    const damaged = await this.#mender.run(this.#node);
    const behind: DamagedObject[] = [];
    const wanted: WantedShard[] = [];
    let missing = 0;
    const contents = reading(this.#node.environment, readContents);
    for (const one of newest) {
      const { objects, slices } = damageIn(one, damaged, contents);
      const earlier = slices.size > 0 ? await this.#earlier(one, contents) : undefined;
      if (earlier) behind.push(...objects);
      else missing += slices.size;
      const isReadable = objects.every(({ segment }) => segment !== undefined);
      const intact = one.own!.own.filter((slice) => !slices.has(slice));
      if (earlier) wanted.push(earlier);
      else if (isReadable) wanted.push(slices.size > 0 ? ofSlices(one, intact) : one);
    }
    this.#warnOfDamage(missing);
    return { wanted, behind };
  }

  /** Resolves to the generation of the directory if it has all wanted slices, and is older than the wanted one. */
  async #earlier(
    { shard, generation, own }: WantedShard,
    { shards }: Contents,
  ): Promise<WantedShard | undefined> {
    const [, at = generation, here] = shards.find(([number]) => number === shard) ?? [];
    if (at >= generation || !here || here.of !== own!.of) return undefined;
    if (!own!.own.every((slice) => here.own.includes(slice))) return undefined;
    const known = this.#held.find((one) => one.shard === shard);
    const head = await this.#node.catalog.head(shard, at, known).catch(() => undefined); // may have been collected
    return head && { ...head, own: here };
  }

  #warnOfDamage(missing: number): void {
    if (missing > this.#damaged) {
      const message = `this node does without ${missing} of its slices, because their objects are damaged or missing: quern cluster status names the repositories to index again`;
      this.#node.onWarning({ code: "INDEX_CORRUPT", message });
    }
    this.#damaged = missing;
  }

  #wanted(head: ShardHead, members: Membership): WantedShard {
    const own: number[] = [];
    for (let slice = 0; slice < head.slices; slice++)
      if (this.#keeps(head, slice, members)) own.push(slice);
    return { ...head, own: { own, of: head.slices } };
  }

  #keeps({ shard, generation, slices }: ShardHead, slice: number, members: Membership): boolean {
    const { name } = this.#node.settings;
    const owners = this.#placement.ownersOf([shard, slice]);
    if (owners.includes(name)) return true;
    const here = this.#holder.newest?.shards.get(shard);
    if (here?.own.of !== slices || !here.own.own.includes(slice)) return false;
    const isReady = (node: string): boolean =>
      members.ready.some(
        (one) =>
          one.node === node &&
          one.shard === shard &&
          one.generation === generation &&
          one.slices.includes(slice),
      );
    return !owners.every(isReady) || owners.length === 0;
  }

  /** Returns the wanted slices that fit on the disk. Issues a warning if more own slices than before do not fit. */
  #withinDisk(wanted: readonly WantedShard[], owns: Owns): readonly WantedShard[] {
    const within = withinDisk(wanted, owns, this.#node.settings.diskBytes);
    const { leftOut } = within;
    if (leftOut > this.#leftOut) {
      const message = `diskBytes is too small for ${leftOut} of the slices that this node owns: add a node, or give it more`;
      this.#node.onWarning({ code: "INTERNAL", message });
    }
    this.#leftOut = leftOut;
    return within.wanted;
  }

  #isAt(wanted: readonly WantedShard[]): boolean {
    const here = this.#holder.newest?.shards;
    return (
      here?.size === wanted.length &&
      wanted.every(({ shard, generation, own }) => {
        const one = here.get(shard);
        return one?.generation === generation && isSameSlices(one.own, own);
      })
    );
  }

  /**
   * Fetches slices and adds them as the newest state. If the disk has too little space, deletes superseded segments
   * first. If the space is still too little, also deletes foreign slices.
   */
  async #take(wanted: readonly WantedShard[], owns: Owns): Promise<void> {
    if (performance.now() < this.#fullUntil) return;
    const own = ownAlone(wanted, owns);
    try {
      if (this.#hasRoomFor(wanted)) return await this.#fetchAndHold(wanted);
      this.#holder.expire(0);
      if (this.#holder.isAlone) this.#retiredBytes = 0;
      if (this.#hasRoomFor(wanted)) return await this.#fetchAndHold(wanted, { evicts: true });
      await this.#dropForeign(owns);
      await this.#fetchAndHold(own, { evicts: true });
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.#holder.expire(0);
      await this.#dropForeign(owns);
      await this.#fetchAndHold(own, { evicts: true }).catch((again: unknown) => {
        if (isDiskFull(again)) this.#fullUntil = performance.now() + FULL_MS;
        throw again;
      });
    }
  }

  /**
   * Whether the wanted slices fit on the disk, in addition to the newest state and the older states that calls may
   * still read.
   */
  #hasRoomFor(wanted: readonly WantedShard[]): boolean {
    const here = missingBytes(this.#held, []) + this.#retiredBytes;
    return here + missingBytes(wanted, this.#held) <= this.#node.settings.diskBytes;
  }

  /** Deletes foreign slices. Keeps own slices at the generations that the directory has. */
  async #dropForeign(owns: Owns): Promise<void> {
    const own = ownAlone(this.#held, owns);
    if (missingBytes(this.#held, own) === 0) return;
    await this.#fetchAndHold(own, { evicts: true });
    const { nodes, settings } = this.#node;
    this.#holder.expire(0);
    await nodes.setReady(settings.name, this.#holder.ready(), { isWhole: true });
  }

  async #fetchAndHold(
    wanted: readonly WantedShard[],
    options: { readonly evicts?: boolean } = {},
  ): Promise<void> {
    await this.#fetch(wanted, options);
    await this.#hold(wanted);
    this.#retiredBytes += missingBytes(this.#held, wanted);
    this.#held = wanted;
  }

  async #fetch(
    wanted: readonly WantedShard[],
    { evicts = false }: { readonly evicts?: boolean } = {},
  ): Promise<void> {
    const { catalog, store, environment, damage } = this.#node;
    const lease = await acquireLease(environment, { timeoutMs: TURN_MS });
    try {
      const oldestHeld = this.#holder.oldestGeneration;
      const { owner } = lease;
      const bringing = { environment, owner, catalog, store, damage, oldestHeld, evicts };
      await bringTo(bringing, wanted);
    } finally {
      await lease.release();
    }
  }

  async #hold(wanted: readonly WantedShard[]): Promise<void> {
    const { segments } = reading(this.#node.environment, readContents);
    this.#holder.add({
      catalog: await this.#node.core.parts.newest(),
      shards: new Map(wanted.map((one) => [one.shard, heldOf(one)])),
      segments: new Map(segments.map(({ here, shard, segment }) => [here, [shard, segment]])),
    });
  }

  /**
   * Hands the node's slices over to other nodes. Resolves when the other nodes have the slices ready, or if no other
   * node can own slices.
   */
  async drain(): Promise<void> {
    const { nodes, settings } = this.#node;
    await nodes.drain(settings.name);
    for (;;) {
      await this.follower.run();
      const others = (await nodes.all()).nodes.some((one: NodeRow) => one.isPlaced);
      const left = [...(this.#holder.newest?.shards.values() ?? [])];
      if (!others || left.every(({ own }) => own.own.length === 0)) break;
      await sleep(POLL_MS / 4, undefined, { signal: this.#closing.signal });
    }
    await sleep(2 * POLL_MS, undefined, { signal: this.#closing.signal }); // until fronts have noticed the change
  }

  /** Stops without notifying anybody, as if the process were killed. */
  async kill(): Promise<void> {
    this.#closing.abort();
    await this.#beating.close();
    await this.follower.close();
  }

  async close(): Promise<void> {
    await this.kill();
    await this.#node.nodes.stop(this.#node.settings.name).catch(() => undefined); // if PostgreSQL is down, the missing heartbeat has the same effect
  }
}

/** Returns the slices that cannot be fetched, and the damaged objects that they need. */
function damageIn(
  { shard, generation, segments, own }: WantedShard,
  damaged: readonly DamagedObject[],
  contents: Contents,
): { readonly objects: readonly DamagedObject[]; readonly slices: ReadonlySet<number> } {
  const here = new Set(contents.segments.flatMap((one) => [one.object, one.symbolsObject]));
  const used = new Set(segments.flatMap((one) => [one.object, one.symbolsObject]));
  const isHere = contents.shards.some(([number, at]) => number === shard && at === generation);
  const objects = damaged.filter((one) =>
    one.segment === undefined
      ? one.shard === shard && !isHere
      : used.has(one.object) && !here.has(one.object),
  );
  const slices = objects.flatMap(({ segment }) =>
    segment === undefined ? own!.own : own!.own.filter((slice) => slice === segment % own!.of),
  );
  return { objects, slices: new Set(slices) };
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof QuernError && error.code === "DISK_FULL";

const heldOf = ({ generation, own, repositories }: WantedShard): HeldShard => ({
  generation,
  own: own!,
  repositories: repositories.ids,
});
