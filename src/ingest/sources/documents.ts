/**
 * Implements documents(), which lists files that the host supplies. The host passes either all files of the
 * repository (`files`), or only the files that have changed (`changes`). The only revision is 'HEAD'.
 *
 * `files` is read as a stream, and only the paths are kept in memory. A path that occurs twice is an error, because
 * one of its two contents would be lost. `changes` is a log, in which the last change of each path counts. So the
 * whole log is read into memory before indexing starts. A host with much content should supply functions that return
 * the content. A repository that does not exist yet may also be created with `changes`.
 */

import { invalid } from "../../base/errors.ts";
import type { RepositoryMetadata } from "../../store/format/records.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { Slice } from "../../base/yield.ts";
import { checkedMetadata, checkedName, checkedOptions, formatValue } from "./metadata.ts";
import { isValidPath, printablePath } from "../../base/paths.ts";
import type { Content, Entry, Indexed, Listing, ListingOptions, Source } from "./source.ts";

/**
 * A file that the host supplies to documents().
 *
 * @example
 * const page: Document = { path: "wiki/start.md", version: "17", content: () => "# Start" };
 */
export interface Document {
  /** The relative path, with '/' between folders; at most 4 096 bytes of UTF-8. */
  path: string;
  /**
   * The content, as text, as bytes, or as a function that returns one of them. A function is called only if `version`
   * is new or absent.
   */
  content: string | Uint8Array | (() => string | Uint8Array | Promise<string | Uint8Array>);
  /** The version of the content. If it equals the indexed version of the path, the content is not read again. */
  version?: string;
}

/**
 * A file that the host has removed, for `changes` of documents().
 *
 * @example
 * const gone: RemovedDocument = { path: "wiki/old.md", removed: true };
 * await engine.index(documents({ name: "wiki", changes: [gone] }));
 */
export interface RemovedDocument {
  /** The path that the document had. */
  path: string;
  /** Marks the file as removed. */
  removed: true;
}

/**
 * Options of documents(). `files` are all files of the repository, and `changes` are only its differences from the
 * index.
 *
 * @example
 * const whole: DocumentsOptions = { name: "wiki", files: [{ path: "start.md", content: "# Start" }] };
 */
export type DocumentsOptions = RepositoryMetadata & {
  /** The repository's name, which identifies it from run to run. */
  name: string;
} & (
    | {
        /**
         * All files of the repository, which are read as a stream. If a path occurs twice, index() rejects with
         * INVALID_REQUEST.
         */
        files: Iterable<Document> | AsyncIterable<Document>;
      }
    | {
        /** The changes to the indexed files. If a path occurs several times, its last change counts. */
        changes: Iterable<Document | RemovedDocument> | AsyncIterable<Document | RemovedDocument>;
      }
  );

type Several<T> = Iterable<T> | AsyncIterable<T>;

const BATCH = 256;
const HEAD = "HEAD";
const REVISIONS = [0] as const;
const encoder = new TextEncoder();

/**
 * Makes a source of files that the host supplies. Its only revision is 'HEAD'. With `files`, every indexed path that
 * is not among them is removed from the index. With `changes`, an indexed path that is not among them stays as it is.
 *
 * @example
 * await engine.index(documents({ name: "wiki", files: [{ path: "start.md", content: "# Start" }] }));
 * await engine.index(documents({ name: "wiki", changes: [{ path: "start.md", removed: true }] }));
 */
export function documents(options: DocumentsOptions): Source {
  checkedOptions("documents", options, ["files", "changes"]);
  const given = { files: undefined, changes: undefined, ...options };
  const name = checkedName("documents", given.name);
  const metadata = checkedMetadata("documents", options);
  if ((given.files === undefined) === (given.changes === undefined)) {
    throw invalid("documents: give either files or changes");
  }
  const field = given.files === undefined ? "changes" : "files";
  const items = checkedIterable(field, given[field]);
  let opened = false;
  return {
    name,
    metadata,
    open: async (indexed, listing) => {
      if (opened && isOneShot(items)) {
        throw invalid(
          `documents: ${field} is an iterator that has been read already; make a new source, or give an array`,
        );
      }
      opened = true;
      return field === "files" ? listFiles(items, listing) : listChanges(items, indexed, listing);
    },
  };
}

function checkedIterable(field: string, value: unknown): Several<unknown> {
  if (typeof value === "object" && value !== null) {
    if (Symbol.iterator in value || Symbol.asyncIterator in value) return value as Several<unknown>;
  }
  throw invalid(`documents: ${field} must be an iterable of documents, not ${formatValue(value)}`);
}

// returns whether `items` is an iterator, such as a generator; reading it a second time would yield nothing, and an
// empty list would remove all files from the index
function isOneShot(items: Several<unknown>): boolean {
  if (Symbol.asyncIterator in items) {
    return (items[Symbol.asyncIterator]() as unknown) === items;
  }
  return (items[Symbol.iterator]() as unknown) === items;
}

function listFiles(items: Several<unknown>, options: ListingOptions): Listing {
  return {
    revisions: [{ name: HEAD }],
    entries: async function* () {
      const slice = new Slice({ signal: options.signal });
      const positions = new Map<string, number>();
      let batch: Entry[] = [];
      let position = 0;
      for await (const item of items) {
        if (slice.isOver) await slice.rest();
        const at = `files[${position}]`;
        const document = checkedItem(at, item);
        if (isRemoval(document))
          throw invalid(`documents: ${at} is a removal, which is allowed only in changes`);
        const first = positions.get(document.path);
        if (first !== undefined) {
          throw invalid(
            `documents: ${at} has the path of files[${first}], ${formatValue(document.path)}`,
          );
        }
        positions.set(document.path, position++);
        if (batch.push(entryOf(at, document, options)) < BATCH) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
    close: async () => {},
  };
}

function listChanges(items: Several<unknown>, indexed: Indexed, options: ListingOptions): Listing {
  const hasBase = indexed.revisions.some((revision) => revision.name === HEAD);
  return {
    revisions: [hasBase ? { name: HEAD, base: HEAD } : { name: HEAD }],
    entries: async function* () {
      const words = await lastWords(items, options.signal);
      const slice = new Slice({ signal: options.signal }); // determining the size of a long text takes milliseconds
      let batch: Entry[] = [];
      for (const [path, { at, item }] of words) {
        if (slice.isOver) await slice.rest();
        if (!isRemoval(item)) batch.push(entryOf(at, item, options));
        else if (hasBase) {
          batch.push({ kind: "removed", path: nameInList(path), revisions: REVISIONS });
        }
        if (batch.length < BATCH) continue;
        yield batch;
        throwIfAborted(options.signal);
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
    close: async () => {},
  };
}

type Item = Document | RemovedDocument;

async function lastWords(items: Several<unknown>, signal: AbortSignal) {
  const slice = new Slice({ signal: signal });
  const words = new Map<string, { at: string; item: Item }>();
  let position = 0;
  for await (const value of items) {
    if (slice.isOver) await slice.rest();
    const at = `changes[${position++}]`;
    const item = checkedItem(at, value);
    words.set(item.path, { at, item });
  }
  return words;
}

function isRemoval(item: Item): item is RemovedDocument {
  return "removed" in item && item.removed === true;
}

function checkedItem(at: string, item: unknown): Item {
  if (typeof item !== "object" || item === null) {
    throw invalid(
      `documents: ${at} must be an object with path and content, not ${formatValue(item)}`,
    );
  }
  const { path, content, version, removed } = item as Partial<Document & RemovedDocument>;
  if (typeof path !== "string") throw invalid(`documents: ${at}.path must be a string`);
  if (removed !== undefined && typeof removed !== "boolean") {
    throw invalid(`documents: ${at}.removed must be true, not ${formatValue(removed)}`);
  }
  if (removed === true) {
    if (content === undefined) return { path, removed };
    throw invalid(`documents: ${at} has both removed and content; give only one of them`);
  }
  if (version !== undefined && typeof version !== "string") {
    throw invalid(`documents: ${at}.version must be a string, not ${formatValue(version)}`);
  }
  if (!isContent(content) && typeof content !== "function") {
    throw invalid(
      `documents: ${at}.content must be a string, bytes or a function that returns one of them, not ${formatValue(content)}`,
    );
  }
  return version === undefined ? { path, content } : { path, content, version };
}

function isContent(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

function nameInList(path: string): string {
  return isValidPath(path) ? path : printablePath(path);
}

function entryOf(at: string, document: Document, { maxFileSize }: ListingOptions): Entry {
  const { path, content, version } = document;
  if (!isValidPath(path)) {
    return {
      kind: "skipped",
      path: printablePath(path),
      revisions: REVISIONS,
      reason: "invalid-path",
    };
  }
  const size = isContent(content) ? sizeOf(content) : undefined;
  if (size !== undefined && size > maxFileSize) {
    return { kind: "skipped", path, revisions: REVISIONS, reason: "too-large" };
  }
  return {
    kind: "file",
    path,
    revisions: REVISIONS,
    ...(version === undefined ? {} : { version }),
    ...(size === undefined ? {} : { size }),
    content: contentOf(at, content),
  };
}

function sizeOf(content: string | Uint8Array): number {
  return typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
}

/** Encodes a text as UTF-8. Lone surrogates become U+FFFD. */
function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? encoder.encode(content) : content;
}

// a string is encoded only when its content is needed
function contentOf(at: string, content: Document["content"]): Content {
  if (content instanceof Uint8Array) return { bytes: content };
  if (typeof content === "string") return { read: () => toBytes(content) };
  return {
    read: async () => {
      const result: unknown = await content();
      if (isContent(result)) return toBytes(result);
      throw invalid(
        `documents: ${at}.content() must return a string or bytes, not ${formatValue(result)}`,
      );
    },
  };
}
