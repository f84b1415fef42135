/** Checks and parses a request of find(), and answers it on the newest catalog. */

import { QuernError } from "../base/errors.ts";
import type { Question, SearchCall, Searching } from "../search/caller/searching.ts";
import { packPlan, unpackPlan } from "../search/messages/plan.ts";
import { checkRequest } from "../search/messages/request.ts";
import { find } from "./find.ts";
import { checkFind, type FindRequest, type FindResponse } from "./request.ts";

/** What a question sees. */
type FindCall = Pick<SearchCall, "options" | "view">;

export async function answerFind(
  searching: Searching,
  given: FindRequest,
  call: FindCall,
): Promise<FindResponse> {
  const request = checkFind(given);
  const scope = await scopeOf(searching, request.query, call);
  return searching.answer(scope, (attempt) => find(request, attempt, searching.parts));
}

/** Parses the filters. Rejects what is no filter, because find() would ignore it. */
async function scopeOf(searching: Searching, query: string, call: FindCall): Promise<Question> {
  if (query.trim() === "") return everything(call);
  const scope = await searching.understand({ ...call, request: { query, matches: 0 } });
  const { atoms } = unpackPlan(scope.understood.plan);
  if (atoms.every(({ kind }) => kind === "path" || kind === "language")) return scope;
  throw new QuernError(
    "INVALID_REQUEST",
    'find: query accepts only filters such as repo:, lang:, file: and rev:; put all other words into "text"',
  );
}

const everything = (call: FindCall): Question => ({
  ...call,
  startedAt: performance.now(),
  understood: {
    request: checkRequest({ query: "", matches: 0 }),
    query: { kind: "all" },
    plan: packPlan({ root: { kind: "all" }, atoms: [] }),
    hostAtoms: [],
    allRevisions: false,
    revisionValues: [],
    contextNames: [],
    contexts: new Map(),
  },
});
