/** How long a node keeps a state that a newer one has replaced: fronts learn of the newer one at different times. */

import { expect, onTestFinished, test, vi } from "vitest";
import { Holder, type HeldState } from "../../src/cluster/node/holder.ts";
import type { Catalog } from "../../src/store/catalog/catalog.ts";
import { EMPTY_MANIFEST } from "../../src/store/catalog/manifest.ts";

/** Shard 1 in one slice. */
const stateAt = (generation: number): HeldState => ({
  catalog: { manifest: { ...EMPTY_MANIFEST, generation } } as Catalog,
  shards: new Map([[1, { generation, own: { own: [0], of: 1 }, repositories: new Uint32Array() }]]),
  segments: new Map(),
});

test("a replaced state is kept for a minute, and longer while a search reads it", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const after = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
  const holder = new Holder();
  const kept = () => holder.ready().map(({ generation }) => generation);
  holder.add(stateAt(1));
  after(3_600_000);
  holder.add(stateAt(2));
  after(59_999);
  expect([holder.expire(), kept(), holder.oldestGeneration]).toEqual([false, [1, 2], 1]);
  const held = await holder.hold([[1, 1, 0]]);
  after(1);
  expect([holder.expire(), kept()]).toEqual([false, [1, 2]]);
  held!.release();
  expect([holder.expire(), kept(), holder.isAlone]).toEqual([true, [2], true]);
  expect(await holder.hold([[1, 1, 0]])).toBeUndefined();
  expect(await holder.hold([[1, 2, 0]])).toBeDefined();
});
