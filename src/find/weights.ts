/**
 * The features of a file with their weights, and the factors of the kinds of files. Each feature is a number from 0 to
 * about 1. The score of a file is the weighted sum of its features (features.ts), times the factors of its kinds
 * (factors.ts). `npm run bench -- --find FOLDER` shows what a change of these numbers does.
 */

/** The weights for a question in words. */
export const WEIGHTS = {
  /** The words of the best three places. */
  places: 0.5,
  /** How much of the question the file's name has. */
  name: 0.95,
  /** The same, times how much of the name the question has. */
  nameFit: 0.8,
  /** How much of the question the folders have. */
  folder: 0.45,
  /** The best fit of a definition's name. */
  definition: 0,
  /** A definition that the question names. */
  exact: 0.33,
  /** A definition that the question names, after which the file is named. */
  main: 0.53,
  /** How much of the question any one place has. */
  placeCover: 0.34,
  /** The words of the place at the top of the file. */
  head: 0.27,
  /** The sum over the five best names of definitions. */
  names: 0.2,
  /** The words of the file, times how large the file is. */
  big: 0.27,
  /** The words of the file, times how near to the root it is. */
  shallow: 0.4,
  /** A definition whose whole name the question has, with what the question has of its surroundings. */
  qualified: 2.5,
} as const;

export type Feature = keyof typeof WEIGHTS;
export const FEATURES = Object.keys(WEIGHTS) as Feature[];

/** The weights for a question that is a single name. An exact name comes first. */
export const NAME_WEIGHTS: Readonly<Record<Feature, number>> = {
  places: 0.38,
  name: 1.6,
  nameFit: 2,
  folder: 0.3,
  definition: 0.1,
  exact: 3,
  main: 3,
  placeCover: 0.41,
  head: 0.27,
  names: 0.2,
  big: 0.27,
  shallow: 0.2,
  qualified: 0.5,
};

/** The factors of the kinds of files that rank lower. */
export const FACTORS = {
  test: 0.35,
  vendored: 0.69,
  generated: 0.72,
  prose: 0.24,
  data: 0.5,
  example: 0.6,
  legacy: 0.6,
  stub: 0.8,
} as const;

/** A kind of files that ranks lower. */
export type Factor = keyof typeof FACTORS;
