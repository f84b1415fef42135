/**
 * Every public name says what it is, with the unit of every number, and has an example that compiles.
 * In an example the package's own names need no import, and `engine`, `tokens` and `users` are there.
 */

import ts from "typescript";
import { expect, test } from "vitest";
import { publicEntries } from "../../scripts/api-report.ts";
import { complaints, lacks } from "../snippets.ts";

const { program, entries } = publicEntries();
const checker = program.getTypeChecker();
const names = entries.flatMap(({ name: from, symbols }) =>
  symbols.map((symbol) => ({ name: symbol.name, from, symbol })),
);

const commentOf = (symbol: ts.Symbol): string =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker));

const examplesOf = (symbol: ts.Symbol): string[] =>
  symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === "example")
    .map(({ text }) => ts.displayPartsToString(text));

/** The fields and methods of a type that are declared here, with those of every part of a union. */
function membersOf(symbol: ts.Symbol): ts.Symbol[] {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const parts = type.isUnion() ? type.types : [type];
  return parts
    .flatMap((part) => checker.getPropertiesOfType(part))
    .filter(({ declarations }) => isOurs(declarations?.[0]));
}

const isOurs = (declaration: ts.Declaration | undefined): boolean =>
  declaration !== undefined && !declaration.getSourceFile().fileName.includes("node_modules");

const members = names.flatMap(({ name, symbol }) =>
  membersOf(symbol).map((member) => ({ name: `${name}.${member.name}`, member })),
);

function isNumber(member: ts.Symbol): boolean {
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(member));
  return (type.flags & ts.TypeFlags.NumberLike) !== 0;
}

const UNIT =
  /bytes|milliseconds|nanoseconds|-based|UTF-16|how many|threads|lines|0 to 1|files|segments|ranges|pages|grams|pairs|\bid\b|status|definitions|never changes/i;

test("there are names, and fields of them", () => {
  expect(names.length).toBeGreaterThan(50);
  expect(members.length).toBeGreaterThan(150);
});

test("every name has a comment", () => {
  expect(names.filter(({ symbol }) => commentOf(symbol) === "").map(({ name }) => name)).toEqual(
    [],
  );
});

test("every field has a comment", () => {
  const silent = members.filter(({ member }) => commentOf(member) === "");
  expect([...new Set(silent.map(({ name }) => name))]).toEqual([]);
});

test("every number has a unit", () => {
  const bare = members.filter(({ member }) => isNumber(member) && !UNIT.test(commentOf(member)));
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test("every name has an example", () => {
  const without = names.filter(({ symbol }) => examplesOf(symbol).length === 0);
  expect(without.map(({ name }) => name)).toEqual([]);
});

const GIVEN = { engine: "Engine", tokens: "TokenStore", users: "UserStore" };

/** What a reader of an example takes for granted. */
function prelude(text: string): string {
  const given = Object.entries(GIVEN)
    .filter(([name]) => lacks(text, name))
    .map(([name, type]) => `declare const ${name}: ${type};`);
  const whole = [...given, text].join("\n");
  const used = names.filter(({ name }) => lacks(whole, name));
  return [...used.map(({ name, from }) => `import { ${name} } from "${from}";`), whole].join("\n");
}

test("every example compiles", () => {
  const snippets = names.flatMap(({ name, symbol }) =>
    examplesOf(symbol).map((text) => ({ name, text: prelude(text) })),
  );
  expect(complaints(snippets)).toEqual({});
});
