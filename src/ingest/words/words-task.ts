/** Makes the word lists of one segment from its text, and publishes them with the last of their transactions. */

import {
  contentOf,
  nextManifest,
  putManifest,
  readManifest,
} from "../../store/catalog/manifest.ts";
import { corrupt } from "../../store/format/sealed.ts";
import type { Writer } from "../../store/lmdb/environment.ts";
import { threadEnvironment } from "../../store/lmdb/thread-environment.ts";
import { openSegment } from "../../store/segments/segment-reader.ts";
import { segmentTarget } from "../../store/segments/segment-target.ts";
import { WordListsWriter, type WordsOf } from "../../store/words/word-lists.ts";
import type { Task } from "../../threads/task.ts";
import { WordTable } from "../../words/word-table.ts";

export interface WordsInput extends WordsOf {
  /** The owner of the write lease. */
  readonly owner: string;
}

export const wordsTask: Task<WordsInput, void> = async ({ segment, version, owner }, context) => {
  const target = segmentTarget(threadEnvironment(context), segment, owner);
  const snapshot = target.environment.snapshot();
  const table = new WordTable();
  let blobs: number;
  try {
    const reader = openSegment(snapshot, segment);
    if (!reader) throw corrupt(`segment ${segment} is missing`);
    ({ blobs } = reader.header);
    for (let blob = 0; blob < blobs; blob++) {
      table.addBlob(blob, reader.blobText(snapshot, blob));
      const wait = context.pause();
      if (wait) await wait;
    }
  } finally {
    snapshot.close();
  }
  const lists = new WordListsWriter(target, version);
  for (const [stem, list] of table.lists()) {
    lists.add(stem, list);
    const wait = context.pause();
    if (wait) await wait;
  }
  lists.finish(blobs, (writer) => publish(writer, segment, version));
};

function publish(writer: Writer, segment: number, words: number): void {
  const manifest = readManifest(writer);
  const segments = manifest.segments.map((one) =>
    contentOf(one) === segment ? { ...one, words } : one,
  );
  putManifest(writer, nextManifest(manifest, { segments }));
}
