/**
 * Makes a catalog that contains an overlay. For each document, its revisions (by default, the first one) contain the document's text, which
 * is in a layer, instead of the indexed files with the document's path. A search treats this catalog like any other.
 */

import { filesOfRepository } from "../store/segments/segment-tables.ts";
import { clearBit, emptyBitset, setBit, type Bitset } from "../base/bitset.ts";
import { QuernError } from "../base/errors.ts";
import type { CatalogRepository, Place } from "../store/catalog/catalog.ts";
import type { FileFacts, FoundFile } from "../store/catalog/repository-files.ts";
import type { View } from "../store/catalog/view.ts";
import type { SkippedFile } from "../store/format/records.ts";
import { LAYER_EDITION, type Layer } from "./layer-task.ts";

/** The place of a document's text in a layer, with the facts about the file that contains it. */
export interface LayeredText extends FileFacts {
  readonly repository: number;
  readonly layer: Layer;
  /** The number of the file in the layer's segment, starting at 0. */
  readonly file: number;
  /** Whether the file no longer existed when it was read. */
  readonly isGone: boolean;
}

export interface PlacedDocument {
  readonly repository: CatalogRepository;
  readonly path: string;
  /** The names of the revisions in which the text replaces the file. Default: only the first one. */
  readonly revisions?: readonly string[] | undefined;
  /** The text that replaces the file. Undefined if the document removes the path. */
  readonly text: LayeredText | undefined;
}

/** Finds, for each path, the files of the place that have this path. */
export type FindFiles = (
  place: Place,
  paths: readonly string[],
) => Promise<readonly (readonly FoundFile[])[]>;

export async function overlaidView(
  below: View,
  documents: readonly PlacedDocument[],
  find: FindFiles,
): Promise<View> {
  const { catalog } = below;
  const layers = new Set(documents.flatMap(({ text }) => (text ? [text.layer] : [])));
  const groups = byRepository(documents);
  const overlaid: [number, CatalogRepository][] = [];
  for (const [repository, own] of groups)
    overlaid.push([repository.record.id, await withDocuments(repository, own, find)]);
  const repositories = catalog.repositories.with(overlaid);
  const headers = new Map(catalog.headers);
  const segments = [...catalog.manifest.segments];
  for (const { packed, header, isPlain } of layers) {
    const { segment } = packed;
    headers.set(segment, header);
    const { files, textBytes } = header;
    const symbols = isPlain ? 0 : LAYER_EDITION;
    segments.push({ segment, files, textBytes, symbols, hasSymbols: !isPlain });
  }
  return {
    catalog: { ...catalog, manifest: { ...catalog.manifest, segments }, repositories, headers },
    packed: [...below.packed, ...Array.from(layers, ({ packed }) => packed)],
    skipped: (id, indexed) => {
      const repository = catalog.repositories.get(id)!;
      return withSkipped(below.skipped(id, indexed), repository, groups.get(repository) ?? []);
    },
  };
}

/**
 * Returns the skipped files of the first revision as the overlay leaves them. A skipped file is removed from the list
 * if a document replaces it. A document that is itself skipped, because it is binary or too large, is added to the
 * list.
 */
function withSkipped(
  indexed: readonly SkippedFile[],
  { record }: CatalogRepository,
  documents: readonly PlacedDocument[],
): SkippedFile[] {
  const revision = record.revisions[0]!.name;
  const first = documents.filter(({ revisions }) => revisions?.includes(revision) ?? true);
  const paths = new Set(first.map(({ path }) => path));
  const others = indexed.filter((file) => file.revision !== revision || !paths.has(file.path));
  const own = first.flatMap(({ path, text }) =>
    text?.skipped ? [{ path, revision, reason: text.skipped }] : [],
  );
  return [...others, ...own];
}

function byRepository(
  documents: readonly PlacedDocument[],
): Map<CatalogRepository, PlacedDocument[]> {
  const groups = new Map<CatalogRepository, PlacedDocument[]>();
  for (const document of documents) {
    const group = groups.get(document.repository);
    if (group) group.push(document);
    else groups.set(document.repository, [document]);
  }
  return groups;
}

type Sets = (Bitset | undefined)[];

/** A document in one revision. */
interface InRevision extends Pick<PlacedDocument, "path" | "text"> {
  /** The index of the revision in the repository's list of revisions. */
  readonly position: number;
}

function inRevisions(
  { record }: CatalogRepository,
  { path, text, revisions }: PlacedDocument,
): InRevision[] {
  if (revisions === undefined) return [{ path, text, position: 0 }];
  return record.revisions.flatMap(({ name }, position) =>
    revisions.includes(name) ? [{ path, text, position }] : [],
  );
}

/**
 * Adds documents to the sets of their revisions. If a file with the same path and content is already indexed, this
 * file is used instead of the document. Such a file belongs to another revision, or is the unchanged file itself.
 */
async function withDocuments(
  repository: CatalogRepository,
  given: readonly PlacedDocument[],
  find: FindFiles,
): Promise<CatalogRepository> {
  const documents = given.flatMap((document) => inRevisions(repository, document));
  const indexed = new Set<InRevision>();
  const paths = documents.map(({ path }) => path);
  const places: Place[] = [];
  for (const place of repository.places) {
    const sets = place.sets.slice();
    for (const position of new Set(documents.map((document) => document.position)))
      sets[position] = sets[position]?.slice() ?? emptyBitset(place.count);
    (await find(place, paths)).forEach((files, i) => {
      const document = documents[i]!;
      const set = sets[document.position]!;
      for (const { index, hash } of files) {
        clearBit(set, index);
        if (document.text?.hash !== hash || indexed.has(document)) continue;
        setBit(set, index);
        indexed.add(document);
      }
    });
    places.push({ ...place, sets });
  }
  const layered = documents.filter((document) => !indexed.has(document));
  return { ...repository, places: [...places, ...layerPlaces(repository, layered)] };
}

function layerPlaces({ record }: CatalogRepository, documents: readonly InRevision[]): Place[] {
  const places = new Map<Layer, Place & { readonly sets: Sets }>();
  for (const { text, position } of documents) {
    if (!text) continue;
    const { layer, file } = text;
    let place = places.get(layer);
    if (!place) {
      const { first, count } = filesOfRepository(layer.header, record.id)!;
      const sets: Sets = record.revisions.map(() => undefined);
      place = { segment: layer.packed.segment, first, count, sets };
      places.set(layer, place);
    }
    setBit((place.sets[position] ??= emptyBitset(place.count)), file - place.first);
  }
  return [...places.values()];
}

export const unknownRepository = (name: string): QuernError =>
  new QuernError(
    "INVALID_REQUEST",
    `overlay: there is no repository ${JSON.stringify(name)}; index it first`,
  );
