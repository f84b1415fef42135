/**
 * Requests about one repository, or a page of repositories, of an index of many: see test/store/many-repositories.ts.
 */

import type { Engine } from "../../src/engine.ts";
import { createHandler, type Handler } from "../../src/http/handler.ts";
import { nameOf } from "../store/many-repositories.ts";

export interface Subject {
  readonly engine: Engine;
  /** A handler that lets anonymous callers see everything. */
  readonly all: Handler;
  /** A handler that shows anonymous callers what is public. */
  readonly public: Handler;
}

/** Returns handlers over the engine, with a connection that has all repositories, half of which are public. */
export function subjectOf(engine: Engine, count: number): Subject {
  const repositories = Object.freeze(Array.from({ length: count }, (_, n) => nameOf(n + 1)));
  const connections = [{ id: 1, name: "all", connectionType: "github" as const, repositories }];
  return {
    engine,
    all: createHandler(engine, { anonymous: "all" }),
    public: createHandler(engine, { anonymous: "public", connections }),
  };
}

const NAME = nameOf(2);
/** A word that is only in the file of repository 2. */
const NEEDLE = "needle_2;";

const get = (handler: Handler, path: string) => handler(new Request(`http://host${path}`));
const post = (handler: Handler, path: string, body: object) =>
  handler(new Request(`http://host${path}`, { method: "POST", body: JSON.stringify(body) }));
const search = (handler: Handler, query: string) =>
  post(handler, "/api/search", { query, matches: 10 });
const SOURCE = `/api/source?repo=${NAME}&path=a.c`;
const TREE = { repoName: NAME, revisionName: "HEAD", paths: [] };

/** Requests about repository 2, or about a page whose length does not depend on what else is indexed. */
export const MANY_REQUESTS: readonly [what: string, ask: (subject: Subject) => Promise<unknown>][] =
  [
    ["repository()", ({ engine }) => engine.repository(NAME)],
    ["repositories(), a page", ({ engine }) => engine.repositories({ limit: 2 })],
    [
      "repositories(), part of a name",
      ({ engine }) => engine.repositories({ query: NAME, limit: 1 }),
    ],
    ["GET /api/version", ({ all }) => get(all, "/api/version")],
    ["search, anonymous all", ({ all }) => search(all, NEEDLE)],
    ["search, anonymous public", (subject) => search(subject.public, NEEDLE)],
    [
      "search in pages",
      (subject) => post(subject.public, "/api/search", { query: NEEDLE, matches: 10, after: "" }),
    ],
    ["search, fork:no", (subject) => search(subject.public, `${NEEDLE} fork:no`)],
    ["search in one repository", ({ all }) => search(all, `${NEEDLE} repo:^${NAME}$`)],
    ["search in what repo: matches", ({ all }) => search(all, `${NEEDLE} repo:repository-2$`)],
    ["search in all that repo: matches", ({ all }) => search(all, `${NEEDLE} repo:repository`)],
    [
      "search with a long repo:",
      ({ all }) => search(all, `${NEEDLE} repo:${"x*".repeat(150)}repository-2$`),
    ],
    ["GET /api/source", ({ all }) => get(all, SOURCE)],
    ["GET /api/source, public", (subject) => get(subject.public, SOURCE)],
    ["POST /api/tree", (subject) => post(subject.public, "/api/tree", TREE)],
    [
      "find_references in one repository",
      (subject) =>
        post(subject.public, "/api/find_references", { symbolName: "needle_2", repoName: NAME }),
    ],
    ["GET /api/repos", (subject) => get(subject.public, "/api/repos?perPage=1")],
    [
      "GET /api/repos, sorted",
      (subject) => get(subject.public, "/api/repos?sort=pushed&direction=desc&perPage=1"),
    ],
    ["GET /api/connections", (subject) => get(subject.public, "/api/connections")],
    [
      "GET /api/repos?connectionId=",
      (subject) => get(subject.public, "/api/repos?connectionId=1&perPage=1"),
    ],
    [
      "GET /api/repos?query=",
      (subject) => get(subject.public, `/api/repos?query=${NAME}&perPage=1`),
    ],
  ];

/** Reads an answer to its end. */
export async function drain(answer: unknown): Promise<void> {
  if (!(answer instanceof Response)) return;
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
}
