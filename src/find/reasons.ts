/** Says why a place has its rank, from the features with their weights. */

import type { ReadPlace } from "./messages.ts";
import type { Question } from "./question.ts";
import type { FindReason } from "./request.ts";
import { NAME_WEIGHTS, WEIGHTS, type Factor, type Feature } from "./weights.ts";

type Part = Exclude<FindReason["what"], "factor" | "comment">;

/** The part of a file that each feature describes. */
const PART_OF: Readonly<Record<Feature, Part>> = {
  places: "words",
  placeCover: "words",
  head: "words",
  big: "words",
  shallow: "words",
  name: "name",
  nameFit: "name",
  main: "name",
  folder: "path",
  definition: "definition",
  exact: "definition",
  names: "definition",
  qualified: "definition",
};

/** Reasons that add less than this part of the score are left out. */
const MIN_PART = 0.02;

const KIND_TEXT: Readonly<Record<Factor, string>> = {
  test: "a test",
  vendored: "a copy of other code",
  generated: "generated",
  prose: "prose",
  data: "data",
  example: "an example",
  legacy: "legacy code",
  stub: "only declarations",
};

/** Returns the reasons, the strongest first, and the factors after them. */
export function reasonsOf(
  place: Pick<ReadPlace, "features" | "definition" | "terms"> & { readonly path: string },
  question: Question,
  factors: readonly (readonly [Factor, number])[],
): FindReason[] {
  const weights = question.isName ? NAME_WEIGHTS : WEIGHTS;
  const parts = new Map<Part, number>();
  let total = 0;
  for (const [feature, value] of Object.entries(place.features) as [Feature, number][]) {
    const part = PART_OF[feature];
    parts.set(part, (parts.get(part) ?? 0) + weights[feature] * value);
    total += weights[feature] * value;
  }
  const reasons = [...parts]
    .filter(([, weight]) => weight > MIN_PART * total)
    .sort(([, a], [, b]) => b - a)
    .map(([part, weight]) => reasonOf(part, weight, place, question));
  const lowered = factors.map(([kind, weight]): FindReason => {
    return { what: "factor", detail: `the file is ${KIND_TEXT[kind]}`, weight };
  });
  return [...reasons, ...lowered];
}

function reasonOf(
  part: Part,
  weight: number,
  { terms, definition, path }: Parameters<typeof reasonsOf>[0],
  question: Question,
): FindReason {
  const listed = (numbers: readonly number[]): string =>
    numbers.map((term) => question.terms[term]!.word).join(", ") || "similar words";
  switch (part) {
    case "name":
      return {
        what: "name",
        detail: `${path.slice(path.lastIndexOf("/") + 1)}: ${listed(terms.name)}`,
        weight,
      };
    case "path":
      return {
        what: "path",
        detail: `${path.slice(0, path.lastIndexOf("/") + 1)}: ${listed(terms.folder)}`,
        weight,
      };
    case "definition":
      return definition && terms.definition.length > 0
        ? {
            what: "definition",
            detail: `${definition.kind} ${definition.name}: ${listed(terms.definition)}`,
            weight,
          }
        : { what: "definition", detail: "names of other definitions in the file", weight };
    case "words": {
      const inComment = terms.comment.filter((term) => !terms.words.includes(term));
      return inComment.length > terms.words.length
        ? { what: "comment", detail: listed(terms.comment), weight }
        : {
            what: "words",
            detail: listed([...new Set([...terms.words, ...terms.comment])]),
            weight,
          };
    }
  }
}
