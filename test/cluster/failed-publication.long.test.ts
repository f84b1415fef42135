/**
 * A write that fails at any step of its publication leaves the writer's directory with changes that were never
 * published. The next write discards them, and goes on from what was published.
 */

import fc from "fast-check";
import { expect } from "vitest";
import { directorySegments, type SegmentStore } from "../../src/cluster/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";
import { found, newCluster, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const FULL = "the store is full";

/** Returns a store in which some calls of put() fail. `failAfter` sets how many calls succeed before one fails. */
function failingStore() {
  const store = directorySegments(temporaryFolder());
  let left = Infinity;
  const segments: SegmentStore = {
    ...store,
    async put(key, body, bytes) {
      if (left-- === 0) throw new Error(FULL);
      await store.put(key, body, bytes);
    },
  };
  return { segments, failAfter: (calls: number): void => void (left = calls) };
}

test("a run is discarded if only the symbols of a segment cannot be published", async () => {
  const { segments, failAfter } = failingStore();
  const cluster = await newCluster({ segments });
  const machine = await cluster.open();
  await machine.index(shop("other", "needle zero\n"));
  failAfter(1); // the object of the segment can be stored, that of its symbols cannot
  await expect(machine.index(shop("shop", "needle one\n"))).rejects.toThrow(FULL);
  await machine.index(shop("shop", "needle one\n"));
  const fresh = await cluster.open();
  expect(await found(fresh, "needle")).toEqual(["other: needle zero", "shop: needle one"]);
  expect(await fresh.check()).toMatchObject({ ok: true });
});

// ── at random ──

const NAMES = ["a", "b", "c"];
const TEXTS = ["needle one\n", "needle two\n", "needle three\n"];

interface Step {
  readonly repository: string;
  readonly texts: readonly string[];
  /** How many objects are stored before one cannot be stored. */
  readonly failAfter: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  repository: fc.constantFrom(...NAMES),
  texts: fc.subarray(TEXTS),
  failAfter: fc.nat(4),
});

test("random writes that fail at any step succeed when they are repeated", async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (all) => {
    const { segments, failAfter } = failingStore();
    const cluster = await newCluster({ segments });
    const machine = await cluster.open();
    const expected = new Map<string, readonly string[]>();
    for (const { repository, texts, failAfter: calls } of all) {
      const write = async (): Promise<void> => {
        if (texts.length === 0) await machine.remove(repository);
        else await machine.index(shop(repository, ...texts));
      };
      failAfter(calls);
      await write().catch((error: unknown) => {
        if (!(error instanceof Error) || error.message !== FULL) throw error;
      });
      failAfter(Infinity);
      await write();
      expected.set(repository, texts);
    }
    const lines = [...expected].flatMap(([name, texts]) =>
      texts.map((text) => `${name}: ${text.trim()}`),
    );
    const fresh = await cluster.open();
    for (const engine of [machine, fresh]) {
      await engine.refresh();
      expect(await found(engine, "needle")).toEqual(lines.sort());
    }
    expect(await fresh.check()).toMatchObject({ ok: true });
  });
  await fc.assert(property, { numRuns: 4 * RUNS, endOnFailure: true });
});
