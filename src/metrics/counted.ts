/** Counts events for the metrics: numbers by label, and durations by bucket. */

import type { Labels, Sample } from "./metrics-text.ts";

/**
 * Counters that only rise, one for each set of labels. REQUIRES: few different sets of labels, each with its labels
 * in the same order.
 */
export class Counter {
  readonly #values = new Map<string, { labels: Labels; value: number }>();

  /** Creates a counter with these sets of labels, each at 0. Other sets are added when they are first counted. */
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

/** Upper bounds of the buckets in seconds, from a search in a small index to a long index run. */
const BOUNDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3600,
];

/** A histogram of durations. */
export class Durations {
  /** The count of each bucket. There is one bucket more than there are bounds. */
  readonly #counts = new Float64Array(BOUNDS.length + 1);
  #seconds = 0;

  add(ms: number): void {
    const seconds = ms / 1000;
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound);
    this.#counts[bucket < 0 ? BOUNDS.length : bucket]!++;
    this.#seconds += seconds;
  }

  /** Returns the samples. A bucket counts every duration up to and including its bound. */
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
