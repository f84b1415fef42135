/**
 * Finds the repositories that a query names, so that only these repositories are searched. Only `repo:` filters, sets
 * of repositories and `context:` filters are used, because other filters and negations exclude few repositories.
 */

import { LruCache } from "../../base/lru-cache.ts";
import { getOrMake } from "../../base/get-or-make.ts";
import type { Pause } from "../../base/yield.ts";
import { repositoryNamed, type Catalog } from "../../store/catalog/catalog.ts";
import type { HostAtom } from "../meaning/plan-query.ts";
import { unpackPlan, type PlanNode } from "../messages/plan.ts";
import type { MatchTexts } from "./name-matcher.ts";
import { exactlyNamed } from "./scope.ts";
import type { Understood } from "./understand.ts";

/** The ids of the repositories in which something can match. Undefined stands for all repositories. */
export type RepositoryLimits = ReadonlySet<number> | undefined;

export interface LimitsQuestion {
  readonly catalog: Catalog;
  readonly understood: Pick<Understood, "plan" | "hostAtoms" | "contexts">;
  readonly matching: MatchTexts;
  readonly pause: Pause;
}

/** Returns the repositories in which the query can match. In all other repositories, it matches nothing. */
export async function repositoryLimits(question: LimitsQuestion): Promise<RepositoryLimits> {
  const { plan, hostAtoms } = question.understood;
  const sets: RepositoryLimits[] = [];
  for (const atom of hostAtoms) sets.push(await limitsOf(atom, question));
  if (sets.every((one) => one === undefined)) return undefined;
  return within(unpackPlan(plan).root, sets);
}

function within(node: PlanNode, sets: readonly RepositoryLimits[]): RepositoryLimits {
  switch (node.kind) {
    case "all":
    case "atom":
    case "not":
      return undefined;
    case "none":
      return NOWHERE;
    case "set":
      return sets[node.set];
    case "and":
      return node.children.map((child) => within(child, sets)).reduce(both);
    case "or":
      return node.children.map((child) => within(child, sets)).reduce(either);
  }
}

const NOWHERE: ReadonlySet<number> = new Set();

function both(a: RepositoryLimits, b: RepositoryLimits): RepositoryLimits {
  if (!a || !b) return a ?? b;
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  return new Set([...few].filter((id) => many.has(id)));
}

const either = (a: RepositoryLimits, b: RepositoryLimits): RepositoryLimits =>
  a && b ? new Set([...a, ...b]) : undefined;

async function limitsOf(atom: HostAtom, question: LimitsQuestion): Promise<RepositoryLimits> {
  const { catalog, understood } = question;
  switch (atom.kind) {
    case "reposet":
      return idsOf(catalog, atom.names);
    case "context":
      return idsOf(catalog, understood.contexts.get(atom.name)!);
    case "repo":
      return matched(atom, question);
    case "archived":
    case "fork":
    case "visibility":
    case "revision":
      return undefined;
  }
}

const idsOf = (catalog: Catalog, names: Iterable<string>): ReadonlySet<number> =>
  new Set(Array.from(names, (name) => repositoryNamed(catalog, name)?.record.id ?? -1));

/**
 * Caches the ids of repositories whose names match an expression, by catalog and expression. Testing 100 000 names
 * with a large expression takes long.
 */
const kept = new WeakMap<Catalog, LruCache<string, ReadonlySet<number>>>();
const newIdCache = () => new LruCache<string, ReadonlySet<number>>({ most: 32 });

async function matched(
  atom: Extract<HostAtom, { kind: "repo" }>,
  { catalog, matching, pause }: LimitsQuestion,
): Promise<ReadonlySet<number>> {
  const ofCatalog = getOrMake(kept, catalog, newIdCache);
  const key = JSON.stringify(atom);
  const known = ofCatalog.get(key);
  if (known) return known;
  const few = exactlyNamed(catalog, atom.pattern)?.map(({ record }) => record.name);
  const names = few ?? catalog.names.ordered.map(({ name }) => name);
  const ids = idsOf(catalog, await matching(atom, names, pause));
  ofCatalog.set(key, ids);
  return ids;
}
