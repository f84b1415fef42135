/**
 * Answers calls as a front. A front holds no files. It knows which repositories exist, and asks nodes
 * for everything else. While PostgreSQL cannot be reached, the front continues with its last state.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { JoinedSignal } from "../../base/joined-signal.ts";
import { compareText } from "../../base/compare.ts";
import { closedError, invalid, QuernError } from "../../base/errors.ts";
import { withoutEndSlashes } from "../../base/paths.ts";
import { newPause } from "../../base/yield.ts";
import type { CoreView, Location, ReadingCore, RevisionLocation } from "../../engine-core.ts";
import { Histories } from "../../history/histories.ts";
import type { History } from "../../history/history.ts";
import type { LocalCore } from "../../local-core.ts";
import { knownRepositories, lookUp, pageByName } from "../../repositories.ts";
import { describe, type FileContent, type FolderEntry, type Repository } from "../../repository.ts";
import { formatQuery } from "../../query/ast.ts";
import { mayBeHistory, parseHistoryQuery } from "../../query/parse.ts";
import { Searching, type Question, type SearchCall } from "../../search/caller/searching.ts";
import { explainWith, notIndexedOf, type ExplainedPlan } from "../../search/caller/explain.ts";
import { cursorsOf, repositoryGone, stateDigest, type Cursors } from "../../search/caller/pages.ts";
import { repositoryLimits } from "../../search/caller/repository-limits.ts";
import { isVisible } from "../../search/caller/scope.ts";
import type { Understood } from "../../search/caller/understand.ts";
import {
  checkRequest,
  type SearchOptions,
  type SearchRequest,
  type Viewer,
} from "../../search/messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "../../search/messages/response.ts";
import { addStats, zeroStats } from "../../search/messages/stats.ts";
import { repositoryNamed, type CatalogRepository } from "../../store/catalog/catalog.ts";
import { Tracer, type IndexSize } from "../../tracing.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Damage, DamagedObject } from "../catalog/damage.ts";
import type { Nodes } from "../catalog/nodes.ts";
import { Follower } from "../follow/follower.ts";
import { ObjectsDamaged } from "../local/damaged-objects.ts";
import type { Calls, Described } from "../wire/calls.ts";
import { unpackPaths } from "../wire/packed-paths.ts";
import {
  askReplicas,
  inTime,
  orFailed,
  timeLeft,
  type Due,
  type NodeAnswer,
  type PlacedSlice,
} from "./ask-replicas.ts";
import { FrontStates, type ChosenSlices, type FrontState } from "./front-state.ts";
import { nodeClient, type NodeClient } from "./node-client.ts";
import { mustNotBeOverloaded, searchNodes } from "./search-nodes.ts";
import { streamNodes } from "./stream-nodes.ts";

const POLL_MS = 1_000;
const RETRY_MS = 50;
/**
 * If no node has answered for a slice, a call waits at most this long for PostgreSQL to report which nodes have the
 * slice now.
 */
const LOOK_MS = 500;
/** If no node has the requested generation, a call waits at most this long for a newer state. */
const STALE_MS = 10_000;
/**
 * The maximum number of states that a call tries. It tries a newer state if nodes no longer have the requested
 * generation.
 */
const MOST_STATES = 5;
/** How long a writer waits for nodes to have its publication ready. */
const READY_MS = 60_000;

export interface FrontParts {
  readonly catalog: Catalog;
  readonly nodes: Nodes;
  readonly damage: Damage;
  readonly secret: string;
  /** The core of an engine on this machine. Its threads parse long queries and match names. */
  readonly core: LocalCore;
  /** Whether the directory of `core` belongs to a node on this machine. */
  readonly holdsSlices: boolean;
  readonly onWarning: (warning: { code: string; message: string }) => void;
}

export class Front {
  readonly #front: FrontParts;
  readonly #client: NodeClient;
  readonly #states: FrontStates;
  readonly #searching: Searching;
  readonly #histories: Histories;
  readonly #tracer: Tracer;
  readonly #closing = new AbortController();
  #urls: readonly string[] = [];
  /** Repeatedly brings the front's state up to date. */
  readonly follower: Follower<FrontState>;

  private constructor(front: FrontParts) {
    this.#front = front;
    this.#client = nodeClient(front.secret, (message) =>
      front.onWarning({ code: "INTERNAL", message }),
    );
    this.#tracer = new Tracer(front.core.path);
    this.#states = new FrontStates(front.catalog);
    const onTrouble = (error: unknown): void => {
      const message = `this front cannot follow the publications of the cluster: ${String(error)}`;
      front.onWarning({ code: "INTERNAL", message });
    };
    this.follower = new Follower({ run: () => this.#bring(), everyMs: POLL_MS, onTrouble });
    const { searching, reader } = front.core.parts;
    this.#searching = new Searching({
      ...searching,
      indexing: () => NONE,
      skipped: async (id) => (await this.#describeOne(id)).skipped,
    });
    this.#histories = new Histories({ present: (record, file) => reader.present(record, file) });
  }

  static async open(parts: FrontParts): Promise<Front> {
    const front = new Front(parts);
    await front.follower.run();
    front.follower.start();
    return front;
  }

  get #state(): FrontState {
    if (this.#closing.signal.aborted) throw closedError();
    return this.#states.newest!;
  }

  /** The core of the engine that asks the nodes. */
  get core(): ReadingCore {
    return {
      generation: () => this.#states.newest!.catalog.manifest.generation,
      view: (options) => this.#view(options),
      repositories: {
        ...knownRepositories(
          () => Promise.resolve(this.#state.catalog),
          () => NONE,
        ),
        describe: (nameOrId, viewer) => this.#repository(nameOrId, viewer),
        describeAll: ({ viewer, query = "", after, limit = Infinity }) =>
          this.#repositories({ viewer, query, after, limit }),
      },
      history: (name, viewer) => this.#history(name, viewer),
      check: (options) => {
        if (this.#front.holdsSlices) return this.#front.core.check(options);
        throw invalid("check: a front has no index of its own: call check() on each node");
      },
      trim: () => this.#front.core.trim(),
      observed: {
        add: (observer) => this.#tracer.add(observer),
        size: () => Promise.resolve(sizeOf(this.#state.catalog.manifest)),
      },
    };
  }

  #view(options: SearchOptions): CoreView {
    if (options.overlay !== undefined) throw noOverlay();
    const { viewer } = options;
    const search = async (request: SearchRequest) => {
      mustBeOrdinary(request);
      return this.#search(request, options);
    };
    return this.#tracer.view({
      search,
      begin: search,
      stream: (request) => {
        mustBeOrdinary(request);
        return this.#stream(request, options);
      },
      explain: async (request) => {
        mustBeOrdinary(request);
        return this.#explain(request, options);
      },
      notIndexed: (request) => notIndexedOf(this.#searching, this.#call(request, options)),
      find: () => Promise.reject(notSupported("find")),
      navigate: () => Promise.reject(notSupported("navigation")),
      // eslint-disable-next-line require-yield
      streamUses: async function* () {
        throw notSupported("navigation");
      },
      read: (file) => this.#read(file, viewer),
      list: (folder) => this.#list(folder, viewer),
      paths: (revision) => this.#paths(revision, viewer),
    });
  }

  /** Returns, for each shard, the generation that searches ask for. */
  generations(): Map<number, number> {
    return new Map(
      Array.from(this.#states.newest!.shards, ([shard, { head }]) => [shard, head.generation]),
    );
  }

  async #bring(): Promise<FrontState> {
    const members = await this.#front.nodes.all();
    this.#urls = members.nodes.filter(({ isLive }) => isLive).map(({ url }) => url);
    return this.#states.bring(members);
  }

  /**
   * Resolves when searches on this front see everything that was published before the call. Does not wait for slices
   * that no live node has.
   */
  async refresh(signal?: AbortSignal): Promise<void> {
    const published = await this.#front.catalog.generations();
    const isThere = (): boolean => {
      const here = this.generations();
      return [...published].every(([shard, generation]) => (here.get(shard) ?? 0) >= generation);
    };
    // the wait is limited, because a node that has just joined may need an hour to fetch its slices
    using ends = new JoinedSignal([this.#closing.signal, signal], READY_MS);
    for (;;) {
      await this.follower.run();
      if (isThere() && this.#isComplete()) return;
      await Promise.allSettled(
        this.#urls.map((url) => this.#client.ask(url, "/v1/refresh", { slices: [] }, ends.signal)),
      );
      await this.follower.run();
      if (isThere() && (this.#isComplete() || this.#urls.length === 0)) return;
      const damaged = await this.#front.damage.all();
      if (isThere() && this.#isComplete(damaged)) return;
      const here = this.generations();
      const behind = damaged.filter(({ shard }) => (here.get(shard) ?? 0) < published.get(shard)!);
      if (behind.length > 0) throw new ObjectsDamaged(behind);
      if (this.#closing.signal.aborted || signal?.aborted === true) return;
      if (ends.isLate) return this.#warnNotReady();
      await sleep(RETRY_MS);
    }
  }

  /** Whether nodes have all slices ready, except those with damaged objects. */
  #isComplete(damaged: readonly DamagedObject[] = []): boolean {
    const shards = [...this.#states.newest!.shards];
    return shards.every(([number, { replicas }]) =>
      replicas.every(
        (urls, slice) =>
          urls?.length !== 0 || isIn(damaged, { shard: number, slice, of: replicas.length }),
      ),
    );
  }

  #warnNotReady(): void {
    const message = `the published state is not ready on the nodes after ${READY_MS / 1000} s; searches see it when it is`;
    this.#front.onWarning({ code: "INTERNAL", message });
  }

  // ── searches ──

  async #search(request: SearchRequest, options: SearchOptions): Promise<SearchResponse> {
    const call = this.#call(request, options);
    const { understood, startedAt } = await this.#searching.understand(call);
    const { after: _, ...rest } = request;
    for (let left = MOST_STATES; ; left--) {
      const state = this.#state;
      const answer = await searchNodes(this.#client, {
        ...withContexts(understood),
        request: rest,
        ...(await this.#slicesWithin(state, understood, options)),
        cursors: await cursorsIn(state, understood.request, options.viewer),
        signal: options.signal,
        maxBytes: options.maxBytes,
        ...timeLeft({ startedAt, timeoutMs: options.timeoutMs }),
      });
      if (answer === "stale") await this.#newerThan(state, { ...options, startedAt, left });
      else if (answer.stats.crashes === 0) return answer;
      else if (!(await this.#isElsewhere(state, { ...options, startedAt, left }))) return answer;
    }
  }

  /**
   * Resolves to true if the slices without an answer may have moved to other nodes, and there is time to ask again.
   */
  async #isElsewhere(
    state: FrontState,
    { left, ...due }: Due & { readonly left: number },
  ): Promise<boolean> {
    if (left <= 1 || (timeLeft(due).timeoutMs ?? Infinity) < 2 * LOOK_MS) return false;
    if (this.#state === state) await this.#lookAgain(LOOK_MS);
    return this.#state !== state;
  }

  /** Resolves to the slices, with the replicas that PostgreSQL lists now. */
  async #placedNow(slices: readonly PlacedSlice[], due: Due): Promise<readonly PlacedSlice[]> {
    await this.#lookAgain(Math.min(timeLeft(due).timeoutMs ?? Infinity, LOOK_MS));
    return this.#state.placedNow(slices);
  }

  /** Brings the state up to date. Waits at most `ms`, because PostgreSQL may be down or hang. */
  async #lookAgain(ms: number): Promise<void> {
    const brought = this.follower.run().catch(() => undefined);
    await Promise.race([brought, sleep(ms, undefined, { ref: false })]);
  }

  async #slicesWithin(
    state: FrontState,
    understood: Understood,
    { viewer, signal }: SearchOptions,
  ): Promise<ChosenSlices> {
    const limits = await repositoryLimits({
      catalog: state.catalog,
      understood,
      matching: (...names) => this.#searching.names.matching(...names),
      pause: newPause(signal && { signal }),
    });
    const { allRevisions } = understood;
    return state.slicesWithin({ viewer, limits, allRevisions });
  }

  /** Resolves when there may be a newer state. Throws OVERLOADED after too many attempts. */
  async #newerThan(
    state: FrontState,
    { left, ...due }: Due & { readonly left: number },
  ): Promise<void> {
    if (left <= 1) throw unavailable("the nodes no longer have the state that this front uses");
    await this.#lookAgain(Math.min(timeLeft(due).timeoutMs ?? Infinity, STALE_MS));
    if (this.#state === state) await sleep(RETRY_MS); // a node that has just restarted will soon report its slices
  }

  async *#stream(request: SearchRequest, options: SearchOptions): AsyncGenerator<SearchEvent> {
    const call = this.#call(request, options);
    const { understood, startedAt } = await this.#searching.understand(call);
    if (understood.request.after !== undefined)
      throw invalid("after: a stream has no pages, because it returns every match; use search()");
    if (understood.request.facets !== undefined)
      throw invalid("facets: a stream does not count facets; use search()");
    for (let left = MOST_STATES; ; left--) {
      const state = this.#state;
      const { signal, timeoutMs, maxBytes } = options;
      const events = streamNodes(this.#client, {
        ...withContexts(understood),
        request,
        ...(await this.#slicesWithin(state, understood, options)),
        isElsewhere: () => this.#isElsewhere(state, { startedAt, timeoutMs, left }),
        placedNow: (slices) => this.#placedNow(slices, { startedAt, timeoutMs }),
        signal,
        maxBytes,
        ...timeLeft({ startedAt, timeoutMs }),
      });
      let isStale = false;
      for await (const event of events) {
        if (event === "stale") isStale = true;
        else yield event;
      }
      if (!isStale) return;
      await this.#newerThan(state, { startedAt, timeoutMs, left });
    }
  }

  async #explain(request: SearchRequest, options: SearchOptions): Promise<Explanation> {
    const question = await this.#searching.understand(this.#call(request, options));
    return explainWith(this.#searching, question, {
      plan: () => this.#explainPlan(request, question),
      count: async (changed, limited) =>
        (await this.#search(changed, limited)).stats.totalMatchCount,
    });
  }

  async #explainPlan(
    request: SearchRequest,
    { understood, options, startedAt }: Question,
  ): Promise<ExplainedPlan> {
    const { timeoutMs, signal } = options;
    const due = { startedAt, timeoutMs, signal };
    const { after: _, ...rest } = request;
    const found = await this.#askAll(
      "/v1/explain",
      (state) => state.slicesFor(options.viewer),
      (slices) => ({ slices, request: rest, ...withContexts(understood), ...timeLeft(due) }),
      due,
      (_, ask) => inTime(due, ask),
    );
    const stats = zeroStats();
    for (const { answer } of found.answers) {
      addStats(stats, answer.stats);
      stats.wait = Math.max(stats.wait, answer.stats.wait);
      if (answer.stats.flushReason === "FLUSH_REASON_TIMER_EXPIRED")
        stats.flushReason = answer.stats.flushReason;
    }
    addStats(stats, { crashes: found.lost, shardsSkipped: found.late });
    if (found.late > 0) stats.flushReason = "FLUSH_REASON_TIMER_EXPIRED";
    stats.duration = Math.round((performance.now() - startedAt) * 1e6);
    return {
      query: formatQuery(understood.query),
      segments: found.answers.flatMap(({ answer }) => answer.segments),
      stats,
    };
  }

  #call(request: SearchRequest, options: SearchOptions): SearchCall {
    return { request, options, view: () => Promise.resolve(this.#state.view) };
  }

  // ── repositories ──

  async #repository(
    nameOrId: string | number,
    viewer: Viewer | undefined,
  ): Promise<Repository | undefined> {
    const found = lookUp(this.#state.catalog, nameOrId, viewer);
    return found && (await this.#describe([found]))[0];
  }

  async #repositories(page: Parameters<typeof pageByName>[1]): Promise<Repository[]> {
    return this.#describe(await pageByName(this.#state.catalog, page));
  }

  async #describe(found: readonly CatalogRepository[]): Promise<Repository[]> {
    const ids = found.map(({ record }) => record.id);
    const described = await this.#described(ids);
    return found.map((one) => ({ ...describe(one, false), ...described(one.record.id) }));
  }

  async #describeOne(id: number): Promise<Described> {
    return (await this.#described([id]))(id);
  }

  /**
   * Resolves to a function that combines, for one repository, the facts that nodes have reported for their slices.
   * Slices whose objects are damaged add nothing, so that repositories can be listed and indexed again.
   */
  async #described(ids: readonly number[]): Promise<(id: number) => Described> {
    const damaged = this.#isComplete() ? [] : await this.#front.damage.all();
    const slicesOf = (state: FrontState): PlacedSlice[] => {
      const slices = new Map<string, PlacedSlice>();
      for (const id of ids) {
        const one = state.catalog.repositories.get(id);
        for (const placed of one ? state.slicesOf(one) : []) {
          const [shard, , slice] = placed.slice;
          const of = state.shards.get(shard)!.replicas.length;
          const isLost = placed.replicas.length === 0 && isIn(damaged, { shard, slice, of });
          if (!isLost) slices.set(placed.slice.join(), placed);
        }
      }
      return [...slices.values()];
    };
    const { answers } = await this.#askWhole("/v1/describe", slicesOf, (slices) => ({
      slices,
      repositories: ids,
    }));
    return (id) => {
      const parts = answers.flatMap(({ answer }) => answer.get(id) ?? []);
      return {
        symbols: {
          done: parts.reduce((sum, { symbols }) => sum + symbols.done, 0),
          total: parts.reduce((sum, { symbols }) => sum + symbols.total, 0),
        },
        skipped: parts[0]?.skipped ?? [],
      };
    };
  }

  async #read(file: Location, viewer: Viewer | undefined): Promise<FileContent | undefined> {
    const { answers } = await this.#askAt("/v1/read", file, viewer);
    return answers.find(({ answer }) => answer.file)?.answer.file;
  }

  async #list(folder: Location, viewer: Viewer | undefined): Promise<FolderEntry[] | undefined> {
    if (!this.#find(folder, viewer)) return undefined;
    const { answers } = await this.#askAt("/v1/list", folder, viewer);
    const entries = answers.flatMap(({ answer }) => answer.entries ?? []);
    const isFolder = new Set(entries.flatMap(({ type, name }) => (type === "folder" ? name : [])));
    const children = new Map(
      entries
        .filter(({ type, name }) => type === "folder" || !isFolder.has(name))
        .map((one) => [one.name, one]),
    );
    if (children.size === 0 && withoutEndSlashes(folder.path) !== "") return undefined;
    const order = (one: FolderEntry): number => (one.type === "folder" ? 0 : 1);
    return [...children.values()].sort(
      (a, b) => order(a) - order(b) || compareText(a.name, b.name),
    );
  }

  async #paths(
    revision: RevisionLocation,
    viewer: Viewer | undefined,
  ): Promise<string[] | undefined> {
    if (!this.#find(revision, viewer)) return undefined;
    const { answers } = await this.#askAt("/v1/paths", { ...revision, path: "" }, viewer);
    const paths: string[] = [];
    const pause = newPause();
    for (const { answer } of answers)
      if (answer.paths) await unpackPaths(answer.paths, paths, pause);
    return paths;
  }

  /** Returns the repository, or undefined if the viewer may not see it, or if it does not have the revision. */
  #find(
    { repository, revision }: RevisionLocation,
    viewer: Viewer | undefined,
  ): CatalogRepository | undefined {
    const found = lookUp(this.#state.catalog, repository, viewer);
    const has = (one: CatalogRepository): boolean =>
      revision === undefined ||
      one.record.revisions.some(({ name, commit }) => name === revision || commit === revision);
    return found && has(found) ? found : undefined;
  }

  #askAt<Path extends "/v1/read" | "/v1/list" | "/v1/paths">(
    path: Path,
    location: Location,
    viewer: Viewer | undefined,
  ) {
    const slicesOf = (state: FrontState): PlacedSlice[] => {
      const found = this.#find(location, viewer);
      return found && state.catalog.repositories.get(found.record.id) ? state.slicesOf(found) : [];
    };
    return this.#askWhole(path, slicesOf, (slices) => ({ ...location, slices }));
  }

  /**
   * Opens the history of a repository if its clone is on a disk of this machine. That is so if the repository was
   * indexed on this machine, or if machines share the disk. Otherwise, rejects with HISTORY_NOT_AVAILABLE.
   */
  async #history(name: string, viewer: Viewer | undefined): Promise<History | undefined> {
    const found = lookUp(this.#state.catalog, name, viewer);
    return found && this.#histories.open(found.record);
  }

  // ── nodes ──

  /**
   * Asks nodes about slices of the front's state. If nodes no longer have these slices, asks about slices of a newer
   * state.
   */
  async #askAll<Path extends keyof Calls>(
    path: Path,
    slicesOf: (state: FrontState) => readonly PlacedSlice[],
    callOf: (slices: Calls[Path]["asked"]["slices"]) => Calls[Path]["asked"],
    due: Due,
    within: <T>(url: string, ask: (signal?: AbortSignal) => Promise<T>) => Promise<T | "late">,
  ) {
    for (let left = MOST_STATES; ; left--) {
      const state = this.#state;
      const found = await askReplicas(slicesOf(state), new Set(), (url, slices) =>
        within(url, (signal) => this.#client.ask(url, path, callOf(slices), signal)),
      );
      mustNotBeOverloaded(found);
      if (found.isStale) await this.#newerThan(state, { ...due, left });
      else if (found.lost === 0 || !(await this.#isElsewhere(state, { ...due, left })))
        return found;
    }
  }

  /**
   * Asks nodes about slices. A node that does not answer within READ_MS counts as failed. Rejects if no node answers
   * for one of the slices, because this slice might have results.
   */
  async #askWhole<Path extends keyof Calls>(
    path: Path,
    slicesOf: (state: FrontState) => readonly PlacedSlice[],
    callOf: (slices: Calls[Path]["asked"]["slices"]) => Calls[Path]["asked"],
  ): Promise<{ readonly answers: readonly NodeAnswer<Calls[Path]["answer"]>[] }> {
    const due = { startedAt: performance.now() };
    const found = await this.#askAll(path, slicesOf, callOf, due, orFailed);
    if (found.lost > 0) throw unavailable("no node that has it responds");
    return found;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.follower.close();
    await this.#histories.close();
    this.#client.close();
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Whether a slice needs one of these objects. `of` is the number of slices of its shard. */
const isIn = (
  damaged: readonly DamagedObject[],
  { shard, slice, of }: { readonly shard: number; readonly slice: number; readonly of: number },
): boolean => damaged.some((one) => one.shard === shard && (one.segment ?? slice) % of === slice);

function sizeOf({ repositories, segments }: FrontState["catalog"]["manifest"]): IndexSize {
  const sum = (of: "files" | "textBytes") => segments.reduce((all, one) => all + one[of], 0);
  return {
    repositories: repositories.length,
    segments: segments.length,
    files: sum("files"),
    textBytes: sum("textBytes"),
  };
}
const unavailable = (what: string): QuernError =>
  new QuernError("OVERLOADED", `${what}: try again in a moment`);

const noOverlay = (): QuernError =>
  invalid(
    "overlay: a front over nodes does not support overlays; ask an engine that has the whole index",
  );

const notSupported = (what: string): QuernError =>
  invalid(
    `${what}: a front over nodes does not support ${what}; ask an engine that has the whole index, or use search`,
  );

/** Rejects queries of the history, because the objects of a cluster have none. */
function mustBeOrdinary(request: SearchRequest): void {
  if (!mayBeHistory(request.query)) return;
  const {
    query,
    isRegexEnabled: regex,
    isCaseSensitivityEnabled: caseSensitive,
  } = checkRequest(request);
  if (parseHistoryQuery(query, { regex, caseSensitive }))
    throw invalid(
      "type: a front over nodes does not support searches in the history; ask an engine that has the whole index",
    );
}

const withContexts = ({ contexts }: Understood) => (contexts.size > 0 ? { contexts } : {});

async function cursorsIn(
  { catalog }: FrontState,
  request: Understood["request"],
  viewer: Viewer | undefined,
): Promise<Cursors | undefined> {
  const { after } = request;
  if (after === undefined) return undefined;
  const digest = await stateDigest(catalog, viewer, newPause());
  const cursors = cursorsOf({ ...request, after }, digest);
  const ended = cursors.after && repositoryNamed(catalog, cursors.after.repository);
  if (cursors.after && !(ended && isVisible(ended, viewer))) throw repositoryGone();
  return cursors;
}
