/** Says in words what an answer contains, exactly as certain as its counts. */

import type { NavigationAnswer } from "./request.ts";

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** Returns the sentences about the uses of a name. */
export function usesInWords(
  name: string,
  { targets, counts, leftOut, filesResolved, isComplete }: Omit<NavigationAnswer, "places">,
): string[] {
  const { resolved, likely, possible } = counts;
  const { otherDeclarations, comments, strings } = leftOut;
  const short = name.split(/[.#:/]+/).at(-1)!;
  if (targets.length === 0) return [`No definition of ${name} is known.`];
  const partial = isComplete ? [] : ["Not all files were read."];
  const several =
    targets.length > 1
      ? [`${plural(targets.length, "definition")} of ${name} are meant together.`]
      : [];
  if (resolved + likely + possible === 0)
    return [
      `No use found in ${plural(filesResolved, "file")}; ${plural(strings, "string")} name it. Reflection and other repositories are not seen.`,
      ...several,
      ...partial,
    ];
  const parts = [
    `${resolved} certain`,
    ...(likely > 0 ? [`${likely} likely (only one ${short} that the file can know)`] : []),
  ];
  const out = [
    ...(otherDeclarations > 0 ? [`${otherDeclarations} of other declarations`] : []),
    ...(comments > 0 ? [plural(comments, "comment")] : []),
    ...(strings > 0 ? [plural(strings, "string")] : []),
  ];
  return [
    `${plural(resolved + likely, "use")} of ${name}: ${parts.join(", ")}.`,
    ...(possible > 0
      ? [
          `${plural(possible, "more place")} name ${short} and may mean it: the receiver's type is unknown.`,
        ]
      : []),
    ...several,
    ...(out.length > 0 ? [`Left out: ${out.join(", ")}.`] : []),
    ...partial,
  ];
}
