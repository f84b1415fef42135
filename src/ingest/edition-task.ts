/** Completes an edition of a segment's symbols, when all its ranges are done. Publishing it is for the caller. */

import { completeEdition } from "../store/complete-edition.ts";
import { checkLease } from "../store/lease.ts";
import type { SymbolColumns } from "../store/symbol-columns.ts";
import { threadEnvironment } from "../store/thread-environment.ts";
import type { Task } from "../threads/task.ts";
import type { Edition } from "./symbol-task.ts";

export interface EditionInput extends Edition {
  readonly columns: SymbolColumns;
  readonly owner: string;
}

/** Resolves to how many blobs are unknown in it. */
export const editionTask: Task<EditionInput, number> = (
  { segment, edition, columns, owner },
  context,
) => {
  const environment = threadEnvironment(context);
  const checked = (writer: Parameters<typeof checkLease>[0]) => checkLease(writer, owner);
  const target = { environment, segment, checkLease: checked };
  return completeEdition(target, edition, columns, () => context.pause());
};
