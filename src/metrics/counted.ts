/** Counts events and durations for the metrics. Events are counted by labels, and durations by buckets. */

import type { Labels, Sample } from "./metrics-text.ts";

/**
 * A counter that has a value for each set of labels. The values only rise. REQUIRES: there are few different sets of
 * labels, and equal sets list their labels in the same order.
 */
export class Counter {
  readonly #values = new Map<string, { labels: Labels; value: number }>();

  /**
   * Creates a counter with these sets of labels. Their values are 0. Another set of labels is added when add() is
   * first called with it.
   */
  constructor(...first: Labels[]) {
    for (const labels of first) this.add(labels, 0);
  }

  add(labels: Labels, count = 1): void {
    const key = JSON.stringify(labels);
    const known = this.#values.get(key) ?? { labels, value: 0 };
    known.value += count;
    this.#values.set(key, known);
  }

  samples(): Sample[] {
    return [...this.#values.values()].map(({ labels, value }) => ({ labels, value }));
  }
}

/**
 * The upper bounds of the buckets, in seconds. They range from the duration of a search in a small index to that of a
 * long index run.
 */
const BOUNDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600,
];

/** A histogram of durations. */
export class Durations {
  /** The number of durations in each bucket. The last bucket has no upper bound. */
  readonly #counts = new Float64Array(BOUNDS.length + 1);
  #seconds = 0;

  add(ms: number): void {
    const seconds = ms / 1000;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    this.#counts[bucket < 0 ? BOUNDS.length : bucket]!++;
    this.#seconds += seconds;
  }

  /**
   * Returns the samples of the histogram. The sample of a bucket counts all durations up to and including the
   * bucket's bound.
   */
  samples(): Sample[] {
    let count = 0;
    const buckets = [...BOUNDS, Infinity].map((bound, i): Sample => {
      count += this.#counts[i]!;
      const le = bound === Infinity ? "+Inf" : String(bound);
      return { suffix: "_bucket", labels: { le }, value: count };
    });
    return [
      ...buckets,
      { suffix: "_sum", value: this.#seconds },
      { suffix: "_count", value: count },
    ];
  }
}
