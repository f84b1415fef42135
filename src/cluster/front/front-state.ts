/**
 * Defines the state that a front has in memory. The state says which repositories exist, and which generation of each
 * shard to ask for. If possible, live nodes have all slices of that generation ready. A search uses the same state from
 * its beginning to its end, so it sees each shard at one published generation.
 */

import { countBits, unite, type Bitset } from "../../base/bitset.ts";
import { wordsOf } from "../../base/growable.ts";
import { isInterned } from "../../base/interned-sets.ts";
import type { IdMap } from "../../base/wide-map.ts";
import { newPause } from "../../base/yield.ts";
import type { RepositoryLimits } from "../../search/caller/repository-limits.ts";
import type { SearchStats } from "../../search/messages/stats.ts";
import type { Viewer } from "../../search/messages/request.ts";
import {
  changeRepositories,
  type Catalog as LocalCatalog,
  type CatalogRepository,
} from "../../store/catalog/catalog.ts";
import { EMPTY_MANIFEST } from "../../store/catalog/manifest.ts";
import { RepositoryList } from "../../store/catalog/repository-list.ts";
import { viewOf, type View } from "../../store/catalog/view.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { PublishedState, ShardHead } from "../catalog/head.ts";
import type { Membership, NodeRow } from "../catalog/nodes.ts";
import { ownersOf } from "../catalog/placement.ts";
import type { PlacedSlice } from "./ask-replicas.ts";

/** A shard at the generation that the front asks for. */
export interface FrontShard {
  readonly head: ShardHead;
  /**
   * For each slice, the addresses of the nodes that have the slice, the preferred node first. Undefined for an empty
   * slice.
   */
  readonly replicas: readonly (readonly string[] | undefined)[];
}

/** The slices to search, and the counters of slices that need not be searched. */
export interface ChosenSlices {
  readonly slices: readonly PlacedSlice[];
  readonly excluded: Pick<SearchStats, "shardsSkippedFilter" | "shardFilesConsidered">;
}

/** The part of a query that decides which slices must be searched. */
export interface SliceQuestion {
  readonly viewer: Viewer | undefined;
  /** The only repositories in which the query can match. */
  readonly limits: RepositoryLimits;
  /** Whether all revisions are searched, not only the default ones. */
  readonly allRevisions: boolean;
}

/** A slice that has files of repositories that a viewer may see. */
interface VisibleSlice {
  readonly placed: PlacedSlice;
  /** The number of segments that have visible files. It is counted for default revisions and for all revisions. */
  readonly segments: FileCounts;
  /** The number of visible files. */
  readonly files: FileCounts;
}

/**
 * How many segment numbers are reserved for each shard, so that segments of different shards have different numbers.
 */
const SHARD_STEP = 2 ** 32;

export class FrontState {
  readonly shards: ReadonlyMap<number, FrontShard>;
  readonly catalog: FrontCatalog;
  readonly view: View;
  /** Caches the slices that a viewer may see. The key is the interned set of the ids of visible repositories. */
  readonly #visible = new WeakMap<object, readonly VisibleSlice[]>();
  /**
   * Caches the slices that have files of given repositories. The key is the set of the repositories' ids. The value
   * is a set of texts of the form `shard slice`.
   */
  readonly #holding = new WeakMap<object, ReadonlySet<string>>();

  constructor(shards: FrontState["shards"], catalog: FrontCatalog) {
    this.shards = shards;
    this.catalog = catalog;
    this.view = viewOf(catalog);
  }

  /** Returns the slices that have files of repositories that the viewer may see. */
  slicesFor(viewer: Viewer | undefined): readonly PlacedSlice[] {
    return this.#visibleTo(viewer).map(({ placed }) => placed);
  }

  /** Returns the slices that the viewer may see and in which the query may match. */
  slicesWithin({ viewer, limits, allRevisions }: SliceQuestion): ChosenSlices {
    const slices: PlacedSlice[] = [];
    const excluded = { shardsSkippedFilter: 0, shardFilesConsidered: 0 };
    const holding = limits && this.#slicesHolding(limits);
    const of = allRevisions ? 1 : 0;
    for (const { placed, segments, files } of this.#visibleTo(viewer)) {
      const [shard, , slice] = placed.slice;
      if (!holding || holding.has(`${shard} ${slice}`)) slices.push(placed);
      else {
        excluded.shardsSkippedFilter += segments[of];
        excluded.shardFilesConsidered += files[of];
      }
    }
    return { slices, excluded };
  }

  #slicesHolding(ids: ReadonlySet<number>): ReadonlySet<string> {
    const known = this.#holding.get(ids);
    if (known) return known;
    const keys = new Set<string>();
    for (const id of ids) {
      const one = this.catalog.repositories.get(id);
      if (one === undefined) continue;
      const { slices } = this.shards.get(one.shard)!.head;
      for (const segment of one.record.segments) keys.add(`${one.shard} ${segment % slices}`);
    }
    this.#holding.set(ids, keys);
    return keys;
  }

  #visibleTo(viewer: Viewer | undefined): readonly VisibleSlice[] {
    const key = viewer?.repositoryIds ?? EVERYTHING;
    const known = this.#visible.get(key);
    if (known) return known;
    const slices = [...this.shards].flatMap(([shard, one]) => this.#slicesOf(shard, one, viewer));
    if (!viewer || isInterned(viewer.repositoryIds)) this.#visible.set(key, slices);
    return slices;
  }

  #slicesOf(shard: number, one: FrontShard, viewer: Viewer | undefined): VisibleSlice[] {
    const { generation, slices: of, repositories } = one.head;
    const bits = viewer && new Uint8Array(Math.ceil(repositories.length / 8));
    const bySegment = new Map<number, [number, number]>();
    repositories.ids.forEach((id, i) => {
      if (viewer && !viewer.repositoryIds.has(id)) return;
      if (bits) bits[i >> 3]! |= 1 << (i & 7);
      const { record, files } = this.catalog.repositories.get(id)!;
      record.segments.forEach((segment, place) => {
        let sum = bySegment.get(segment);
        if (!sum) bySegment.set(segment, (sum = [0, 0]));
        sum[0] += files[2 * place]!;
        sum[1] += files[2 * place + 1]!;
      });
    });
    const bySlice = new Map<number, Pick<VisibleSlice, "segments" | "files">>();
    for (const [segment, [own, all]] of bySegment) {
      const { segments, files } = bySlice.get(segment % of) ?? { segments: [0, 0], files: [0, 0] };
      bySlice.set(segment % of, {
        segments: [segments[0] + (own > 0 ? 1 : 0), segments[1] + (all > 0 ? 1 : 0)],
        files: [files[0] + own, files[1] + all],
      });
    }
    return [...bySlice]
      .sort(([a], [b]) => a - b)
      .map(([slice, counts]) => ({
        ...counts,
        placed: {
          slice: bits ? [shard, generation, slice, bits] : [shard, generation, slice],
          replicas: one.replicas[slice] ?? [],
        },
      }));
  }

  /**
   * Returns the slices that have files of one repository. If the repository has no files, returns a slice whose nodes
   * know the repository's record.
   */
  slicesOf({ record }: CatalogRepository): PlacedSlice[] {
    const { shard } = this.catalog.repositories.get(record.id)!;
    const { head, replicas } = this.shards.get(shard)!;
    const numbers = new Set(record.segments.map((segment) => segment % head.slices));
    const other = replicas.findIndex((urls) => urls !== undefined);
    if (numbers.size === 0 && other >= 0) numbers.add(other);
    return Array.from(numbers, (slice) => ({
      slice: [shard, head.generation, slice] as const,
      replicas: replicas[slice] ?? [],
    }));
  }

  /**
   * Returns slices of an earlier state with the replicas of this state. A replica that no longer has the generation
   * of a slice reports this when it is asked.
   */
  placedNow(slices: readonly PlacedSlice[]): PlacedSlice[] {
    return slices.map(({ slice }) => ({
      slice,
      replicas: this.shards.get(slice[0])?.replicas[slice[2]] ?? [],
    }));
  }
}

const EVERYTHING = {};

/** A count for default revisions, and a count for all revisions. */
type FileCounts = readonly [own: number, all: number];

/** A repository without its sets of files, which make up most of its state. */
interface FrontRepository extends CatalogRepository {
  readonly shard: number;
  /**
   * Two numbers for each segment in record.segments: how many of the repository's files in the segment belong to the
   * default revision, and how many belong to any revision.
   */
  readonly files: readonly number[];
}

/** A catalog whose repositories have no sets of files. */
interface FrontCatalog extends LocalCatalog {
  readonly repositories: IdMap<FrontRepository>;
}

function knownOf({ changed, record, sets }: PublishedState, shard: number): FrontRepository {
  const first = record.revisions[0]?.number;
  const all = new Map<number, Bitset>();
  const own = new Map<number, number>();
  for (const [segment, revision, bits] of sets) {
    const words = wordsOf(bits);
    const before = all.get(segment);
    if (before) unite(before, words);
    else all.set(segment, words);
    if (revision === first) own.set(segment, countBits(words));
  }
  const files = record.segments.flatMap((segment): FileCounts => [
    own.get(segment) ?? 0,
    countBits(all.get(segment) ?? NO_FILES),
  ]);
  const places = record.segments.map((segment) => ({
    segment: numberOf(shard, segment),
    first: 0,
    count: 0,
    sets: NO_SETS,
  }));
  return { changed, record, places, shard, files };
}

const NO_SETS: readonly undefined[] = [];
const NO_FILES: Bitset = new Uint32Array();

/** Returns a number for a segment of a shard that no other segment of the cluster has. */
export const numberOf = (shard: number, segment: number): number => shard * SHARD_STEP + segment;

export class FrontStates {
  readonly #catalog: Catalog;
  #state: FrontState | undefined;
  /** The rows from which the state was made, as JSON. */
  #rows = "";

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** The newest state, or undefined if no state was loaded yet. */
  get newest(): FrontState | undefined {
    return this.#state;
  }

  /** Resolves to the state that the rows in PostgreSQL describe, or to the previous state if nothing has changed. */
  async bring(members: Membership): Promise<FrontState> {
    const published = await this.#catalog.generations();
    const rows = rowsOf(published, members);
    if (this.#state && rows === this.#rows) return this.#state;
    const shards = new Map<number, FrontShard>();
    for (const [shard, generation] of published) {
      const one = await this.#choose(shard, generation, members);
      if (one) shards.set(shard, one);
    }
    if (!this.#state || !isSame(this.#state.shards, shards))
      this.#state = await this.#build(shards);
    this.#rows = rows;
    return this.#state;
  }

  /**
   * Chooses the generation for which live nodes have the largest share of the shard's slices ready. If several
   * generations have the same share, chooses the newest of them. Never chooses a generation older than one that this
   * front has already used. Otherwise, a caller who has seen one state might see an older state later. Resolves to
   * undefined if the shard is new to this front and no generation is completely ready.
   */
  async #choose(
    shard: number,
    published: number,
    members: Membership,
  ): Promise<FrontShard | undefined> {
    const ready = members.ready.filter((one) => one.shard === shard);
    const current = this.#state?.shards.get(shard)?.head.generation ?? 0;
    const oldest = Math.min(current, published); // `published` is lower if a backup was restored
    const known = [published, current, ...ready.map(({ generation }) => generation)];
    const generations = new Set(known.filter((one) => one >= oldest && one > 0));
    let best: { shard: FrontShard; share: number } | undefined;
    for (const generation of [...generations].sort((a, b) => b - a)) {
      const head = await this.#head(shard, generation);
      if (!head) continue;
      const replicas = replicasOf(head, members);
      const all = replicas.filter((urls) => urls !== undefined);
      const share =
        all.length === 0 ? 1 : all.filter((urls) => urls.length > 0).length / all.length;
      if (best && best.share >= share) continue;
      best = { shard: { head, replicas }, share };
      if (share === 1) break;
    }
    const isNew = this.#state !== undefined && !this.#state.shards.has(shard);
    return isNew && best!.share < 1 ? undefined : best!.shard;
  }

  async #head(shard: number, generation: number): Promise<ShardHead | undefined> {
    const known = this.#state?.shards.get(shard)?.head;
    if (known?.generation === generation) return known;
    const [head, newest] = await Promise.allSettled([
      this.#catalog.head(shard, generation, known),
      this.#catalog.generations(),
    ]);
    if (newest.status === "rejected") throw newest.reason;
    if (head.status === "fulfilled") return head.value;
    if (generation === newest.value.get(shard)) throw head.reason;
    return undefined; // a collection may have deleted an older generation
  }

  async #build(shards: ReadonlyMap<number, FrontShard>): Promise<FrontState> {
    const heads = [...shards.values()].map(({ head }) => head);
    const before = this.#state?.catalog;
    const repositories = RepositoryList.union(heads.map((head) => head.repositories));
    const manifest = {
      ...EMPTY_MANIFEST,
      generation: 1 + (before?.manifest.generation ?? 0),
      nextRepository: 1 + (repositories.ids.at(-1) ?? 0),
      repositories,
      segments: heads.flatMap(({ shard, segments }) =>
        segments.map(({ segment, files, textBytes, symbols, hasSymbols }) => {
          const number = numberOf(shard, segment);
          return { segment: number, files, textBytes, symbols, hasSymbols };
        }),
      ),
    };
    const changes = repositories.since((before?.manifest ?? EMPTY_MANIFEST).repositories);
    const arrived = await this.#fetch(heads, changes.arrived);
    const changing = { manifest, before, changes, arrived, pause: newPause() };
    const changed = await changeRepositories<FrontRepository>(changing);
    return new FrontState(shards, { manifest, headers: new Map(), ...changed });
  }

  async #fetch(
    heads: readonly ShardHead[],
    wanted: readonly number[],
  ): Promise<[id: number, one: FrontRepository][]> {
    const arrived: [number, FrontRepository][] = [];
    const left = new Set(wanted);
    for (const { shard, repositories } of left.size > 0 ? heads : []) {
      const own = left.size < repositories.length ? [...left] : repositories.ids;
      const pairs: [id: number, changed: number][] = [];
      for (const id of own) {
        const changed = left.has(id) ? repositories.get(id) : undefined;
        if (changed !== undefined) pairs.push([id, changed]);
        if (changed !== undefined) left.delete(id);
      }
      for await (const states of this.#catalog.states(pairs, { hasExtra: false }))
        for (const state of states) arrived.push([state.repository, knownOf(state, shard)]);
    }
    return arrived.sort(([a], [b]) => a - b);
  }
}

/** Returns the rows on which a state depends, as JSON. */
const rowsOf = (published: ReadonlyMap<number, number>, { nodes, ready }: Membership): string =>
  JSON.stringify([
    [...published],
    nodes.map(({ name, url, isLive }) => [name, url, isLive]),
    ready,
  ]);

/** Returns, for each slice, the addresses of the live nodes that have the slice ready. */
function replicasOf(head: ShardHead, { nodes, ready }: Membership): FrontShard["replicas"] {
  const { shard, generation, slices, segments } = head;
  const live = new Map(nodes.filter(({ isLive }) => isLive).map((one: NodeRow) => [one.name, one]));
  const own = ready.filter(
    (one) => one.shard === shard && one.generation === generation && live.has(one.node),
  );
  const used = new Set(segments.map(({ segment }) => segment % slices));
  return Array.from({ length: slices }, (_, slice) => {
    if (!used.has(slice)) return undefined;
    const names = own.filter((one) => one.slices.includes(slice)).map(({ node }) => node);
    return ownersOf(names, [shard, slice], names.length).map((name) => live.get(name)!.url);
  });
}

function isSame(a: ReadonlyMap<number, FrontShard>, b: ReadonlyMap<number, FrontShard>): boolean {
  if (a.size !== b.size) return false;
  for (const [shard, { head, replicas }] of b) {
    const other = a.get(shard);
    if (other?.head.generation !== head.generation) return false;
    if (JSON.stringify(other.replicas) !== JSON.stringify(replicas)) return false;
  }
  return true;
}
