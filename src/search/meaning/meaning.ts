/**
 * What a query means, before any catalog is asked. A short one is understood at once, on the thread
 * that asks. Any other may take a tenth of a second, and that is a task of the threads: "search.meaning".
 */

import type { Pause } from "../../base/yield.ts";
import { atomsOf, namesRevision, type Query } from "../../query/ast.ts";
import { hintsOf, type Hint } from "../../query/hints.ts";
import { parseInSlices, parseQuery, type Dialect } from "../../query/parse.ts";
import { simplify } from "../../query/simplify.ts";
import { packPlan, type PackedPlan } from "../messages/plan.ts";
import { planQuery, type HostAtom } from "./plan-query.ts";

export interface QueryText {
  readonly text: string;
  readonly dialect: Dialect;
}

export interface Meaning {
  readonly query: Query;
  readonly plan: PackedPlan;
  readonly hostAtoms: readonly HostAtom[];
  /** Whether more than the default revisions are searched. */
  readonly allRevisions: boolean;
  /** Of `rev:` atoms under no negation: which branches a result names. */
  readonly revisionValues: readonly string[];
  /** After `context:`, in the order of the text. */
  readonly contextNames: readonly string[];
}

/** Whether it takes a millisecond at most: Unicode classes take long when they are first met. */
export const isShort = (text: string): boolean => text.length <= 256 && !/\\[pP]/.test(text);

export const hintsFor = ({ text, dialect }: QueryText): Hint[] => hintsOf(text, dialect);

export const meaningOf = ({ text, dialect }: QueryText): Meaning =>
  meaning(parseQuery(text, dialect));

export async function meaningInSlices(
  { text, dialect }: QueryText,
  pause: Pause,
): Promise<Meaning> {
  const parsed = await parseInSlices(text, dialect, pause);
  await pause();
  return meaning(parsed);
}

function meaning(parsed: Query): Meaning {
  const query = simplify(parsed);
  const { plan, hostAtoms } = planQuery(query);
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

/** The values of `rev:` under no negation. Ask it of the query as parsed: simplifying may drop some. */
function namedRevisions(query: Query): string[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(namedRevisions);
  if (query.kind === "not")
    return query.child.kind === "not" ? namedRevisions(query.child.child) : [];
  return query.kind === "revision" ? [query.value] : [];
}
