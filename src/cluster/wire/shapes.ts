/**
 * Checks that an answer has the top-level fields of its call, with the right types. If an answer fails this check,
 * the node counts as failed, and another replica is asked. Deeper fields are trusted, because only nodes that know
 * the secret pass the check of signatures.
 */

import type { Calls, Failure, SentStep } from "./calls.ts";

type Is = (value: unknown) => boolean;

const isText: Is = (value) => typeof value === "string";
const isNumber: Is = (value) => typeof value === "number";
const isMap: Is = (value) => value instanceof Map;
const isWords: Is = (value) => value instanceof Uint32Array;
const isBytes: Is = (value) => value instanceof Uint8Array;
const orAbsent =
  (is: Is): Is =>
  (value) =>
    value === undefined || is(value);

const listOf =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);

/** Returns a check of the named fields. It ignores other fields. */
const fields =
  (named: Readonly<Record<string, Is>>): Is =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(named).every(([name, is]) => is((value as Record<string, unknown>)[name]));

const isAnything = fields({});
const isStats = fields({ totalMatchCount: isNumber, crashes: isNumber, flushReason: isText });
const isResult = fields({ fileName: isAnything, repository: isText, chunks: Array.isArray });
const isPlaced = fields({
  segment: isNumber,
  file: isNumber,
  skip: isNumber,
  count: isNumber,
  origin: listOf(isNumber),
});

const isShown = fields({
  files: listOf(orAbsent(fields({ result: isResult, ranges: isNumber, bytes: isNumber }))),
  repositoryInfo: listOf(isAnything),
  contentBytesLoaded: isNumber,
  lost: Array.isArray,
});

const SHAPES: { readonly [Path in keyof Calls]: Is } = {
  "/v1/search": fields({
    stats: isStats,
    ends: Array.isArray,
    files: fields({
      names: listOf(isText),
      scores: (value) => value instanceof Int32Array,
      segments: isWords,
      files: isWords,
      counts: isWords,
      repositories: isWords,
      pathStarts: isWords,
      paths: isBytes,
      hashes: isBytes,
    }),
    facets: orAbsent(fields({ repositories: isMap, languages: isMap, folders: isMap })),
    shown: orAbsent(isShown),
  }),
  "/v1/show": isShown,
  "/v1/explain": fields({ query: isText, segments: listOf(isAnything), stats: isStats }),
  "/v1/read": fields({ file: orAbsent(fields({ content: isText })) }),
  "/v1/list": fields({ entries: orAbsent(listOf(fields({ name: isText }))) }),
  "/v1/paths": fields({ paths: orAbsent(isBytes) }),
  "/v1/describe": (value) => value instanceof Map && [...value.values()].every(isAnything),
  "/v1/refresh": isAnything,
};

export const hasShape = (path: keyof Calls, answer: unknown): boolean => SHAPES[path](answer);

const isChunk = fields({
  event: fields({ stats: isStats, files: listOf(isResult), repositoryInfo: listOf(isAnything) }),
  files: listOf(isPlaced),
});
const isFinal = fields({ event: fields({ accumulatedStats: isStats }) });

export function isStep(value: unknown): value is SentStep {
  const step = value as SentStep | undefined;
  const isOne = step?.event?.type === "final" ? isFinal : isChunk;
  return isOne(step);
}

export const isFailure = fields({ code: isText, message: isText }) as (
  value: unknown,
) => value is Failure;
