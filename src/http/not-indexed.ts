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
import { headerList } from "./header-list.ts";
import type { SearchOptions, SearchRequest } from "../search/messages/request.ts";

const NAME = "X-Quern-Not-Indexed";

/** The header as the OpenAPI document describes it. */
export const NOT_INDEXED_HEADER = {
  [NAME]:
    "Repositories that the query names and that are not indexed, or not yet: percent-encoded names with commas between.",
};

const NAMES_REPOSITORY = /(?:^|[\s(-])(?:r|repo|reposet):/;

/** Resolves to the header, or to an empty object if the caller can see every repository that the query names. */
export async function notIndexedHeader(
  engine: Engine,
  request: SearchRequest,
  options: SearchOptions,
): Promise<Record<string, string>> {
  if (!NAMES_REPOSITORY.test(request.query)) return {};
  const missing = await coreOf(engine).view(options).notIndexed(request);
  const list = headerList(missing.map(({ repository }) => repository));
  return list === "" ? {} : { [NAME]: list };
}
