/** A repository of a corpus as a source, so that an engine indexes exactly what the oracle searches. */

import type { Entry, Source } from "../../src/ingest/sources/source.ts";
import type { CorpusFile, CorpusRepository } from "./corpus.ts";

export function sourceOf(repository: CorpusRepository): Source {
  const { name, metadata, revisions } = repository;
  return {
    name,
    metadata,
    open: () =>
      Promise.resolve({
        revisions: revisions.map((each) =>
          each.commit === undefined
            ? { name: each.name }
            : { name: each.name, commit: each.commit },
        ),
        async *entries() {
          yield entriesOf(repository);
        },
        close: () => Promise.resolve(),
      }),
  };
}

/** Returns the entries. Files that are skipped as binary are passed unchanged, because the engine detects them. */
function entriesOf(repository: CorpusRepository): Entry[] {
  const entries = new Map<string, Entry & { revisions: number[] }>();
  for (const [position, revision] of repository.revisions.entries()) {
    for (const file of revision.files) {
      const key = `${file.path}\0${Buffer.from(file.bytes).toString("hex")}`;
      const known = entries.get(key);
      if (known === undefined) entries.set(key, entryOf(file, position));
      else known.revisions.push(position);
    }
  }
  return [...entries.values()];
}

function entryOf(file: CorpusFile, position: number): Entry & { revisions: number[] } {
  const place = { path: file.path, revisions: [position] };
  if (file.skipped === undefined || file.skipped === "binary")
    return { kind: "file", ...place, content: { bytes: file.bytes } };
  return { kind: "skipped", ...place, reason: file.skipped };
}
