/**
 * Trees and lists of all files, which are made from one list of paths, equal those made by listing folder by folder.
 */

import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { RUNS, isInTurn } from "../runs.ts";
import { openEngine } from "./engine.ts";
import { clientOf, post } from "./service.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine([]);
});
afterAll(() => engine.close());

/** Returns a wrapper of an engine, as a host may make it, with only the methods of the interface. */
const wrapped = (): Engine =>
  new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });

async function answers(of: Engine, paths: readonly string[]): Promise<unknown[]> {
  const client = clientOf(createHandler(of, { anonymous: "all" }));
  const asked = { repoName: "r", revisionName: "HEAD" };
  const [tree, files] = await Promise.all([
    client("/api/tree", post({ ...asked, paths })),
    client("/api/files", post(asked)),
  ]);
  return [tree.status, await tree.json(), files.status, await files.json()];
}

// few names, of which some sort differently as parts of paths than as texts; a folder may have a file's name
const part = fc.constantFrom("a", "b", "a!", "a.c", "ab", "é");
const path = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));

test("lists any paths as the folder-by-folder listing does", async () => {
  const rows = fc.asyncProperty(
    fc.uniqueArray(path, { minLength: 1, maxLength: 20 }),
    fc.array(path, { minLength: 5, maxLength: 20 }),
    async (paths, more) => {
      const files = paths.map((one) => ({ path: one, content: "x" }));
      await engine.index(documents({ name: "r", files }), { symbols: "skip" });
      const opened = [...paths, ...more, ...more, "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r"];
      expect(await answers(engine, opened)).toEqual(await answers(wrapped(), opened));
    },
  );
  await fc.assert(rows, { numRuns: 10 * RUNS });
});

test.runIf(isInTurn(3, 1))("a tree that is too long for an answer is rejected", async () => {
  const deep = Array.from({ length: 10 }, (_, i) => `${i}/${"a/".repeat(1_900)}x`);
  const files = deep.map((one) => ({ path: one, content: "x" }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  for (const of of [engine, wrapped()]) {
    const [status, body] = await answers(of, deep);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      message:
        "the paths in these folders have more than 33554432 characters; ask for fewer folders",
    });
  }
  expect((await answers(engine, deep.slice(0, 2)))[0]).toBe(200);
});
