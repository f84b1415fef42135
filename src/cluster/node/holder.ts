/**
 * Holds the states from which a node answers, the newest one last. Fronts learn of a new state at different times. So
 * a superseded state is kept for KEPT_MS, and longer while a search reads it. States share most of their memory.
 */

import { LruCache } from "../../base/lru-cache.ts";
import { internOwnSet } from "../../base/interned-sets.ts";
import { IdMap } from "../../base/wide-map.ts";
import { newPause } from "../../base/yield.ts";
import type { OwnReady } from "../catalog/nodes.ts";
import type { Slices } from "../local/contents.ts";
import type { ShardSegment, SliceAsked } from "../wire/calls.ts";
import type { Viewer } from "../../search/messages/request.ts";
import type { Catalog, CatalogRepository } from "../../store/catalog/catalog.ts";
import { orderNames } from "../../store/catalog/names.ts";
import { viewOf, type View } from "../../store/catalog/view.ts";
import type { HeldView } from "./node-handler.ts";

const KEPT_MS = 60_000;
/** The maximum number of views that are kept for later searches of the same slices. */
const MOST_VIEWS = 32;
/**
 * The maximum cost of all cached viewers together. A viewer costs 1 per id. Making a viewer of 100 000 ids takes 5
 * ms.
 */
const MOST_VIEWER_IDS = 1_000_000;
/** The cost of the key of a cached viewer. A key may have a bit for each of 100 000 repositories. */
const KEY_IDS = 4_000;

/** Some slices of a shard at one generation, in the node's directory. */
export interface HeldShard {
  readonly generation: number;
  readonly own: Slices;
  /** The ids of all repositories of the shard, ascending. */
  readonly repositories: Uint32Array;
}

/** One state of the node's directory. While the state is held, it can be searched. */
export interface HeldState {
  readonly catalog: Catalog;
  readonly shards: ReadonlyMap<number, HeldShard>;
  /** For each segment of the directory, its shard and its number in that shard. */
  readonly segments: ReadonlyMap<number, ShardSegment>;
}

interface Kept extends HeldState {
  readonly number: number;
  /** The Date.now() at which the next state arrived. Undefined for the newest state. */
  supersededAt: number | undefined;
  readers: number;
}

/** The slices of one shard that a call names, and the state that has these slices. */
interface Chosen {
  readonly shard: number;
  readonly slices: ReadonlySet<number>;
  readonly bits: Uint8Array | undefined;
  readonly state: Kept;
}

export class Holder {
  #states: Kept[] = [];
  #last = 0;
  /** The views of the latest calls. The keys consist of states and slices. */
  readonly #views = new LruCache<string, Promise<View>>({ most: MOST_VIEWS });
  /** The viewers of the latest calls. The keys consist of states and bits. */
  readonly #viewers = new LruCache<string, Viewer>({
    most: MOST_VIEWER_IDS,
    costOf: ({ repositoryIds }) => KEY_IDS + repositoryIds.size,
  });

  get newest(): HeldState | undefined {
    return this.#states.at(-1);
  }

  /** The directory's generation in the oldest state that is kept, or Infinity if no state is kept. */
  get oldestGeneration(): number {
    return Math.min(Infinity, ...this.#states.map((one) => one.catalog.manifest.generation));
  }

  /** Whether the newest state is the only one that is kept. */
  get isAlone(): boolean {
    return this.#states.length <= 1;
  }

  add(state: HeldState): void {
    for (const one of this.#states) one.supersededAt ??= Date.now();
    const number = ++this.#last;
    this.#states.push({ ...state, number, supersededAt: undefined, readers: 0 });
  }

  /**
   * Drops the states that were superseded more than `ms` ago and that no call reads. Returns true if it has dropped
   * any.
   */
  expire(ms = KEPT_MS): boolean {
    const now = Date.now();
    const isKept = ({ supersededAt, readers }: Kept): boolean =>
      supersededAt === undefined || Math.abs(now - supersededAt) < ms || readers > 0;
    const before = this.#states.length;
    this.#states = this.#states.filter(isKept);
    return this.#states.length < before;
  }

  /** Returns the slices for which the node can answer, in all states that are kept. */
  ready(): OwnReady[] {
    const ready = new Map<string, OwnReady>();
    for (const { shards } of this.#states)
      for (const [shard, { generation, own }] of shards)
        ready.set(`${shard} ${generation}`, { shard, generation, slices: own.own });
    return [...ready.values()];
  }

  async hold(slices: readonly SliceAsked[]): Promise<HeldView | undefined> {
    const chosen = this.#choose(slices);
    if (chosen === undefined) return undefined;
    for (const { state } of chosen) state.readers++;
    const release = (): void => chosen.forEach(({ state }) => state.readers--);
    const originOf = (segment: number): ShardSegment =>
      chosen.find(({ state }) => state.segments.has(segment))!.state.segments.get(segment)!;
    try {
      return { view: await this.#view(chosen), viewer: this.#viewer(chosen), originOf, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * For each shard of a call, chooses the newest state that has all slices that the call names. Returns undefined if
   * there is no such state for one of the shards.
   */
  #choose(slices: readonly SliceAsked[]): Chosen[] | undefined {
    const byShard = new Map<number, SliceAsked[]>();
    for (const one of slices) {
      const same = byShard.get(one[0]);
      if (same) same.push(one);
      else byShard.set(one[0], [one]);
    }
    const chosen: Chosen[] = [];
    for (const [shard, asked] of byShard) {
      const [, generation, , bits] = asked[0]!;
      const wanted = new Set(asked.map(([, , slice]) => slice));
      const state = this.#states.findLast(({ shards }) => {
        const here = shards.get(shard);
        return (
          here?.generation === generation && [...wanted].every((s) => here.own.own.includes(s))
        );
      });
      if (!state) return undefined;
      chosen.push({ shard, slices: wanted, bits, state });
    }
    return chosen;
  }

  #view(chosen: readonly Chosen[]): Promise<View> {
    const parts = chosen.map(({ shard, slices, state }) => [
      shard,
      state.number,
      [...slices].sort((a, b) => a - b),
    ]);
    const key = JSON.stringify(parts.sort(([a], [b]) => (a as number) - (b as number)));
    return this.#views.getOrMake(key, () => {
      const view = catalogOf(chosen, this.#states.at(-1)!).then(viewOf);
      view.catch(() => this.#views.delete(key));
      return view;
    });
  }

  /** Returns the viewer that the bits of a call describe, or undefined if every repository is visible. */
  #viewer(chosen: readonly Chosen[]): Viewer | undefined {
    if (chosen.every(({ bits }) => bits === undefined)) return undefined;
    const parts = chosen.map(({ shard, state, bits }) => [
      shard,
      state.number,
      bits && Buffer.from(bits).toString("latin1"),
    ]);
    return this.#viewers.getOrMake(JSON.stringify(parts), () => viewerOf(chosen));
  }
}

/**
 * Resolves to a catalog with the segments of the chosen slices. The catalog may also list repositories that have no
 * files in these segments.
 */
async function catalogOf(chosen: readonly Chosen[], newest: Kept): Promise<Catalog> {
  const states = [...new Set(chosen.map(({ state }) => state))];
  const base = states.length === 1 ? states[0]!.catalog : await mixed(chosen, newest.catalog);
  const segments = chosen.flatMap(({ shard, slices, state }) => {
    const { of } = state.shards.get(shard)!.own;
    return state.catalog.manifest.segments.filter(({ segment }) => {
      const [owner, number] = state.segments.get(segment)!;
      return owner === shard && slices.has(number % of);
    });
  });
  return { ...base, manifest: { ...base.manifest, segments } };
}

/**
 * Returns a catalog that has the repositories of each shard as they are in the state that was chosen for the shard.
 */
async function mixed(chosen: readonly Chosen[], newest: Catalog): Promise<Catalog> {
  const all: [number, CatalogRepository][] = [];
  for (const { shard, state } of chosen)
    for (const id of state.shards.get(shard)!.repositories)
      all.push([id, state.catalog.repositories.get(id)!]);
  all.sort(([a], [b]) => a - b);
  const { nextRepository } = newest.manifest;
  const named = all.map(([id, { record }]) => ({
    id,
    name: record.name,
    displayName: record.metadata.displayName,
  }));
  const headers = chosen.flatMap(({ state }) => [...state.catalog.headers]);
  return {
    ...newest,
    headers: new Map(headers),
    repositories: await IdMap.from(all, nextRepository, newPause()),
    names: await orderNames(named, nextRepository, newPause()),
  };
}

function viewerOf(chosen: readonly Chosen[]): Viewer {
  const ids = new Set<number>();
  for (const { shard, state, bits } of chosen)
    state.shards.get(shard)!.repositories.forEach((id, i) => {
      if (bits === undefined || (bits[i >> 3]! & (1 << (i & 7))) !== 0) ids.add(id);
    });
  return { repositoryIds: internOwnSet(ids) };
}
