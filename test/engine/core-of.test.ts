/** Doors get the core of an engine only if a host has changed nothing about the engine. Otherwise they ask the host. */

import { expect, test, vi } from "vitest";
import { coreOf } from "../../src/core-of.ts";
import { createHandler } from "../../src/http/handler.ts";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "./opened.ts";
import { clientOf, post } from "../http/service.ts";

/** The ways in which a host may change an engine. Each reports the names of the methods that are called. */
const CHANGES: Record<string, (engine: Engine, called: (name: string) => void) => Engine> = {
  "replaces a method": (engine, called) => {
    const search = engine.search.bind(engine);
    engine.search = (...asked) => {
      called("search");
      return search(...asked);
    };
    return engine;
  },
  "spies on a method": (engine, called) => {
    const search = engine.search.bind(engine);
    vi.spyOn(engine, "search").mockImplementation((...asked) => {
      called("search");
      return search(...asked);
    });
    return engine;
  },
  "wraps it in a Proxy": (engine, called) =>
    new Proxy(engine, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          called(String(name));
          return (value as (...given: unknown[]) => unknown).apply(target, given);
        };
      },
    }),
  "wraps it in an object": (engine, called) => ({
    ...(Object.fromEntries(
      METHODS.map((name) => [
        name,
        (...given: never[]): unknown => {
          called(name);
          return (engine[name] as (...given: never[]) => unknown)(...given);
        },
      ]),
    ) as Pick<Engine, (typeof METHODS)[number]>),
    path: engine.path,
    generation: engine.generation,
    [Symbol.asyncDispose]: () => engine.close(),
  }),
  "inherits from it": (engine, called) =>
    Object.assign(Object.create(engine) as Engine, {
      search: (...asked: Parameters<Engine["search"]>) => {
        called("search");
        return engine.search(...asked);
      },
      explain: engine.explain.bind(engine),
      read: engine.read.bind(engine),
      list: engine.list.bind(engine),
      repository: engine.repository.bind(engine),
      repositories: engine.repositories.bind(engine),
      history: engine.history.bind(engine),
    }),
};

const METHODS = [
  "index",
  "search",
  "stream",
  "explain",
  "find",
  "definitionsOf",
  "usesOf",
  "streamUses",
  "callersOf",
  "implementationsOf",
  "repository",
  "repositories",
  "read",
  "list",
  "backup",
  "workspace",
  "history",
  "remove",
  "compact",
  "check",
  "trim",
  "close",
] as const;

async function filled(): Promise<Engine> {
  const engine = await openEngine();
  const files = ["a.txt", "lib/b.txt"].map((path) => ({ path, content: "needle\n" }));
  await engine.index(documents({ name: "r", files, public: true }));
  return engine;
}

const asked = { query: "repo:^r$ or repo:nowhere or needle", matches: 10 };

/** What the doors ask a core, beyond the public methods. */
async function answers(engine: Engine): Promise<unknown> {
  const core = coreOf(engine);
  const view = core.view({});
  const page = { query: "", sort: "name", direction: "asc", skip: 0, limit: 9 } as const;
  const { repositories, total } = await core.repositories.page(page);
  const response = await view.begin(asked);
  return {
    found: "files" in response && response.files,
    notIndexed: await view.notIndexed({ query: "repo:nowhere", matches: 0 }),
    paths: (await view.paths({ repository: "r" }))?.toSorted(),
    noPaths: await view.paths({ repository: "nowhere" }),
    publicIds: await core.repositories.publicIds(),
    names: [repositories.map(({ name }) => name), total],
    one: (await core.repositories.find("r", undefined))?.name,
    none: await core.repositories.find("r", { repositoryIds: new Set() }),
  };
}

test("an engine as it was opened gives its own core", async () => {
  const engine = await filled();
  expect(coreOf(engine)).toBe(coreOf(engine));
  expect(coreOf(engine).observed).toBeDefined();
});

test.each(Object.entries(CHANGES))("if a host %s, its methods are called", async (_, change) => {
  const own = await answers(await filled());
  const called = new Set<string>();
  const engine = change(await filled(), (name) => called.add(name));
  expect(coreOf(engine).observed).toBeUndefined();
  expect(await answers(engine)).toEqual(own);
  expect(called).toContain("search");
  called.clear();
  const client = clientOf(createHandler(engine, { anonymous: "all" }));
  const response = await client("/api/search", post({ query: "needle", matches: 10 }));
  expect(response.status).toBe(200);
  expect(called).toContain("search");
});

test("a method that is replaced after a handler was created is called", async () => {
  const engine = await filled();
  const client = clientOf(createHandler(engine, { anonymous: "all" }));
  const search = vi.spyOn(engine, "search");
  const ask = () => client("/api/search", post({ query: "needle", matches: 10 }));
  expect((await ask()).status).toBe(200);
  expect(search).toHaveBeenCalledTimes(1);
  search.mockRestore();
  Reflect.deleteProperty(engine, "search");
  expect((await ask()).status).toBe(200);
  expect(coreOf(engine).observed).toBeDefined();
});

test("a closed engine refuses through its core, too", async () => {
  const engine = await filled();
  const core = coreOf(engine);
  await engine.close();
  const calls = [
    () => core.view({}).begin(asked),
    () => core.view({}).notIndexed(asked),
    () => core.view({}).paths({ repository: "r" }),
    () => core.history("r", undefined),
    () => core.repositories.publicIds(),
    () => core.index([], {}),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "ENGINE_CLOSED" });
});
