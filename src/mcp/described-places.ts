/**
 * Lists the places that a query in words describes, for an answer that has found nothing. Agents often describe what
 * they look for, and no file has all words of such a query.
 */

import { QuernError } from "../base/errors.ts";
import { findOptions } from "../find/request.ts";
import type { SearchOptions } from "../search/messages/request.ts";
import type { ToolContext } from "./tool.ts";

const MAX_PLACES = 5;
/** A query of at least two words, without filters and operators. */
const IN_WORDS = /^\s*[\w'-]+(?:[\s,]+[\w'-]+)+[\s?.]*$/;

/** The words before the places. */
export const DESCRIBED = "Best places for this description, a choice and not all matches:";

/** Resolves to the lines to add to the answer, one for each place. There are none if the query does not describe anything. */
export async function describedPlaces(
  query: string,
  filter: string,
  options: SearchOptions,
  { engine }: Pick<ToolContext, "engine">,
): Promise<string[]> {
  if (!IN_WORDS.test(query)) return [];
  const request = {
    text: query,
    places: MAX_PLACES,
    lines: 1,
    ...(filter !== "" && { query: filter }),
  };
  try {
    const { places } = await engine.find(request, findOptions(options));
    return places.map(({ repository, path, lines, definition }) => {
      const name = definition ? ` ${definition.kind} ${definition.name}` : "";
      return `  ${repository}:${path}:${lines.from}-${lines.to}${name}`;
    });
  } catch (error) {
    // a cluster does not support find(), and the answer is useful without these lines
    if (error instanceof QuernError && error.code === "INVALID_REQUEST") return [];
    throw error;
  }
}
