/** Checks the documents of an overlay, and identifies each text by a hash. */

import { createHash } from "node:crypto";
import { invalid } from "../base/errors.ts";
import { isValidPath } from "../base/paths.ts";
import type { OverlayDocument } from "../search/messages/request.ts";
import type { LayerContent } from "./layer-task.ts";

/** The maximum total length of the texts of one overlay, in bytes. */
export const MOST_OVERLAY_BYTES = 16 * 2 ** 20;

/** A document of an overlay that was checked. It replaces the indexed content of a path. */
export interface CheckedDocument {
  readonly repository: string;
  readonly path: string;
  /** The names of the revisions in which it does so. Default: only the first one. */
  readonly revisions?: readonly string[];
  /** The text that replaces the file. Undefined if the document removes the path. */
  readonly text: OverlayText | undefined;
}

export interface OverlayText {
  /**
   * Identifies the text. The key is a hash of the repository, the path and the content, or an object that no other text
   * has. Texts with equal keys are indexed only once.
   */
  readonly key: string | object;
  readonly content: LayerContent;
  readonly bytes: number;
  /**
   * Whether the text is indexed without posting lists and symbols, because too many texts have changed. Default false.
   */
  readonly isPlain?: boolean;
}

/** Checks documents. If several documents have the same repository and path, the last one counts. */
export function checkDocuments(given: Iterable<OverlayDocument>): CheckedDocument[] {
  if (typeof given !== "object" || given === null || !(Symbol.iterator in given))
    throw invalid("overlay must be an iterable of documents");
  const documents = new Map<string, CheckedDocument>();
  let [position, bytes] = [0, 0];
  for (const one of given) {
    const document = checkDocument(one, `overlay[${position++}]`);
    const name = nameOf(document);
    bytes += (document.text?.bytes ?? 0) - (documents.get(name)?.text?.bytes ?? 0);
    if (bytes > MOST_OVERLAY_BYTES)
      throw invalid(
        `overlay: the documents have more than ${MOST_OVERLAY_BYTES / 2 ** 20} MiB; index some of them`,
      );
    documents.set(name, document);
  }
  return [...documents.values()];
}

/** Merges two lists of documents. If both contain the same path of a repository, the document of `above` counts. */
export function mergeDocuments(
  below: readonly CheckedDocument[],
  above: readonly CheckedDocument[],
): CheckedDocument[] {
  const documents = new Map(below.map((document) => [nameOf(document), document]));
  for (const document of above) documents.set(nameOf(document), document);
  return [...documents.values()];
}

const nameOf = ({ repository, path }: CheckedDocument): string => `${repository}\0${path}`;

export function checkDocument(given: OverlayDocument, at: string): CheckedDocument {
  if (typeof given !== "object" || given === null) throw invalid(`${at} must be an object`);
  const { repository, path } = given;
  if (typeof repository !== "string" || repository === "")
    throw invalid(`${at}.repository must be the name of a repository`);
  if (typeof path !== "string" || !isValidPath(path))
    throw invalid(
      `${at}.path must be a relative path with "/" between folders, got ${JSON.stringify(path)}`,
    );
  if ("removed" in given && given.removed) return { repository, path, text: undefined };
  if (!("content" in given)) throw invalid(`${at} needs content, or removed: true`);
  return { repository, path, text: textOf(repository, path, given.content, at) };
}

/** Returns a document's text as a copy, because the caller may change its bytes later. */
function textOf(
  repository: string,
  path: string,
  content: string | Uint8Array,
  at: string,
): OverlayText {
  if (typeof content !== "string" && !(content instanceof Uint8Array))
    throw invalid(`${at}.content must be a string or a Uint8Array`);
  const bytes = typeof content === "string" ? Buffer.from(content) : Uint8Array.from(content);
  const key = createHash("sha256")
    .update(`${repository}\0${path}\0`)
    .update(bytes)
    .digest("base64");
  return { key, content: { bytes }, bytes: bytes.length };
}
