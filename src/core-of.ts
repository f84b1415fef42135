/**
 * Gives the doors of this package the core of an engine. If a host has wrapped the engine or replaced one of its
 * methods, for example to log its searches, the doors must not go past the host. They then get a core that calls only
 * the public methods, so the answers stay correct. Some of them take longer.
 */

import { findOptions } from "./find/request.ts";
import type { CoreView, EngineCore, RepositoryLists } from "./engine-core.ts";
import type { Engine } from "./engine.ts";
import { navigationOptions } from "./navigation/request.ts";
import { comparing, type ListQuestion, type RepositoryPage } from "./repositories.ts";
import type { SearchOptions, Viewer } from "./search/messages/request.ts";

/** The key under which an engine offers its core. A host may load `quern` and `quern/http` in different formats. */
export const CORE: unique symbol = Symbol.for("quern.core");

export interface OffersCore {
  readonly [CORE]:
    | {
        readonly engine: object;
        readonly core: EngineCore;
        /** The methods of the engine's class. */
        readonly methods: readonly (readonly [name: string, method: unknown])[];
      }
    | undefined;
}

/** The public methods of an engine that doors use. */
type PublicEngine = Omit<Engine, typeof Symbol.asyncDispose>;

/** Returns the core of an engine if all of its methods are those of its class. Otherwise, returns a public core. */
export function coreOf(engine: PublicEngine): EngineCore {
  const offer = (engine as PublicEngine & Partial<OffersCore>)[CORE];
  const isOwn = ([name, method]: readonly [string, unknown]): boolean =>
    (engine as unknown as Record<string, unknown>)[name] === method;
  // a Proxy may have the class's methods, but it is another object
  return offer?.engine === engine && offer.methods.every(isOwn) ? offer.core : publicCore(engine);
}

/** Returns a core that calls only the public methods of an engine. */
function publicCore(engine: PublicEngine): EngineCore {
  const core: EngineCore = {
    path: engine.path,
    generation: () => engine.generation,
    view: (options) => publicView(engine, options),
    repositories: publicLists(engine),
    history: (repository, viewer) => engine.history(repository, optional(viewer)),
    index: (source, { signal, onProgress, symbols }) =>
      engine.index(source, {
        ...(signal && { signal }),
        ...(onProgress && { onProgress }),
        ...(symbols && { symbols }),
      }),
    remove: (repository) => engine.remove(repository),
    compact: ({ signal, onProgress }) =>
      engine.compact({ ...(signal && { signal }), ...(onProgress && { onProgress }) }),
    backup: (folder, options) => engine.backup(folder, options),
    workspace: (path, options) => engine.workspace(path, options),
    upToDate: () => core,
    without: undefined,
    check: (options) => engine.check(options),
    trim: () => engine.trim(),
    observed: undefined,
    reach: undefined,
    metrics: async () => [],
    isClosed: () => false,
    close: () => engine.close(),
  };
  return core;
}

function publicView(engine: PublicEngine, options: SearchOptions): CoreView {
  const { viewer, overlay } = options;
  const reading = { ...optional(viewer), ...(overlay && { overlay }) };
  const list: CoreView["list"] = (folder) => engine.list(folder, reading);
  return {
    search: (request) => engine.search(request, options),
    begin: (request) => engine.search(request, options),
    stream: (request) => engine.stream(request, options),
    explain: (request) => engine.explain(request, options),
    find: (request) => engine.find(request, findOptions(options)),
    navigate: ({ ask, target, checked: { depth, ...more } }) => {
      const own = { ...findOptions(options), ...navigationOptions(more) };
      switch (ask) {
        case "definitions":
          return engine.definitionsOf(target, own);
        case "uses":
          return engine.usesOf(target, own);
        case "callers":
          return engine.callersOf(target, { ...own, depth });
        case "implementations":
          return engine.implementationsOf(target, own);
      }
    },
    streamUses: ({ target, checked }) =>
      engine.streamUses(target, { ...findOptions(options), ...navigationOptions(checked) }),
    notIndexed: async (request) =>
      (await engine.explain({ ...request, matches: 0 }, options)).notIndexed.filter(
        ({ reason }) => reason !== "files-skipped",
      ),
    read: (file) => engine.read(file, reading),
    list,
    paths: (revision) => pathsBelow({ ...revision, path: "" }, list),
  };
}

/** Lists the files below a folder, one folder after another. Resolves to undefined if the folder does not exist. */
async function pathsBelow(
  folder: Parameters<CoreView["list"]>[0],
  list: CoreView["list"],
): Promise<string[] | undefined> {
  const entries = await list(folder);
  if (!entries) return undefined;
  const paths: string[] = [];
  for (const { type, path } of entries)
    if (type === "file") paths.push(path);
    else for (const one of (await pathsBelow({ ...folder, path }, list)) ?? []) paths.push(one);
  return paths;
}

const publicLists = (engine: PublicEngine): RepositoryLists => ({
  async publicIds() {
    const all = await engine.repositories();
    return new Set(all.filter((one) => one.public).map(({ id }) => id));
  },
  find: (nameOrId, viewer) => engine.repository(nameOrId, optional(viewer)),
  page: async (question) =>
    pageAmong(await engine.repositories(optional(question.viewer)), question),
  describe: (nameOrId, viewer) => engine.repository(nameOrId, optional(viewer)),
  describeAll: (page) => engine.repositories(page),
});

function pageAmong(
  all: RepositoryPage["repositories"],
  { query, among, skip, limit, ...order }: ListQuestion,
): RepositoryPage {
  const wanted = query.toLowerCase();
  const names = among && new Set(among);
  const found = all
    .filter(({ name, displayName = "" }) =>
      [name, displayName].some((text) => text.toLowerCase().includes(wanted)),
    )
    .filter(({ name }) => names?.has(name) ?? true)
    .sort(comparing(order));
  return { repositories: found.slice(skip, skip + limit), total: found.length };
}

const optional = (viewer: Viewer | undefined): { viewer?: Viewer } => (viewer ? { viewer } : {});
