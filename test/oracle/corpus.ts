/** The oracle searches these repositories in memory. They are like those that a host passes to an engine. */

import type { RepositoryMetadata, SkipReason } from "../../src/store/format/records.ts";
import type { SymbolKind } from "../../src/store/symbols/symbol-kinds.ts";

export interface Corpus {
  readonly repositories: readonly CorpusRepository[];
}

export interface CorpusRepository {
  readonly id: number;
  readonly name: string;
  readonly metadata: RepositoryMetadata;
  /** The revisions. The first is the default revision. */
  readonly revisions: readonly CorpusRevision[];
}

export interface CorpusRevision {
  readonly name: string;
  readonly commit?: string;
  /** The files. No path occurs twice. */
  readonly files: readonly CorpusFile[];
}

export interface CorpusFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The linguist name, or undefined if it is unknown. */
  readonly language?: string;
  /** The reason why the content is not searchable. */
  readonly skipped?: SkipReason;
  /** The symbols, ordered by the places of their names. */
  readonly symbols?: readonly CorpusSymbol[];
}

/** A symbol. Its place is that of the name, in bytes. */
export interface CorpusSymbol {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly kind: SymbolKind;
  readonly parent?: { readonly symbol: string; readonly kind: SymbolKind };
}

/** A file as a search sees it: one path and content, and all revisions that contain it. */
export interface SearchedFile extends CorpusFile {
  readonly revisions: readonly CorpusRevision[];
}

/** Reasons for which files are listed, but never found by a search. */
const NEVER_FOUND: ReadonlySet<SkipReason> = new Set(["submodule", "symlink", "invalid-path"]);

/** Returns the files. Equal paths with equal content are one file, in whichever revisions they are. */
export function filesOf(repository: CorpusRepository): SearchedFile[] {
  const files = new Map<string, SearchedFile>();
  for (const revision of repository.revisions) {
    for (const file of revision.files) {
      if (file.skipped !== undefined && NEVER_FOUND.has(file.skipped)) continue;
      const content = file.skipped === undefined ? Buffer.from(file.bytes).toString("hex") : "-";
      const key = `${file.path}\0${content}`;
      const known = files.get(key);
      files.set(key, { ...file, ...known, revisions: [...(known?.revisions ?? []), revision] });
    }
  }
  return [...files.values()];
}
