import { expect, test } from "vitest";
import { nest, type FoundDefinition } from "../../src/page/file/nested-definitions.ts";

/** Parses `kind name < kind parent`, one a line. */
function parse(text: string): FoundDefinition[] {
  return text
    .trim()
    .split("\n")
    .map((one, index) => {
      const [own, above] = one.trim().split(" < ");
      const [kind, symbol] = own!.split(" ") as [string, string];
      const [parentKind, parentName] = above?.split(" ") ?? [];
      const parent =
        parentKind === undefined ? undefined : { kind: parentKind, symbol: parentName! };
      return { kind, symbol, parent, line: index + 1 };
    });
}

const show = (text: string): string[] =>
  nest(parse(text)).map(({ depth, name, line }) => `${"-".repeat(depth)}${name}:${line}`);

test.each<[what: string, found: string, nested: string[]]>([
  ["a class", "class A\nmethod m < class A\nclass B", ["A:1", "-m:2", "B:3"]],
  [
    "methods apart from their type",
    "struct A\nfunction f\nmethod m < struct A\nstruct B\nmethod n < struct A",
    ["A:1", "-m:3", "-n:5", "f:2", "B:4"],
  ],
  ["a type after its method", "method m < struct A\nstruct A", ["A:2", "-m:1"]],
  ["a type in another file", "function f\nmethod m < struct A", ["f:1", "A.m:2"]],
  [
    "two parents of one name: the nearest before",
    "class A\nmethod m < class A\nclass A\nmethod n < class A",
    ["A:1", "-m:2", "A:3", "-n:4"],
  ],
  ["a parent of another kind", "module A\nmethod m < class A", ["A:1", "A.m:2"]],
  ["its own name", "class A < class A", ["A.A:1"]],
  ["each other's parents", "class A < class B\nclass B < class A", ["B.A:1", "-B:2"]],
  [
    "many levels",
    "class A\nclass B < class A\nclass C < class B\nclass D < class C\nclass E < class D",
    ["A:1", "-B:2", "--C:3", "---D:4", "---E:5"],
  ],
])("nests %s", (_what, found, nested) => {
  expect(show(found)).toEqual(nested);
});

test("every definition is shown once", () => {
  const text = "class A < class B\nclass B < class A\nclass C < class C";
  expect(
    nest(parse(text))
      .map(({ line }) => line)
      .toSorted((a, b) => a - b),
  ).toEqual([1, 2, 3]);
});
