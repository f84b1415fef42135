/** What a recorder sends to a thread that does not read the disk, and what that thread reads of it. */

import { expect, test } from "vitest";
import { PART, segmentKey, type Part } from "../../src/store/format/format.ts";
import { seal } from "../../src/store/format/sealed.ts";
import type { Snapshot } from "../../src/store/lmdb/environment.ts";
import { KeptValues, NotKept, ValueRecorder } from "../../src/store/memory/kept-values.ts";

const key = (part: Part): Buffer => segmentKey(7, part);
const [GOOD, DAMAGED, RAW, ABSENT] = [PART.FILES, PART.PATHS, PART.TEXT, PART.BLOBS];

/** A snapshot with one damaged value, and two valid ones. */
function values(): Snapshot {
  const sealed = (part: Part) => seal(key(part), Buffer.from(`value ${part}`));
  const damaged = sealed(DAMAGED);
  damaged[0]! ^= 1;
  const all = new Map([
    [key(GOOD).toString("hex"), sealed(GOOD)],
    [key(RAW).toString("hex"), sealed(RAW)],
    [key(DAMAGED).toString("hex"), damaged],
  ]);
  const getSealed = (asked: Buffer) => all.get(asked.toString("hex"));
  return { get: getSealed, getSealed, keys: () => [], close: () => undefined };
}

test("a thread receives what was read, but nothing damaged", () => {
  const recorder = new ValueRecorder(values(), 1000);
  expect(String(recorder.get(key(GOOD), "files"))).toBe(`value ${GOOD}`);
  expect(() => recorder.get(key(DAMAGED), "paths")).toThrow("paths");
  expect(recorder.get(key(ABSENT), "blobs")).toBeUndefined();
  recorder.getSealed(key(RAW));
  const cache = new KeptValues(2 ** 16);
  cache.add(recorder.packed()!);
  const kept = cache.snapshot();
  expect(String(Buffer.from(kept.get(key(GOOD), "files")!))).toBe(`value ${GOOD}`);
  expect(Buffer.from(kept.getSealed(key(RAW))!)).toEqual(values().getSealed(key(RAW)));
  for (const part of [DAMAGED, ABSENT]) expect(() => kept.get(key(part), "")).toThrow(NotKept);
});

test("nothing is sent if too much was read", () => {
  const recorder = new ValueRecorder(values(), 20);
  for (const part of [GOOD, RAW]) recorder.getSealed(key(part));
  expect(recorder.packed()).toBeUndefined();
});
