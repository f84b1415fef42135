/**
 * Has the steps that all kinds of searches have in common: parses the query, decides what is in scope, and reports
 * damage. Prevents the deletion of the generation that a search reads. If segments were merged away during a search,
 * starts it again on a newer catalog.
 */

import { QuernError } from "../../base/errors.ts";
import { GcPacer } from "../../base/gc-pacer.ts";
import { newPause } from "../../base/yield.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { View } from "../../store/catalog/view.ts";
import type { SkippedFile } from "../../store/format/records.ts";
import { corrupt } from "../../store/format/sealed.ts";
import type { Pool } from "../../threads/pool.ts";
import { Control } from "../messages/control.ts";
import type { SearchOutput, SegmentInput } from "../messages/messages.ts";
import type { SearchOptions, SearchRequest } from "../messages/request.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { stoppable, type Attempt } from "./attempt.ts";
import type { Lost } from "./late-files.ts";
import { NameMatcher } from "./name-matcher.ts";
import type { Near } from "./near.ts";
import { presentFile, type WebUrl } from "./present.ts";
import { ownerFinder } from "./repository-table.ts";
import { branchesOf, segmentsInScope } from "./scope.ts";
import type { Presenter } from "./show-files.ts";
import { tally, type Tally } from "./tally.ts";
import { understand, type Contexts, type Understood } from "./understand.ts";

/** The maximum number of attempts of a search. */
const MOST_ATTEMPTS = 5;

/** Resolves to the newest view. Called by each attempt. */
export type ViewSource = () => Promise<View>;

/** The parts of an engine that its searches use. */
export interface SearchParts {
  readonly pool: Pool;
  readonly webUrl: WebUrl;
  readonly contexts: Contexts | undefined;
  /** Aborted when the engine closes. */
  readonly closing?: AbortSignal | undefined;
  readonly onWarning: (warning: { code: string; message: string }) => void;
  /** Makes room in the memory that threads share, if it is full. Called before each search. */
  readonly makeRoom?: () => void;
  /** Searches on the calling thread if little work is needed. If absent, only the threads of the pool search. */
  readonly near?: Near | undefined;
  /** Returns the names of the repositories that are being indexed for the first time. */
  readonly indexing: () => ReadonlySet<string>;
  /** Returns the files of a repository that are listed but not searchable. */
  readonly skipped: (repository: number) => Promise<readonly SkippedFile[]>;
}

/** A caller's request, before it is checked. */
export interface SearchCall {
  readonly request: SearchRequest;
  readonly options: SearchOptions;
  readonly view: ViewSource;
}

/** A request that was checked and parsed, with what it is to see. */
export interface Question {
  readonly understood: Understood;
  readonly options: SearchOptions;
  readonly view: ViewSource;
  /** The value of performance.now() when the host called the engine. */
  readonly startedAt: number;
}

export class Searching {
  readonly parts: SearchParts;
  readonly names: NameMatcher;
  /** The generations that running searches read, with the number of searches for each. */
  readonly #held = new Map<number, number>();

  constructor(parts: SearchParts) {
    this.parts = parts;
    this.names = new NameMatcher(parts.pool);
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

  /** Checks and parses a request, and looks up its contexts. */
  async understand({ request, options, view }: SearchCall): Promise<Question> {
    const startedAt = performance.now();
    return { understood: await understand(request, options, this.parts), options, view, startedAt };
  }

  /**
   * Runs an attempt on the newest view. If `run` resolves to undefined because a segment has been merged away, runs
   * another attempt on a newer view.
   */
  async answer<T>(
    question: Question,
    run: (attempt: Attempt) => Promise<T | undefined>,
  ): Promise<T> {
    const generations = new Set<number>();
    for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts++) {
      throwIfAborted(question.options.signal, "search");
      const view = await question.view();
      generations.add(view.catalog.manifest.generation);
      const release = this.hold(view.catalog);
      try {
        const attempt = await this.attempt(question, view);
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
  async attempt({ understood, options, startedAt }: Question, view: View): Promise<Attempt> {
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

  /** Adds up the threads' counters and warns of damage. Returns undefined if a segment has been merged away. */
  tally({ segments }: Attempt, outputs: readonly SearchOutput[]): Tally | undefined {
    const counted = tally(outputs, segments.length);
    if (counted.gone > 0) return undefined;
    this.warnOfDamage(counted);
    return counted;
  }

  warnOfDamage({ damages }: Tally): void {
    for (const message of damages) this.parts.onWarning({ code: "INDEX_CORRUPT", message });
  }

  /**
   * Returns a function that converts a shown file to a result. Between two files, it yields to the event loop if
   * needed.
   */
  presenter({ understood, catalog }: Attempt): Presenter {
    const { allRevisions, revisionValues: values } = understood;
    const { webUrl } = this.parts;
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
    for (const message of disagreements) this.parts.onWarning({ code: "INTERNAL", message });
    for (const [position, why] of lost) {
      const { segment } = segments[position]!;
      const message = `segment ${segment}: the text of a file that was found is damaged; run check()`;
      if (why === "damaged") this.parts.onWarning({ code: "INDEX_CORRUPT", message });
    }
  }
}
