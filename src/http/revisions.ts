/** Which state of a repository a request names, and whether there is a history to ask. */

import type { QuernError } from "../base/errors.ts";
import { OPEN_HISTORY, type OpensHistory } from "../history/histories.ts";
import type { History } from "../history/history.ts";
import { checkRevision } from "../history/revision.ts";
import type { RepositorySummary } from "../repositories.ts";
import { Refusal } from "./refusal.ts";
import { findVisible } from "./repository-routes.ts";
import { viewerOption, type Call } from "./route.ts";

/** Refuses with INVALID_GIT_REF what cannot be a name, whatever repository it is asked of. */
export function checkRef(ref: string | undefined): void {
  if (ref !== undefined) checkRevision(ref);
}

/** Refuses, in words that say why, where the repository has no history. */
export async function historyOf(call: Call, repository: string): Promise<History> {
  await findVisible(call, repository);
  const history = await openHistory(call, repository);
  if (history !== undefined) return history;
  throw new Refusal("HISTORY_NOT_AVAILABLE", `${repository} has no history here`);
}

/** An engine that a host has wrapped knows only its interface, which does not say why there is none. */
function openHistory({ engine, ...call }: Call, repository: string): Promise<History | undefined> {
  const { [OPEN_HISTORY]: open } = engine as Partial<OpensHistory>;
  const options = viewerOption({ engine, ...call });
  return open?.call(engine, repository, options) ?? engine.history(repository, options);
}

/** Undefined where there is none, whatever the reason. */
export async function historyIfAny(call: Call, repository: string): Promise<History | undefined> {
  try {
    return await openHistory(call, repository);
  } catch (error) {
    if ((error as QuernError).code === "HISTORY_NOT_AVAILABLE") return undefined;
    throw error;
  }
}

/** As the engine knows it; undefined where it is not indexed. HEAD is the default one, whatever its name. */
export function indexedRevision(
  { revisions }: RepositorySummary,
  name: string | undefined,
): RepositorySummary["revisions"][number] | undefined {
  const named = revisions.find((one) => one.name === name || one.commit === name);
  return named ?? (name === undefined || name === "HEAD" ? revisions[0] : undefined);
}
