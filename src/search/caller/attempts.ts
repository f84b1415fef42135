/**
 * Runs attempts to answer a query, with the steps that all kinds of searches have in common. Prevents the deletion of
 * the generation that an attempt reads, and sends tasks to the threads. If segments were merged away during the
 * attempt, starts another attempt on a newer catalog.
 */

import { emptyBitset } from "../../base/bitset.ts";
import { QuernError } from "../../base/errors.ts";
import { GcPacer } from "../../base/gc-pacer.ts";
import { newPause } from "../../base/yield.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import { textBytesOf } from "../../store/catalog/manifest.ts";
import type { View } from "../../store/catalog/view.ts";
import type { SkippedFile } from "../../store/format/records.ts";
import { corrupt } from "../../store/format/sealed.ts";
import type { KeptLists } from "../../store/segments/kept-lists.ts";
import type { Pool } from "../../threads/pool.ts";
import { Control } from "../messages/control.ts";
import {
  nothingFound,
  type SearchInput,
  type SearchOutput,
  type SegmentInput,
  type StreamPart,
} from "../messages/messages.ts";
import type { SearchOptions, SearchRequest } from "../messages/request.ts";
import { throwIfAborted } from "./aborted.ts";
import { stoppable, type Attempt } from "./attempt.ts";
import type { Lost } from "./late-files.ts";
import { NameMatcher } from "./name-matcher.ts";
import { MOST_PAGES, type Near } from "./near.ts";
import { NOT_PLANNED, planAhead, type PlannedAhead } from "./plan-ahead.ts";
import { presentFile, type WebUrl } from "./present.ts";
import { ownerFinder, repositoryTable } from "./repository-table.ts";
import { branchesOf, segmentsInScope } from "./scope.ts";
import type { Presenter } from "./show-files.ts";
import { isComplete, tally, type Tally } from "./tally.ts";
import { understand, type Contexts, type Understood } from "./understand.ts";

/** The maximum number of attempts of a search. */
const MOST_ATTEMPTS = 5;

/**
 * The maximum number of pages that one thread searches alone. With so few pages, a second thread would spend as long
 * on planning as on its half of the pages.
 */
const PAGES_OF_ONE = 128;

/** Resolves to the newest view. Called by each attempt. */
export type ViewSource = () => Promise<View>;

export interface SearcherOptions {
  readonly pool: Pool;
  /** Returns the newest view. */
  readonly view: ViewSource;
  readonly webUrl: WebUrl;
  readonly contexts: Contexts | undefined;
  readonly onWarning: (warning: { code: string; message: string }) => void;
  /** Returns the posting lists that threads share. Called before each search. */
  readonly lists?: () => KeptLists | undefined;
  /** Searches on the calling thread if little work is needed. If absent, only the threads of the pool search. */
  readonly near?: Near | undefined;
  /** Returns the names of the repositories that are being indexed for the first time. */
  readonly indexing: () => ReadonlySet<string>;
  /** Returns the files of a repository that are listed but not searchable. */
  readonly skipped: (repository: number) => Promise<readonly SkippedFile[]>;
}

/** A caller's request. */
export interface Asked {
  readonly request: SearchRequest;
  readonly options: SearchOptions;
  readonly view: ViewSource;
}

/** What the threads do in a search in addition to counting and ranking files. */
interface SearchWork {
  /** Called with the files of a stream as soon as they are found. */
  readonly onPart?: (part: StreamPart) => void;
  readonly page?: SearchInput["page"];
  /**
   * Whether the thread that finds a file also produces the lines to return, if only few files match. Otherwise, the
   * caller requests these lines in a second round.
   */
  readonly showsAhead?: boolean;
  /**
   * The number of files to return if more ranges match than `matches` allows. In this case, each file is returned
   * with only its best range.
   */
  readonly bestIfMany?: number | undefined;
}

export class Attempts {
  readonly options: SearcherOptions;
  readonly names: NameMatcher;
  /** The generations that running searches read, with the number of searches for each. */
  readonly #held = new Map<number, number>();

  constructor(options: SearcherOptions) {
    this.options = options;
    this.names = new NameMatcher(options.pool);
  }

  /** The oldest generation that a running search still reads. Infinity if no search is running. */
  get oldestHeld(): number {
    return Math.min(Infinity, ...this.#held.keys());
  }

  /** Prevents the deletion of a generation's segments until the returned function is called. */
  hold({ manifest: { generation } }: Catalog): () => void {
    this.#count(generation, 1);
    return () => this.#count(generation, -1);
  }

  #count(generation: number, change: 1 | -1): void {
    const count = (this.#held.get(generation) ?? 0) + change;
    if (count === 0) this.#held.delete(generation);
    else this.#held.set(generation, count);
  }

  /**
   * Runs an attempt on the newest catalog. If an attempt resolves to undefined because a segment has been merged
   * away, runs another attempt on a newer catalog.
   */
  async answer<T>(asked: Asked, run: (attempt: Attempt) => Promise<T | undefined>): Promise<T> {
    const startedAt = performance.now();
    const understood = await this.understand(asked);
    return this.answerUnderstood({ ...asked, understood, startedAt }, run);
  }

  understand({ request, options }: Asked): Promise<Understood> {
    return understand(request, options, this.options);
  }

  /** Does the same as answer(), but for a request that understand() has already checked and parsed. */
  async answerUnderstood<T>(
    asked: Omit<Asked, "request"> & Pick<Attempt, "understood" | "startedAt">,
    run: (attempt: Attempt) => Promise<T | undefined>,
  ): Promise<T> {
    const generations = new Set<number>();
    for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts++) {
      throwIfAborted(asked.options.signal);
      const view = await asked.view();
      generations.add(view.catalog.manifest.generation);
      const release = this.hold(view.catalog);
      try {
        const attempt = await this.attempt(asked, view);
        const answer = await stoppable(attempt, () => run(attempt));
        if (answer !== undefined) return answer;
      } finally {
        release();
      }
    }
    if (generations.size === 1) throw corrupt("a segment that the manifest names is missing");
    throw new QuernError(
      "INTERNAL",
      "segments were merged faster than they could be searched: try again",
    );
  }

  /**
   * Creates an attempt on a view, but does not run it. REQUIRES: hold() prevents the deletion of the view's
   * generation.
   */
  async attempt(
    asked: Pick<Attempt, "understood" | "options" | "startedAt">,
    view: View,
  ): Promise<Attempt> {
    const { understood, options, startedAt } = asked;
    const { catalog } = view;
    const segments = await segmentsInScope({
      catalog,
      viewer: options.viewer,
      hostAtoms: understood.hostAtoms,
      allRevisions: understood.allRevisions,
      contexts: understood.contexts,
      matching: (...names) => this.names.matching(...names),
      pause: newPause(options.signal && { signal: options.signal }),
    });
    const control = Control.create(segments.length, understood.request, options);
    return { understood, options, view, catalog, segments, control, startedAt };
  }

  /**
   * Searches the segments of an attempt. The calling thread may run a small search itself. Otherwise, the threads run
   * it.
   */
  async search(attempt: Attempt, work: SearchWork = {}): Promise<SearchOutput[]> {
    const { understood, catalog, view, segments, control } = attempt;
    const { onPart, page, showsAhead = false, bestIfMany } = work;
    const { pool } = this.options;
    const { contextLines, whole, enclosing, ...rest } = understood.request;
    const { matches, matchesPerFile = Infinity, facets } = rest;
    const shown = { contextLines, whole, enclosing };
    const onMessage = (message: unknown) => onPart?.(message as StreamPart);
    if (segments.length === 0) return [];
    const ahead = await this.#planAhead(attempt);
    const decided = ahead.parts.size > 0 ? [nothingFound([...ahead.parts.values()])] : [];
    const open = segments.length - ahead.parts.size;
    if (open === 0) return decided;
    const isSmall = ahead.pages <= PAGES_OF_ONE;
    const threads = isSmall ? 1 : Math.min(pool.lanes, open * 2);
    const input: SearchInput = {
      plan: understood.plan,
      segments: segments.map((one, i) => (ahead.parts.has(i) ? decidedInput(one) : one)),
      textBytes: textBytesOf(catalog.manifest),
      packed: view.packed,
      repositories: await repositoryTable(catalog, newPause()),
      matches,
      matchesPerFile,
      threads,
      shared: control.shared,
      ...(onPart ? { stream: shown } : {}),
      ...(page ? { page } : {}),
      ...(showsAhead ? { ahead: { ...shown, isBestFirst: matchesPerFile < Infinity } } : {}),
      ...(facets === undefined ? {} : { facets: true as const }),
      ...(bestIfMany === undefined ? {} : { bestIfMany }),
    };
    const near = this.#near(attempt, input, ahead);
    const found = await near?.search(input, catalog, ahead.found);
    if (found && found !== "too much") return [found, ...decided];
    if (near) control.restart();
    const learner = found === undefined ? near : undefined;
    const task = learner ? { ...input, isRecorded: true as const } : input;
    const run = () =>
      pool.run<SearchOutput>("search.segments", task, { lane: "search", onMessage });
    const outputs = await untilComplete(Array.from({ length: threads }, run), (some) =>
      isComplete([...some, ...decided], segments.length),
    );
    learner?.learn(input, outputs);
    return [...outputs, ...decided];
  }

  /** Returns the searcher of the calling thread, or undefined if the calling thread should not try this search. */
  #near(
    { catalog, control }: Attempt,
    input: SearchInput,
    { pages }: PlannedAhead,
  ): Near | undefined {
    const { near } = this.options;
    const isPlain = input.ahead && !input.facets && !input.stream && input.packed.length === 0;
    const mayTry = isPlain && !control.stopped && near?.mayTry(input, { catalog, pages });
    return mayTry ? near : undefined;
  }

  async #planAhead({ understood, segments, catalog, control }: Attempt): Promise<PlannedAhead> {
    const lists = this.options.lists?.();
    if (!lists || control.stopped) return NOT_PLANNED;
    const { plan } = understood;
    return planAhead({ plan, segments, catalog, lists, most: MOST_PAGES, pause: newPause() });
  }

  /** Adds up the threads' counters and warns of damage. Returns undefined if a segment has been merged away. */
  tally({ segments }: Attempt, outputs: readonly SearchOutput[]): Tally | undefined {
    const counted = tally(outputs, segments.length);
    if (counted.gone > 0) return undefined;
    this.warnOfDamage(counted);
    return counted;
  }

  warnOfDamage({ damages }: Tally): void {
    for (const message of damages) this.options.onWarning({ code: "INDEX_CORRUPT", message });
  }

  /**
   * Returns a function that converts a shown file to a result. Between two files, it yields to the event loop if
   * needed.
   */
  presenter({ understood, catalog }: Attempt): Presenter {
    const { allRevisions, revisionValues: values } = understood;
    const { webUrl } = this.options;
    const owner = ownerFinder(catalog);
    const [pause, pacer] = [newPause(), new GcPacer()];
    return async (segment, file, shown) => {
      await pause();
      const repository = owner(segment, file);
      const branches = branchesOf(repository, { segment, file }, { values, allRevisions });
      return presentFile(repository, shown, { branches, webUrl, pause, pacer });
    };
  }

  /** Warns about problems found while showing files: damaged texts, and matches that RE2 does not confirm. */
  warnOfShown(
    { lost, disagreements }: { readonly lost: Lost; readonly disagreements: readonly string[] },
    segments: readonly SegmentInput[],
  ): void {
    for (const message of disagreements) this.options.onWarning({ code: "INTERNAL", message });
    for (const [position, why] of lost) {
      const { segment } = segments[position]!;
      const message = `segment ${segment}: the text of a file that was found is damaged; run check()`;
      if (why === "damaged") this.options.onWarning({ code: "INDEX_CORRUPT", message });
    }
  }
}

/**
 * Resolves to the outputs of the threads as soon as they are complete. It does not wait for a thread that begins late,
 * when the other threads have claimed everything. On busy cores, a thread may begin milliseconds after another one.
 */
function untilComplete(
  running: readonly Promise<SearchOutput>[],
  isDone: (outputs: readonly SearchOutput[]) => boolean,
): Promise<SearchOutput[]> {
  const outputs: SearchOutput[] = [];
  return new Promise((resolve, reject) => {
    const onOutput = (output: SearchOutput) => {
      outputs.push(output);
      if (outputs.length === running.length || isDone(outputs)) resolve(outputs);
    };
    for (const one of running) one.then(onOutput, reject);
  });
}

/**
 * Returns the input for a segment in which nothing matches, as the calling thread has already found. Threads skip
 * this segment.
 */
const decidedInput = ({ segment }: SegmentInput): SegmentInput => ({
  segment,
  scope: emptyBitset(0),
  sets: [],
  symbols: 0,
  isDecided: true,
});
