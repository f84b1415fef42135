/** A front whose two queries about a generation both fail, as they do while PostgreSQL hangs. */

import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Catalog } from "../../src/cluster/catalog/catalog.ts";
import type { Membership } from "../../src/cluster/catalog/nodes.ts";
import { FrontStates } from "../../src/cluster/front/front-state.ts";

const NOBODY: Membership = { nodes: [], ready: [] };

test.each(["head", "generations"])(
  "nothing stays unhandled if the request for %s fails last",
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
