/**
 * Answers calls as a front (answering.ts). A front holds no files. It knows which repositories exist, and asks nodes
 * for everything else. While PostgreSQL cannot be reached, the front continues with its last state.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { compareText } from "../../base/compare.ts";
import { closedError, QuernError } from "../../base/errors.ts";
import { checkKeys } from "../../base/known-keys.ts";
import { withoutEndSlashes } from "../../base/paths.ts";
import { newPause } from "../../base/yield.ts";
import {
  PARTS,
  type Engine,
  type HasParts,
  type ReadOptions,
  type RepositoriesOptions,
} from "../../engine.ts";
import { Histories, OPEN_HISTORY } from "../../history/histories.ts";
import type { History } from "../../history/history.ts";
import {
  checkPage,
  knownRepositories,
  lookUp,
  pageByName,
  KNOWN_REPOSITORIES,
  type KnowsRepositories,
} from "../../repositories.ts";
import type { Answering } from "./answering.ts";
import {
  ALL_PATHS,
  describe,
  type FileContent,
  type FolderEntry,
  type Repository,
} from "../../repository.ts";
import { formatQuery } from "../../query/ast.ts";
import { Attempts, type Asked } from "../../search/caller/attempts.ts";
import { explainWith, notIndexedOf, type ExplainedPlan } from "../../search/caller/explain.ts";
import { cursorsOf, repositoryGone, stateDigest, type Cursors } from "../../search/caller/pages.ts";
import { NOT_INDEXED } from "../../search/caller/not-indexed.ts";
import { repositoryLimits } from "../../search/caller/repository-limits.ts";
import { isVisible } from "../../search/caller/scope.ts";
import type { Understood } from "../../search/caller/understand.ts";
import {
  checkSearchOptions,
  checkViewer,
  type SearchOptions,
  type SearchRequest,
  type Viewer,
} from "../../search/messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "../../search/messages/response.ts";
import { addStats, zeroStats } from "../../search/messages/stats.ts";
import { repositoryNamed, type CatalogRepository } from "../../store/catalog/catalog.ts";
import { OBSERVE, Tracer, type IndexSize, type Observable } from "../../tracing.ts";
import type { CheckReport } from "../../store/upkeep/check.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Nodes } from "../catalog/nodes.ts";
import { Follower } from "../follow/follower.ts";
import type { Calls, Described, PlaceCall } from "../wire/calls.ts";
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
  readonly secret: string;
  /** An engine on this machine. Its threads parse long queries and match names. */
  readonly engine: Engine;
  /** Whether the engine's directory belongs to a node on this machine. */
  readonly holdsSlices: boolean;
  readonly onWarning: (warning: { code: string; message: string }) => void;
}

type Place = Pick<PlaceCall, "repository" | "path" | "revision">;

export class Front implements Answering {
  readonly [KNOWN_REPOSITORIES]: KnowsRepositories[typeof KNOWN_REPOSITORIES];
  readonly #front: FrontParts;
  readonly #client: NodeClient;
  readonly #states: FrontStates;
  readonly #attempts: Attempts;
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
    this.#tracer = new Tracer(front.engine.path);
    this.#states = new FrontStates(front.catalog);
    const onTrouble = (error: unknown): void => {
      const message = `this front cannot follow what the cluster publishes: ${String(error)}`;
      front.onWarning({ code: "INTERNAL", message });
    };
    this.follower = new Follower({ run: () => this.#bring(), everyMs: POLL_MS, onTrouble });
    const { searching, reader } = (front.engine as Engine & HasParts)[PARTS];
    this.#attempts = new Attempts({
      ...searching,
      view: () => Promise.resolve(this.#state.view),
      indexing: () => NONE,
      skipped: async (id) => (await this.#describeOne(id)).skipped,
    });
    this.#histories = new Histories({ present: (record, file) => reader.present(record, file) });
    this[KNOWN_REPOSITORIES] = knownRepositories(
      () => Promise.resolve(this.#state.catalog),
      () => NONE,
    );
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

  get generation(): number {
    return this.#states.newest!.catalog.manifest.generation;
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
    const ends = AbortSignal.any([
      this.#closing.signal,
      AbortSignal.timeout(READY_MS),
      ...(signal ? [signal] : []),
    ]);
    for (;;) {
      await this.follower.run();
      if (isThere() && this.#isComplete()) return;
      await Promise.allSettled(
        this.#urls.map((url) => this.#client.ask(url, "/v1/refresh", { slices: [] }, ends)),
      );
      await this.follower.run();
      if (isThere() && (this.#isComplete() || this.#urls.length === 0)) return;
      if (this.#closing.signal.aborted || signal?.aborted === true) return;
      if (ends.aborted) return this.#warnNotReady();
      await sleep(RETRY_MS);
    }
  }

  #isComplete(): boolean {
    const shards = [...this.#states.newest!.shards.values()];
    return shards.every(({ replicas }) => replicas.every((urls) => urls?.length !== 0));
  }

  #warnNotReady(): void {
    const message = `what was published is not ready on the nodes after ${READY_MS / 1000} s; searches see it when it is`;
    this.#front.onWarning({ code: "INTERNAL", message });
  }

  get [OBSERVE](): Observable[typeof OBSERVE] {
    return {
      add: (observer) => this.#tracer.add(observer),
      size: () => Promise.resolve(sizeOf(this.#state.catalog.manifest)),
    };
  }

  // ── searches ──

  async search(request: SearchRequest, options: SearchOptions = {}): Promise<SearchResponse> {
    checkOptions("search", options);
    return this.#tracer.search(request, () => this.#search(request, options));
  }

  async #search(request: SearchRequest, options: SearchOptions): Promise<SearchResponse> {
    const startedAt = performance.now();
    const asked = this.#asked(request, options);
    const understood = await this.#attempts.understand(asked);
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
      matching: (...names) => this.#attempts.names.matching(...names),
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
    if (left <= 1) throw unavailable("nodes have left the state that this front knows");
    await this.#lookAgain(Math.min(timeLeft(due).timeoutMs ?? Infinity, STALE_MS));
    if (this.#state === state) await sleep(RETRY_MS); // a node that has just restarted will soon report its slices
  }

  stream(request: SearchRequest, options: SearchOptions = {}): AsyncIterable<SearchEvent> {
    checkOptions("stream", options);
    return this.#tracer.stream(request, this.#stream(request, options));
  }

  async *#stream(request: SearchRequest, options: SearchOptions): AsyncGenerator<SearchEvent> {
    const startedAt = performance.now();
    const understood = await this.#attempts.understand(this.#asked(request, options));
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

  async explain(request: SearchRequest, options: SearchOptions = {}): Promise<Explanation> {
    checkOptions("explain", options);
    const explaining = {
      plan: () => this.#explainPlan(request, options),
      count: async (changed: SearchRequest) =>
        (await this.#search(changed, options)).stats.totalMatchCount,
    };
    return this.#tracer.explain(request, () =>
      explainWith(this.#attempts, this.#asked(request, options), explaining),
    );
  }

  async #explainPlan(request: SearchRequest, options: SearchOptions): Promise<ExplainedPlan> {
    const startedAt = performance.now();
    const understood = await this.#attempts.understand(this.#asked(request, options));
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

  async [NOT_INDEXED](
    request: SearchRequest,
    options: SearchOptions,
  ): Promise<Explanation["notIndexed"]> {
    return notIndexedOf(this.#attempts, this.#asked(request, options));
  }

  #asked(request: SearchRequest, options: SearchOptions): Asked {
    return { request, options, view: () => Promise.resolve(this.#state.view) };
  }

  // ── repositories ──

  async repository(
    nameOrId: string | number,
    options: { viewer?: Viewer } = {},
  ): Promise<Repository | undefined> {
    const viewer = viewerOf("repository", options);
    if (typeof nameOrId !== "string" && typeof nameOrId !== "number")
      throw invalid(`repository must be a name or an id, got ${typeof nameOrId}`);
    const found = lookUp(this.#state.catalog, nameOrId, viewer);
    return found && (await this.#describe([found]))[0];
  }

  async repositories(options: RepositoriesOptions = {}): Promise<Repository[]> {
    checkKeys({ call: "repositories", what: "option" }, options, LISTED);
    checkViewer("repositories", options.viewer);
    checkPage(options);
    const { viewer, query = "", after, limit = Infinity } = options;
    const { catalog } = this.#state;
    return this.#describe(await pageByName(catalog, { viewer, query, after, limit }));
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
   */
  async #described(ids: readonly number[]): Promise<(id: number) => Described> {
    const slicesOf = (state: FrontState): PlacedSlice[] => {
      const slices = new Map<string, PlacedSlice>();
      for (const id of ids) {
        const one = state.catalog.repositories.get(id);
        for (const placed of one ? state.slicesOf(one) : [])
          slices.set(placed.slice.join(), placed);
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

  async read(file: Place, options: ReadOptions = {}): Promise<FileContent | undefined> {
    checkReading("read", file, options);
    const { answers } = await this.#askPlace("/v1/read", file, options);
    return answers.find(({ answer }) => answer.file)?.answer.file;
  }

  async list(folder: Place, options: ReadOptions = {}): Promise<FolderEntry[] | undefined> {
    checkReading("list", folder, options);
    const found = this.#find(folder, options);
    if (!found) return undefined;
    const { answers } = await this.#askPlace("/v1/list", folder, options);
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

  async [ALL_PATHS](
    of: Omit<Place, "path">,
    options: { viewer?: Viewer },
  ): Promise<string[] | undefined> {
    const place = { ...of, path: "" };
    if (!this.#find(place, options)) return undefined;
    const { answers } = await this.#askPlace("/v1/paths", place, options);
    const paths: string[] = [];
    const pause = newPause();
    for (const { answer } of answers)
      if (answer.paths) await unpackPaths(answer.paths, paths, pause);
    return paths;
  }

  /** Returns the repository, or undefined if the viewer may not see it, or if it does not have the revision. */
  #find(
    { repository, path, revision }: Place,
    options: ReadOptions,
  ): CatalogRepository | undefined {
    if (typeof repository !== "string" || typeof path !== "string")
      throw invalid("repository and path must be strings");
    const found = lookUp(this.#state.catalog, repository, options.viewer);
    const has = (one: CatalogRepository): boolean =>
      revision === undefined ||
      one.record.revisions.some(({ name, commit }) => name === revision || commit === revision);
    return found && has(found) ? found : undefined;
  }

  #askPlace<Path extends "/v1/read" | "/v1/list" | "/v1/paths">(
    path: Path,
    place: Place,
    options: ReadOptions,
  ) {
    const slicesOf = (state: FrontState): PlacedSlice[] => {
      const found = this.#find(place, options);
      return found && state.catalog.repositories.get(found.record.id) ? state.slicesOf(found) : [];
    };
    return this.#askWhole(path, slicesOf, (slices) => ({ ...place, slices }));
  }

  /**
   * Resolves to the history of a repository if its clone is on a disk of this machine. That is so if the repository
   * was indexed on this machine, or if machines share the disk. Otherwise, resolves to undefined.
   */
  async history(name: string, options: { viewer?: Viewer } = {}): Promise<History | undefined> {
    const record = this.#record(name, viewerOf("history", options));
    return record && this.#histories.find(record);
  }

  async [OPEN_HISTORY](name: string, options: { viewer?: Viewer }): Promise<History | undefined> {
    const record = this.#record(name, viewerOf("history", options));
    return record && this.#histories.open(record);
  }

  #record(name: string, viewer: Viewer | undefined): CatalogRepository["record"] | undefined {
    if (typeof name !== "string") throw invalid("history: the repository must be a string");
    return lookUp(this.#state.catalog, name, viewer)?.record;
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
    if (found.lost > 0) throw unavailable("no node that has it answers");
    return found;
  }

  trim(): void {
    this.#front.engine.trim();
  }

  async check(options: { signal?: AbortSignal } = {}): Promise<CheckReport> {
    checkKeys({ call: "check", what: "option" }, options, { signal: true });
    if (this.#front.holdsSlices) return this.#front.engine.check(options);
    throw invalid("check: a front has no index of its own: call check() on each node");
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.follower.close();
    await this.#histories.close();
    this.#client.close();
  }
}

const NONE: ReadonlySet<string> = new Set();

function sizeOf({ repositories, segments }: FrontState["catalog"]["manifest"]): IndexSize {
  const sum = (of: "files" | "textBytes") => segments.reduce((all, one) => all + one[of], 0);
  return {
    repositories: repositories.length,
    segments: segments.length,
    files: sum("files"),
    textBytes: sum("textBytes"),
  };
}

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);
const unavailable = (what: string): QuernError =>
  new QuernError("OVERLOADED", `${what}: try again in a moment`);

/** Rejects options that a front does not support. */
function checkOptions(call: string, options: SearchOptions): void {
  checkSearchOptions(call, options);
  if (options.overlay !== undefined) throw noOverlay(call);
}

const FILE = { repository: true, path: true, revision: true } as const;
const LISTED = { viewer: true, query: true, after: true, limit: true } as const;

function checkReading(call: string, place: Place, options: ReadOptions): void {
  checkKeys({ call, what: "field" }, place, FILE);
  checkKeys({ call, what: "option" }, options, { viewer: true, overlay: true });
  checkViewer(call, options.viewer);
  if (options.overlay !== undefined) throw noOverlay(call);
}

function viewerOf(call: string, options: { viewer?: Viewer }): Viewer | undefined {
  checkKeys({ call, what: "option" }, options, { viewer: true });
  checkViewer(call, options.viewer);
  return options.viewer;
}

const noOverlay = (call: string): QuernError =>
  invalid(
    `${call}: overlay: a front over nodes does not support overlays; ask an engine that has the whole index`,
  );

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
