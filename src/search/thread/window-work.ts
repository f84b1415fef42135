/** The work of any search in a segment: to evaluate the windows of its plan, and to rate the files that match. */

import { countBits } from "../../base/bitset.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { repositoryOf } from "../../store/segments/segment-tables.ts";
import type { RepositoryTable } from "../messages/messages.ts";
import type { Totals } from "../messages/totals.ts";
import type { SegmentPlan } from "./planning/segment-plan.ts";
import { HitRater } from "./ranking/hits.ts";
import type { SearchTools } from "./reading/thread-tools.ts";
import { SegmentScan, type Hit } from "./scanning/segment-scan.ts";
import { STEPS, type OnFound, type SegmentWork } from "./literal/segment-work.ts";

export interface WindowOptions {
  readonly snapshot: Snapshot;
  readonly tools: SearchTools;
  readonly repositories: RepositoryTable;
}

export class WindowWork implements SegmentWork {
  readonly reader: SegmentWork["reader"];
  readonly symbols: SegmentWork["symbols"];
  readonly stats: SegmentWork["stats"];
  readonly candidates: number;
  readonly undecided: number;
  readonly steps: number;
  readonly kind = STEPS.WINDOWS;
  readonly isShared: boolean;
  readonly #plan: SegmentPlan;
  readonly #options: WindowOptions;
  readonly #scan: SegmentScan;
  #rater: HitRater | undefined;

  constructor(plan: SegmentPlan, options: WindowOptions) {
    this.reader = plan.reader;
    this.symbols = plan.asked.symbols;
    this.stats = plan.stats;
    this.candidates = countBits(plan.candidates);
    this.undecided = plan.undecided;
    this.steps = plan.steps.length;
    this.isShared = !plan.hasReadText;
    this.#plan = plan;
    this.#options = options;
    this.#scan = new SegmentScan(plan, options);
  }

  async step(number: number, totals: Totals, { file }: OnFound): Promise<void> {
    const rater = (this.#rater ??= await this.#newRater());
    const { isRanked } = this.#plan.asked;
    const keep = (hit: Hit) => {
      totals.fileCount++;
      totals.totalMatchCount += rater.count;
      file(hit.file, rater.score, rater.count);
    };
    await this.#scan.window(this.#plan.steps[number]!, totals, (hit) => {
      // the hashes are needed later to compare files. They are read now, so that damage in them is reported for this
      // segment
      if (isRanked) this.reader.hashes(this.#options.snapshot);
      const rating = rater.rate(hit);
      if (!rating) return keep(hit);
      return rating.then((isRated) => {
        if (isRated) keep(hit);
      });
    });
  }

  #newRater(): Promise<HitRater> {
    const { asked, reader } = this.#plan;
    const { snapshot, tools, repositories } = this.#options;
    const rankOf = (file: number) => repositories.ranks[repositoryOf(reader.header, file)] ?? 0;
    const { candidates } = this;
    return HitRater.of({ query: asked.query, tools, reader, snapshot, rankOf, candidates });
  }

  end(): void {}
}
