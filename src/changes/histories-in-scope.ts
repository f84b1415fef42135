/**
 * Decides which commits of which history segments are in scope: those that a searched revision of a repository reaches
 * that the viewer may see. Caches the graphs of recent repositories, and the commits that their revisions reach.
 */

import { emptyBitset, fullBitset, unite, type Bitset } from "../base/bitset.ts";
import { LruCache } from "../base/lru-cache.ts";
import type { Pause } from "../base/yield.ts";
import { namesOf, truthOf, visibleRepositories } from "../search/caller/scope.ts";
import type { MatchTexts } from "../search/caller/name-matcher.ts";
import type { HostAtom } from "../search/meaning/plan-query.ts";
import type { Viewer } from "../search/messages/request.ts";
import type { Catalog, CatalogRepository } from "../store/catalog/catalog.ts";
import type { HistorySegment } from "../store/catalog/manifest.ts";
import { CommitGraph } from "../store/history/commit-graph.ts";
import { readCommits } from "../store/history/commit-table.ts";
import { readHistoryHeader } from "../store/history/tables.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import type { SegmentScope } from "./messages.ts";

export interface HistoryScope {
  readonly repository: CatalogRepository;
  readonly graph: CommitGraph;
  /** The segments, newest first. */
  readonly segments: readonly SegmentScope[];
  /** Whether all commits of the searched revisions are indexed. False while a run still reads them. */
  readonly isComplete: boolean;
}

export interface ScopeOptions {
  readonly catalog: Catalog;
  readonly viewer: Viewer | undefined;
  readonly hostAtoms: readonly HostAtom[];
  readonly contexts: ReadonlyMap<string, ReadonlySet<string>>;
  readonly matching: MatchTexts;
  readonly snapshot: Snapshot;
  readonly pause: Pause;
}

/** The commits of one repository, and those that some of its revisions reach. */
class Histories {
  readonly graph: CommitGraph;
  readonly #reached = new LruCache<string, Bitset>({ most: 64 });

  constructor(graph: CommitGraph) {
    this.graph = graph;
  }

  get bytes(): number {
    return this.graph.bytes + 8 * this.graph.count;
  }

  reach(commits: readonly string[]): Bitset {
    const key = commits.join();
    return this.#reached.getOrMake(key, () => this.graph.reach(commits));
  }
}

/** The maximum memory of the graphs. The graph of a million commits takes 40 MB. */
const GRAPH_BYTES = 128 * 2 ** 20;
const graphs = new LruCache<string, Histories>({ most: GRAPH_BYTES, costOf: ({ bytes }) => bytes });

/**
 * Resolves to the histories in scope. A repository without an indexed history is left out. Resolves to undefined if a
 * segment has been merged away.
 */
export async function historiesInScope(
  path: string,
  options: ScopeOptions,
): Promise<HistoryScope[] | undefined> {
  const { catalog, viewer, hostAtoms, pause } = options;
  const bySegments = new Map<number, HistorySegment[]>();
  for (const one of catalog.manifest.history) {
    const own = bySegments.get(one.repository);
    if (own) own.push(one);
    else bySegments.set(one.repository, [one]);
  }
  const visible: CatalogRepository[] = [];
  for (const one of visibleRepositories(catalog, viewer)) {
    if (one.record.history) visible.push(one);
    await pause();
  }
  const names = visible.map(({ record }) => record.name);
  const selected: ReadonlySet<string>[] = [];
  for (const atom of hostAtoms) selected.push(await namesOf(atom, names, options));
  const scopes: HistoryScope[] = [];
  for (const repository of visible) {
    const segments = bySegments.get(repository.record.id) ?? [];
    const key = `${path} ${segments.map(({ segment }) => segment).join()}`;
    const histories = graphs.get(key) ?? openGraph(segments, options.snapshot);
    if (!histories) return undefined;
    graphs.set(key, histories);
    scopes.push(scopeOf(repository, { segments, histories, hostAtoms, selected }));
    await pause();
  }
  return scopes;
}

function openGraph(segments: readonly HistorySegment[], snapshot: Snapshot): Histories | undefined {
  const tables = segments.flatMap(({ segment }) => {
    const header = readHistoryHeader(snapshot, segment);
    return header ? [{ segment, table: readCommits(snapshot, segment, header) }] : [];
  });
  return tables.length === segments.length ? new Histories(new CommitGraph(tables)) : undefined;
}

function scopeOf(
  repository: CatalogRepository,
  {
    segments,
    histories,
    hostAtoms,
    selected,
  }: {
    readonly segments: readonly HistorySegment[];
    readonly histories: Histories;
    readonly hostAtoms: readonly HostAtom[];
    readonly selected: readonly ReadonlySet<string>[];
  },
): HistoryScope {
  const { revisions, history } = repository.record;
  const { graph } = histories;
  const isRead = ({ commit }: { readonly commit?: string }): boolean =>
    commit === undefined || history!.tips.includes(commit);
  const isAllRevisions = hostAtoms.some(({ kind }) => kind === "revision");
  const reach = (places: readonly number[]): Bitset =>
    histories.reach(places.flatMap((place) => revisions[place]!.commit ?? []));
  const all = isAllRevisions ? [...revisions.keys()] : [0];
  const inScope = reach(all);
  const hosts = hostAtoms.map((atom, i) => {
    const truth = truthOf(atom, repository, { names: selected[i]! });
    if (atom.kind !== "revision")
      return truth[0] ? fullBitset(graph.count) : emptyBitset(graph.count);
    return all
      .filter((place) => truth[place])
      .map((place) => reach([place]))
      .reduce((a, b) => unite(a.slice(), b), emptyBitset(graph.count));
  });
  return {
    repository,
    graph,
    isComplete: all.every((place) => isRead(revisions[place]!)),
    segments: segments.map(({ segment }) => ({
      segment,
      commits: graph.partOf(inScope, segment),
      hosts: hosts.map((set) => graph.partOf(set, segment)),
    })),
  };
}
