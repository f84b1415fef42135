import { expect, test } from "vitest";
import { Recent } from "../../src/base/recent.ts";

test("what was asked for last is kept, and what nobody asked for is made anew", () => {
  const recent = new Recent<{ key: string }>(2);
  const made: string[] = [];
  const ask = (key: string) => recent.get(key, () => (made.push(key), { key }));
  for (const key of "abaca") expect(ask(key).key).toBe(key);
  expect(made.join("")).toBe("abc");
  ask("b");
  expect(made.join("")).toBe("abcb");
});

test("what cannot be made is not kept, and throws nothing out", () => {
  const recent = new Recent<{ key: string }>(1);
  const kept = recent.get("a", () => ({ key: "a" }));
  const fail = () => {
    throw new Error("no");
  };
  expect(() => recent.get("b", fail)).toThrow("no");
  expect(recent.get("a", fail)).toBe(kept);
});
