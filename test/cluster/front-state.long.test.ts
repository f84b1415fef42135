/** A front whose two queries about a generation both fail, as they do while PostgreSQL hangs. */

import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Catalog } from "../../src/cluster/catalog/catalog.ts";
import type { Membership } from "../../src/cluster/catalog/nodes.ts";
import { EMPTY_MANIFEST } from "../../src/store/catalog/manifest.ts";
import { FrontStates } from "../../src/cluster/front/front-state.ts";

const NOBODY: Membership = { nodes: [], ready: [] };

test.each(["head", "generations"])(
  "no rejection is unhandled if the request for %s fails last",
  async (last) => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    let calls = 0;
    const failing = async (what: string): Promise<never> => {
      for (let i = 0; i < (what === last ? 3 : 1); i++) await turn();
      throw new Error(`${what}: timeout`);
    };
    const catalog = {
      generations: () =>
        calls++ === 0 ? Promise.resolve(new Map([[1, 2]])) : failing("generations"),
      head: () => failing("head"),
    } as unknown as Catalog;
    await expect(new FrontStates(catalog).bring(NOBODY)).rejects.toThrow("generations: timeout");
    for (let i = 0; i < 5; i++) await turn();
    expect(unhandled).toEqual([]);
  },
);

test("the same rows give the same state without another query", async () => {
  const asked = { heads: 0 };
  const head = { shard: 1, slices: 1, segments: [], repositories: EMPTY_MANIFEST.repositories };
  const published = new Map([[1, 2]]);
  const catalog = {
    generations: () => Promise.resolve(published),
    head: (_: number, generation: number) => {
      asked.heads++;
      return Promise.resolve({ ...head, generation });
    },
  } as unknown as Catalog;
  const states = new FrontStates(catalog);
  const first = await states.bring(NOBODY);
  expect(await states.bring({ nodes: [], ready: [] })).toBe(first);
  expect(asked.heads).toBe(1);
  published.set(1, 3);
  const next = await states.bring(NOBODY);
  expect(next.shards.get(1)?.head.generation).toBe(3);
  expect(asked.heads).toBe(2);
});
