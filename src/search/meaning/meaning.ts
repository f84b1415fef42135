/**
 * Parses and plans a query, without a catalog. A short query is handled on the calling thread. Any other query may
 * take a tenth of a second, so a worker handles it in a task named "search.meaning".
 */

import type { Pause } from "../../base/yield.ts";
import { atomsOf, namesRevision, type Query } from "../../query/ast.ts";
import { hintsOf, type Hint } from "../../query/hints.ts";
import { parseInSlices, parseQuery, type Dialect } from "../../query/parse.ts";
import { takeAll, takeInSlices, type Steps } from "../../base/steps.ts";
import { simplify } from "../../query/simplify.ts";
import { packPlan, type PackedPlan } from "../messages/plan.ts";
import { planSteps, type HostAtom } from "./plan-query.ts";

export interface QueryText {
  readonly text: string;
  readonly dialect: Dialect;
}

export interface Meaning {
  readonly query: Query;
  readonly plan: PackedPlan;
  readonly hostAtoms: readonly HostAtom[];
  /** Whether all revisions are searched, and not only the default ones. */
  readonly allRevisions: boolean;
  /** The values of those `rev:` atoms that are not negated. They determine the branches of results. */
  readonly revisionValues: readonly string[];
  /** The names after `context:`, in the order of the query. */
  readonly contextNames: readonly string[];
}

/**
 * Returns whether handling a query takes at most a millisecond. Unicode classes take long when they are used for the
 * first time, and counted repetitions may take long as well.
 */
export const isShort = (text: string): boolean => text.length <= 256 && !/\\[pP]|\{\d/.test(text);

export const hintsFor = ({ text, dialect }: QueryText): Hint[] => hintsOf(text, dialect);

export const meaningOf = ({ text, dialect }: QueryText): Meaning =>
  takeAll(meaningSteps(parseQuery(text, dialect)));

export async function meaningInSlices(
  { text, dialect }: QueryText,
  pause: Pause,
): Promise<Meaning> {
  const parsed = await parseInSlices(text, dialect, pause);
  await pause();
  return takeInSlices(meaningSteps(parsed), pause);
}

function* meaningSteps(parsed: Query): Steps<Meaning> {
  const query = simplify(parsed);
  const { plan, hostAtoms } = yield* planSteps(query);
  yield;
  const contexts = atomsOf(parsed).flatMap((atom) => (atom.kind === "context" ? [atom.name] : []));
  return {
    query,
    plan: packPlan(plan),
    hostAtoms,
    allRevisions: namesRevision(parsed),
    revisionValues: namedRevisions(parsed),
    contextNames: [...new Set(contexts)],
  };
}

/**
 * Returns the values of those `rev:` atoms that are not negated. REQUIRES: the query has not been simplified, because
 * simplify() may drop some of these atoms.
 */
function namedRevisions(query: Query): string[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(namedRevisions);
  if (query.kind === "not")
    return query.child.kind === "not" ? namedRevisions(query.child.child) : [];
  return query.kind === "revision" ? [query.value] : [];
}
