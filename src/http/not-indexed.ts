/**
 * Creates a response header for searches. It shows whether a repository does not exist, or only has no match:
 *
 *     X-Quern-Not-Indexed: acme/gone, acme/%C3%A9t%C3%A9
 *
 * The header lists repositories that the query names. The caller cannot see these repositories, or they are not
 * indexed yet.
 */

import { coreOf } from "../core-of.ts";
import type { Engine } from "../engine.ts";
import type { SearchOptions, SearchRequest } from "../search/messages/request.ts";

const NAME = "X-Quern-Not-Indexed";

/** The header as the OpenAPI document describes it. */
export const NOT_INDEXED_HEADER = {
  [NAME]:
    "Repositories that the query names and that are not indexed, or not yet: percent-encoded names with commas between.",
};

const NAMES_REPOSITORY = /(?:^|[\s(-])(?:r|repo|reposet):/;
const MOST_HEADER_BYTES = 4096;

/** Resolves to the header, or to an empty object if the caller can see every repository that the query names. */
export async function notIndexedHeader(
  engine: Engine,
  request: SearchRequest,
  options: SearchOptions,
): Promise<Record<string, string>> {
  if (!NAMES_REPOSITORY.test(request.query)) return {};
  const names = (await coreOf(engine).view(options).notIndexed(request)).map(({ repository }) =>
    encodeName(repository),
  );
  const list = fit([...new Set(names)], MOST_HEADER_BYTES);
  return list === "" ? {} : { [NAME]: list };
}

/** Percent-encodes the characters that a header or a list of names cannot contain. */
function encodeName(name: string): string {
  return name.replace(/[^!#-$&-+\--~ ]+/g, (part) =>
    encodeURIComponent(part.replace(/\p{Cs}/gu, "\ufffd")),
  );
}

/** Joins as many names as fit into the limit. */
function fit(names: readonly string[], most: number): string {
  let list = "";
  for (const name of names) {
    const longer = list === "" ? name : `${list}, ${name}`;
    if (longer.length > most) break;
    list = longer;
  }
  return list;
}
