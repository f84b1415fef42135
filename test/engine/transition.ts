/** Ways to bring a repository from the indexed state to another state. All must end in the same index. */

import { createHash } from "node:crypto";
import type { Entry, FileEntry, Source } from "../../src/ingest/sources/source.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import type { CorpusFile, CorpusRepository, CorpusRevision } from "../oracle/corpus.ts";

export type Style = "whole" | "versions" | "changes" | "documents";
export const STYLES: readonly Style[] = ["whole", "versions", "changes", "documents"];

/** Returns a source for the transition. `pick` chooses the base of each revision if `before` has several. */
export function transition(
  style: Style,
  before: CorpusRepository | undefined,
  after: CorpusRepository,
  pick: number,
): Source {
  switch (style) {
    case "whole":
      return sourceOf(after);
    case "versions":
      return listed(after, after.revisions.map(plain), (file) => versionOf(file));
    case "changes":
      return before ? changes(before, after, pick) : sourceOf(after);
    case "documents":
      return isFolder(after) ? fromDocuments(before, after) : sourceOf(after);
  }
}

const plain = ({ name, commit }: CorpusRevision) => ({
  name,
  ...(commit === undefined ? {} : { commit }),
});

const versionOf = ({ bytes }: CorpusFile) => createHash("md5").update(bytes).digest("hex");

function entryOf(file: CorpusFile, revision: number, version: string | undefined): FileEntry {
  const content = { read: () => Promise.resolve(Buffer.from(file.bytes)) };
  const base = { kind: "file", path: file.path, revisions: [revision], content } as const;
  return version === undefined ? base : { ...base, version };
}

/** Lists equal files of several revisions as one entry each, unlike sourceOf(). */
function listed(
  { name, metadata, revisions }: CorpusRepository,
  listedRevisions: { name: string; base?: string }[],
  version: (file: CorpusFile) => string | undefined,
  entries: Entry[] = mergedEntries(revisions, version),
): Source {
  return {
    name,
    metadata,
    open: () =>
      Promise.resolve({
        revisions: listedRevisions,
        async *entries() {
          yield entries;
        },
        close: () => Promise.resolve(),
      }),
  };
}

function mergedEntries(
  revisions: readonly CorpusRevision[],
  version: (file: CorpusFile) => string | undefined,
): Entry[] {
  const all = revisions.flatMap(({ files }, position) =>
    files.map((file) => ({ file, entry: entryOf(file, position, version(file)) })),
  );
  return merged(all);
}

/** Merges files of the same path and content into one entry, whatever revisions they are in. */
function merged(all: readonly { file: CorpusFile; entry: FileEntry }[]): Entry[] {
  const entries = new Map<string, FileEntry>();
  for (const { file, entry } of all) {
    const key = `${file.path}\0${versionOf(file)}`;
    const revisions = [...(entries.get(key)?.revisions ?? []), ...entry.revisions];
    entries.set(key, { ...entry, revisions });
  }
  return [...entries.values()];
}

/** Lists each revision by its differences from some revision of `before`. */
function changes(before: CorpusRepository, after: CorpusRepository, pick: number): Source {
  const bases = after.revisions.map(
    (_, i) => before.revisions[(pick + i) % before.revisions.length]!,
  );
  const removed: Entry[] = [];
  const changed = after.revisions.flatMap(({ files }, position) => {
    const there = new Map(bases[position]!.files.map((file) => [file.path, file]));
    const other = files.filter((file) => {
      const old = there.get(file.path);
      there.delete(file.path);
      return !old || Buffer.compare(old.bytes, file.bytes) !== 0;
    });
    for (const path of there.keys()) removed.push({ kind: "removed", path, revisions: [position] });
    return other.map((file) => ({ file, entry: entryOf(file, position, versionOf(file)) }));
  });
  const entries = [...merged(changed), ...removed];
  const revisions = after.revisions.map((each, i) => ({ ...plain(each), base: bases[i]!.name }));
  return listed(after, revisions, () => undefined, entries);
}

const isFolder = ({ revisions }: CorpusRepository): boolean =>
  revisions.length === 1 && revisions[0]!.name === "HEAD";

/** Returns a source by documents(). If the changes are known, the source has only these. */
function fromDocuments(before: CorpusRepository | undefined, after: CorpusRepository): Source {
  const files = after.revisions[0]!.files;
  const options = { name: after.name, ...after.metadata };
  const documentOf = ({ path, bytes }: CorpusFile) => ({ path, content: bytes });
  if (!before || !isFolder(before)) return documents({ ...options, files: files.map(documentOf) });
  const kept = new Set(files.map(({ path }) => path));
  const gone = before.revisions[0]!.files.filter(({ path }) => !kept.has(path));
  const removed = gone.map(({ path }) => ({ path, removed: true }) as const);
  return documents({ ...options, changes: [...files.map(documentOf), ...removed] });
}
