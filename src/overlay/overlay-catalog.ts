/**
 * The catalog with an overlay on top: for each document the indexed files of its path are no longer
 * named by the default revision, and its text in a layer is. Everything behind it works on that catalog as
 * on any other.
 */

import { filesOfRepository } from "../store/segments/segment-tables.ts";
import { clearBit, emptyBitset, setBit, type Bitset } from "../base/bitset.ts";
import { QuernError } from "../base/errors.ts";
import type { Catalog, CatalogRepository, Place } from "../store/catalog/catalog.ts";
import type { FileFacts, FoundFile } from "../store/catalog/repository-files.ts";
import type { View } from "../store/catalog/view.ts";
import type { SkippedFile } from "../store/format/records.ts";
import { LAYER_EDITION, type Layer } from "./layer-task.ts";

/** Where a document's text stands. */
export interface LayeredText extends FileFacts {
  readonly layer: Layer;
  /** 0-based file of the layer's segment. */
  readonly file: number;
  /** Whether there was no such file on the disk any more when it was read. */
  readonly isGone: boolean;
}

export interface PlacedDocument {
  readonly repository: CatalogRepository;
  readonly path: string;
  /** undefined: the path is removed. */
  readonly text: LayeredText | undefined;
}

/** Finds the files of a place under each of some paths. */
export type FindFiles = (
  place: Place,
  paths: readonly string[],
) => readonly (readonly FoundFile[])[];

export function overlaidView(
  catalog: Catalog,
  documents: readonly PlacedDocument[],
  find: FindFiles,
): View {
  const layers = new Set(documents.flatMap(({ text }) => (text ? [text.layer] : [])));
  const groups = byRepository(documents);
  const overlaid = Array.from(groups, ([repository, own]) => {
    return [repository.record.id, withDocuments(repository, own, find)] as const;
  });
  const repositories = catalog.repositories.with(overlaid);
  const headers = new Map(catalog.headers);
  const segments = [...catalog.manifest.segments];
  for (const { packed, header } of layers) {
    const { segment } = packed;
    headers.set(segment, header);
    const { files, textBytes } = header;
    segments.push({ segment, files, textBytes, symbols: LAYER_EDITION, hasSymbols: true });
  }
  return {
    catalog: { ...catalog, manifest: { ...catalog.manifest, segments }, repositories, headers },
    packed: Array.from(layers, ({ packed }) => packed),
    skipped: (id, indexed) => {
      const repository = catalog.repositories.get(id)!;
      return withSkipped(indexed, repository, groups.get(repository) ?? []);
    },
  };
}

/** Of the documents' paths in the default revision, what the documents say. */
function withSkipped(
  indexed: readonly SkippedFile[],
  { record }: CatalogRepository,
  documents: readonly PlacedDocument[],
): SkippedFile[] {
  const revision = record.revisions[0]!.name;
  const paths = new Set(documents.map(({ path }) => path));
  const others = indexed.filter((file) => file.revision !== revision || !paths.has(file.path));
  const own = documents.flatMap(({ path, text }) =>
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

/**
 * Where content of that path is indexed already, for another revision or unchanged, the default revision
 * names that: equal path and content are one file.
 */
function withDocuments(
  repository: CatalogRepository,
  documents: readonly PlacedDocument[],
  find: FindFiles,
): CatalogRepository {
  const indexed = new Set<PlacedDocument>();
  const paths = documents.map(({ path }) => path);
  const places = repository.places.map((place): Place => {
    const named = place.sets[0]?.slice() ?? emptyBitset(place.count);
    find(place, paths).forEach((files, i) => {
      const document = documents[i]!;
      for (const { index, hash } of files) {
        clearBit(named, index);
        if (document.text?.hash !== hash || indexed.has(document)) continue;
        setBit(named, index);
        indexed.add(document);
      }
    });
    return { ...place, sets: [named, ...place.sets.slice(1)] };
  });
  const layered = documents.filter((document) => !indexed.has(document));
  return { ...repository, places: [...places, ...layerPlaces(repository, layered)] };
}

function layerPlaces({ record }: CatalogRepository, documents: readonly PlacedDocument[]): Place[] {
  const places = new Map<Layer, Place & { readonly sets: Sets }>();
  for (const { text } of documents) {
    if (!text) continue;
    const { layer, file } = text;
    let place = places.get(layer);
    if (!place) {
      const { first, count } = filesOfRepository(layer.header, record.id)!;
      const sets: Sets = record.revisions.map(() => undefined);
      sets[0] = emptyBitset(count);
      place = { segment: layer.packed.segment, first, count, sets };
      places.set(layer, place);
    }
    setBit(place.sets[0]!, file - place.first);
  }
  return [...places.values()];
}

export const unknownRepository = (name: string): QuernError =>
  new QuernError(
    "INVALID_REQUEST",
    `overlay: there is no repository ${JSON.stringify(name)}; index it first`,
  );
