/** Paths are unpacked exactly as they were packed, slice by slice. */

import { expect, test } from "vitest";
import { newPause } from "../../src/base/yield.ts";
import { decode, encode } from "../../src/cluster/wire/codec.ts";
import { packPaths, unpackPaths } from "../../src/cluster/wire/packed-paths.ts";

async function sent(paths: readonly string[]): Promise<string[]> {
  const packed = decode(encode(await packPaths(paths, newPause()))) as Uint8Array;
  const out = ["before"];
  await unpackPaths(packed, out, newPause());
  return out.slice(1);
}

test.each([[[]], [["a"]], [["a", "b/c"]], [["é/ü", "\u{1f600}", "a b\nc"]]])(
  "%j is unpacked as it was packed",
  async (paths) => {
    expect(await sent(paths)).toEqual(paths);
  },
);

test.each([999, 1_000, 1_001, 2_001])(
  "%i paths are unpacked as they were packed",
  async (length) => {
    const paths = Array.from({ length }, (_, i) => `d/${i}`);
    expect(await sent(paths)).toEqual(paths);
  },
);

test("pauses after each thousand paths", async () => {
  const paths = Array.from({ length: 5_000 }, (_, i) => `${i}`);
  let [packing, reading] = [0, 0];
  const packed = await packPaths(paths, () => void packing++);
  await unpackPaths(packed, [], () => void reading++);
  expect([packing, reading]).toEqual([5, 5]);
});
