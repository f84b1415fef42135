/**
 * Completes an edition, which is a set of symbols of one segment. When the symbols of all ranges of the segment are
 * stored, this task joins them and publishes the edition in one transaction. Long lists of names are written before
 * this transaction.
 */

import { completeEdition } from "../../store/symbols/complete-edition.ts";
import type { Writer } from "../../store/lmdb/environment.ts";
import {
  contentOf,
  nextManifest,
  putManifest,
  readManifest,
} from "../../store/catalog/manifest.ts";
import { segmentTarget } from "../../store/segments/segment-target.ts";
import { removeRanges, type SymbolColumns } from "../../store/symbols/symbol-columns.ts";
import { threadEnvironment } from "../../store/lmdb/thread-environment.ts";
import type { Task } from "../../threads/task.ts";
import type { Edition } from "./symbol-task.ts";

export interface EditionInput extends Edition {
  readonly columns: SymbolColumns;
  readonly owner: string;
}

export const editionTask: Task<EditionInput, void> = async (
  { segment, edition, columns, owner },
  context,
) => {
  const publish = (writer: Writer, hasAll: boolean) =>
    publishEdition(writer, { segment, edition }, hasAll);
  const target = segmentTarget(threadEnvironment(context), segment, owner);
  await completeEdition(target, { edition, columns, publish }, context);
};

function publishEdition(writer: Writer, { segment, edition }: Edition, hasSymbols: boolean): void {
  removeRanges(writer, { segment, edition });
  const manifest = readManifest(writer);
  const segments = manifest.segments.map((one) =>
    contentOf(one) === segment ? { ...one, symbols: edition, hasSymbols } : one,
  );
  putManifest(writer, nextManifest(manifest, { segments }));
}
