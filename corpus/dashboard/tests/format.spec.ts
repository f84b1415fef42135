import { expect, test } from "vitest";
import { formatBytes } from "../src/format.ts";
import { groupByMachine } from "../src/hooks/useSamples.ts";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_536, "1.5 KiB"],
  [1_048_576, "1 MiB"],
])("formatBytes(%d)", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test("samples are grouped in order of arrival", () => {
  const sample = (machine: string, at: number) => ({ machine, at, load: 0, memoryBytes: 0 });
  const groups = groupByMachine([sample("b", 1), sample("a", 2), sample("b", 3)]);
  expect([...groups.keys()]).toEqual(["b", "a"]);
});
