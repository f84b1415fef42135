/** Determines which revision of a repository a request names, and whether the repository has a history. */

import type { QuernError } from "../base/errors.ts";
import { coreOf } from "../core-of.ts";
import type { History } from "../history/history.ts";
import { checkRevision } from "../history/revision.ts";
import type { RepositorySummary } from "../repositories.ts";
import { Refusal } from "./refusal.ts";
import { findVisible } from "./repository-routes.ts";
import type { Call } from "./route.ts";

/** Throws INVALID_GIT_REF if the text cannot name a revision of any repository. */
export function checkRef(ref: string | undefined): void {
  if (ref !== undefined) checkRevision(ref);
}

/** Resolves to the history of a repository. Throws a refusal with the reason if there is none. */
export async function historyOf(call: Call, repository: string): Promise<History> {
  await findVisible(call, repository);
  const history = await openHistory(call, repository);
  if (history !== undefined) return history;
  throw new Refusal("HISTORY_NOT_AVAILABLE", `${repository} has no history here`);
}

/**
 * Opens the history of a repository. Rejects with the reason if there is none. If the host program has wrapped the
 * engine, the reason is unknown, so this function then resolves to undefined.
 */
const openHistory = ({ engine, caller }: Call, repository: string): Promise<History | undefined> =>
  coreOf(engine).history(repository, caller.viewer);

/** Resolves to the history, or to undefined if there is none, whatever the reason. */
export async function historyIfAny(call: Call, repository: string): Promise<History | undefined> {
  try {
    return await openHistory(call, repository);
  } catch (error) {
    if ((error as QuernError).code === "HISTORY_NOT_AVAILABLE") return undefined;
    throw error;
  }
}

/**
 * Returns the indexed revision with this name or commit id, or undefined if there is none. If no name is given, or if
 * the name is HEAD, returns the default revision.
 */
export function indexedRevision(
  { revisions }: RepositorySummary,
  name: string | undefined,
): RepositorySummary["revisions"][number] | undefined {
  const named = revisions.find((one) => one.name === name || one.commit === name);
  return named ?? (name === undefined || name === "HEAD" ? revisions[0] : undefined);
}
