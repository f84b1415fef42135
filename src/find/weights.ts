/**
 * The weights of the features (features.ts), and the factors of the kinds of files (factors.ts). scripts/fit-find.ts
 * fits them. The score of a file is the weighted sum of its features, times the factors of its kinds.
 */

import type { Factor } from "./factors.ts";
import type { Feature } from "./features.ts";

/** The weights for a question in words. */
export const WEIGHTS: Readonly<Record<Feature, number>> = {
  places: 0.5,
  name: 0.95,
  nameFit: 0.8,
  folder: 0.45,
  exact: 0.33,
  main: 0.53,
  cover: 0.04,
  placeCover: 0.3,
  head: 0.27,
  names: 0.2,
  big: 0.27,
  shallow: 0.4,
  qualified: 2.5,
  definition: 0,
};

/** The weights for a question that is a single name. An exact name comes first. */
export const NAME_WEIGHTS: Readonly<Record<Feature, number>> = {
  places: 0.38,
  name: 1.6,
  nameFit: 2,
  folder: 0.3,
  exact: 3,
  main: 3,
  cover: 0.11,
  placeCover: 0.3,
  head: 0.27,
  names: 0.2,
  big: 0.27,
  shallow: 0.2,
  qualified: 0.5,
  definition: 0.1,
};

export const FACTORS: Readonly<Record<Factor, number>> = {
  test: 0.35,
  vendored: 0.69,
  generated: 0.72,
  prose: 0.24,
  data: 0.5,
  example: 0.6,
  legacy: 0.6,
  stub: 0.8,
};
