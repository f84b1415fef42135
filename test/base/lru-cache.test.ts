import { expect, test } from "vitest";
import { LruCache } from "../../src/base/lru-cache.ts";

interface Value {
  readonly key: string;
}

test("keeps the values that were used last, and makes dropped values again", () => {
  const cache = new LruCache<string, Value>({ most: 2 });
  const made: string[] = [];
  const ask = (key: string) => cache.getOrMake(key, () => (made.push(key), { key }));
  for (const key of "abaca") expect(ask(key).key).toBe(key);
  expect(made.join("")).toBe("abc");
  ask("b");
  expect(made.join("")).toBe("abcb");
});

test("does not keep a value that is undefined or whose creation throws, and drops nothing for it", () => {
  const cache = new LruCache<string, Value>({ most: 1 });
  const kept = cache.getOrMake("a", () => ({ key: "a" }));
  const fail = () => {
    throw new Error("no");
  };
  expect(() => cache.getOrMake("b", fail)).toThrow("no");
  expect(cache.getOrMake("b", () => undefined)).toBeUndefined();
  expect(cache.has("b")).toBe(false);
  expect(cache.getOrMake("a", fail)).toBe(kept);
});

test("if values have grown, drops others at the next use, and reports each dropped value", () => {
  const dropped: string[] = [];
  const cache = new LruCache<string, { readonly key: string; cost: number }>({
    most: 10,
    costOf: ({ cost }) => cost,
    onEvict: ({ key }) => dropped.push(key),
  });
  const values = ["a", "b", "c"].map((key) => ({ key, cost: 3 }));
  for (const value of values) cache.set(value.key, value);
  expect(dropped).toEqual([]);
  values[2]!.cost = 9;
  cache.getOrMake("a", () => values[0]!);
  expect(dropped).toEqual(["b", "c"]);
  cache.set("d", { key: "d", cost: 99 });
  expect(dropped).toEqual(["b", "c", "a"]);
  expect(cache.has("d")).toBe(true);
});
