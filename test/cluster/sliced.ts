/** Parts of one index as engines of their own, and a front that joins their answers. */

import { IdMap } from "../../src/base/wide-map.ts";
import { packageFile } from "../../src/base/package-file.ts";
import { newPause } from "../../src/base/yield.ts";
import { chooseHeads, joinShown, sumHeads } from "../../src/cluster/front/merge-heads.ts";
import type { Engine } from "../../src/engine.ts";
import { Searching } from "../../src/search/caller/searching.ts";
import {
  findHeads,
  showHeads,
  type Heads,
  type HeadsPage,
  type HeadToShow,
  type ShownHeads,
} from "../../src/search/caller/heads.ts";
import { cursorsOf } from "../../src/search/caller/pages.ts";
import { defaultWebUrl } from "../../src/search/caller/present.ts";
import type { Contexts } from "../../src/search/caller/understand.ts";
import {
  checkRequest,
  type SearchOptions,
  type SearchRequest,
} from "../../src/search/messages/request.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { SEARCH_TASKS } from "../../src/search/thread/tasks.ts";
import { loadCatalog, type Catalog } from "../../src/store/catalog/catalog.ts";
import { orderNames } from "../../src/store/catalog/names.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import { viewOf, type View } from "../../src/store/catalog/view.ts";
import { createPool } from "../../src/threads/pool.ts";

/** Resolves to a catalog of some segments. It lacks the repositories that have no files in these segments. */
async function sliceOf(catalog: Catalog, has: (segment: number) => boolean): Promise<Catalog> {
  const { manifest } = catalog;
  const inParts = [...catalog.repositories].flatMap(([id, one]) => {
    const places = one.places.filter(({ segment }) => has(segment));
    return places.length > 0 ? [[id, { ...one, places }] as const] : [];
  });
  const repositories = await IdMap.from(inParts, manifest.nextRepository, newPause());
  const named = [...repositories.values()].map(({ record }) => ({
    id: record.id,
    name: record.name,
    displayName: record.metadata.displayName,
  }));
  return {
    ...catalog,
    repositories,
    manifest: { ...manifest, segments: manifest.segments.filter(({ segment }) => has(segment)) },
    names: await orderNames(named, manifest.nextRepository, newPause()),
  };
}

/** A request to some of the parts. */
export interface AskedOfParts {
  readonly view: View;
  readonly request: SearchRequest;
  readonly options: SearchOptions;
}

export interface Sliced {
  heads(asked: AskedOfParts, page: HeadsPage | undefined): Promise<Heads>;
  showHeads(asked: AskedOfParts, files: readonly HeadToShow[]): Promise<ShownHeads>;
  /** Resolves to the newest generation. */
  newest(): Promise<Catalog>;
  /** Resolves to what some of the parts have together. Segments are dealt to the parts in turn. */
  partsOf(catalog: Catalog, some: readonly number[], parts: number): Promise<View>;
  /** Searches the directory in this many parts. */
  search(
    parts: number,
    first: number,
    request: SearchRequest,
    options?: SearchOptions,
  ): Promise<SearchResponse>;
  close(): Promise<void>;
}

export async function sliced(engine: Engine, contexts?: Contexts): Promise<Sliced> {
  const environment = await openStore(engine.path, { readOnly: true });
  const pool = createPool({
    size: 0,
    entry: packageFile("worker.js"),
    tasks: SEARCH_TASKS,
    environment: { path: environment.path, readOnly: true, opened: environment },
    onWarning: () => {},
  });
  const searching = new Searching({
    pool,
    webUrl: defaultWebUrl,
    contexts,
    onWarning: () => {},
    indexing: () => new Set(),
    skipped: () => Promise.resolve([]),
  });
  const newest = async (): Promise<Catalog> => {
    const snapshot = environment.snapshot();
    try {
      return await loadCatalog(snapshot, undefined, newPause());
    } finally {
      snapshot.close();
    }
  };
  const partsOf = async (
    catalog: Catalog,
    some: readonly number[],
    [parts, first]: readonly [parts: number, first: number],
  ): Promise<View> => {
    const places = new Map(catalog.manifest.segments.map(({ segment }, i) => [segment, i]));
    const isOwn = (segment: number) => some.includes((places.get(segment)! + first) % parts);
    return viewOf(await sliceOf(catalog, isOwn));
  };
  const question = ({ view, ...asked }: AskedOfParts) =>
    searching.understand({ ...asked, view: async () => view });
  const heads: Sliced["heads"] = async (asked, page) =>
    searching.answer(await question(asked), (one) => findHeads(searching, one, page));
  const show: Sliced["showHeads"] = async (asked, files) =>
    searching.answer(await question(asked), (one) => showHeads(searching, one, files));
  return {
    heads,
    showHeads: show,
    newest,
    partsOf: (catalog, some, parts) => partsOf(catalog, some, [parts, 0]),
    async search(parts, first, request, options = {}) {
      const catalog = await newest();
      const views: View[] = [];
      for (let part = 0; part < parts; part++)
        views.push(await partsOf(catalog, [part], [parts, first]));
      const { after, ...rest } = request;
      const checked = checkRequest(request);
      const cursors =
        after === undefined ? undefined : cursorsOf({ ...checked, after }, Buffer.alloc(8));
      const page = cursors && { ...(cursors.after && { after: cursors.after }) };
      const pause = newPause();
      const found = await Promise.all(
        views.map((view) => heads({ view, request: rest, options }, page)),
      );
      const chosen = await chooseHeads(found, request.matches, { cursors, pause });
      const shown = await Promise.all(
        views.map((view, part) => {
          const own = chosen.files.filter((file) => file.part === part);
          const files = own.map(({ head }) => head);
          return show({ view, request: rest, options }, files);
        }),
      );
      const answer = joinShown(chosen, shown, options.maxBytes);
      return sumHeads(found, shown, {
        answer,
        facets: request.facets,
        cursors,
        duration: 0,
        pause,
      });
    },
    async close() {
      await pool.close();
      await environment.close();
    },
  };
}
