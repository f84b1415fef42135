/** Compares the bodies of definitions, and the definitions around lines, with those of the slow twin. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { DefinitionBody, indentAt } from "../../src/base/definition-body.ts";
import { Enclosing } from "../../src/search/thread/showing/enclosing.ts";
import { ROW, SYMBOL_ROW, type SymbolTable } from "../../src/store/symbols/symbol-run.ts";
import { endOfBody, indentOf, slowEnclosing } from "./definition-body-twin.ts";

/** Returns where the last line of a body begins. */
function endOf(bytes: Buffer, start: number): number {
  const body = new DefinitionBody(bytes, start);
  while (body.readOn(16));
  return body.last;
}

/** The indentations of lines of code, and what follows them. */
const INDENTS = ["", "", " ", "  ", "    ", "\t", "\t\t", " \t", "\v"];
const WORDS = [
  "a",
  "f(",
  ")",
  "(",
  "{",
  "}",
  "{ // b",
  "{ /* b */",
  "/* { */",
  "];",
  ") {",
  "f(a,",
  "// (/*",
  "end",
  "ending",
  "else",
  "elsewhere",
  "where",
  "catch (e) {",
  "):",
  ") -> str: # b",
  "b:",
  `"""`,
  `'''`,
  "`",
  `"""a"""`,
  "\\",
  "a \\",
  "\\\r",
  "\r",
  "#if A",
  "é {",
  "",
  "  ",
];
const line = fc
  .tuple(fc.constantFrom(...INDENTS), fc.array(fc.constantFrom(...WORDS), { maxLength: 3 }))
  .map(([indent, words]) => indent + words.join(" "));
const textOfLines = fc
  .array(line, { minLength: 1, maxLength: 30 })
  .map((lines) => lines.join("\n"));

/** A text, and the positions of some names in it. */
const withNames = fc.tuple(
  textOfLines,
  fc.uniqueArray(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
);

const startsOf = (bytes: Buffer): number[] => [
  0,
  ...Array.from(bytes.keys()).flatMap((at) => (bytes[at] === 0x0a ? [at + 1] : [])),
];

/** Returns the places of names, none of which is a line break. */
const namesIn = (bytes: Buffer, places: readonly number[]): number[] =>
  [...new Set(places.map((place) => Math.floor(place * bytes.length)))]
    .filter((start) => start < bytes.length && bytes[start] !== 0x0a)
    .sort((a, b) => a - b);

function tableOf(starts: readonly number[]): SymbolTable {
  const rows = new Int32Array(SYMBOL_ROW * starts.length);
  starts.forEach((start, row) => {
    rows[row * SYMBOL_ROW + ROW.start] = start;
    rows[row * SYMBOL_ROW + ROW.end] = start;
    rows[row * SYMBOL_ROW + ROW.parent] = -1;
  });
  return { count: starts.length, rows };
}

test("indentations and ends of bodies equal those of the twin, which splits the text into lines", () => {
  const holds = (text: string): void => {
    const bytes = Buffer.from(text);
    const lines = bytes.toString("latin1").split("\n");
    for (const [i, start] of startsOf(bytes).entries()) {
      expect(indentAt(bytes, start)).toBe(indentOf(lines[i]!));
      const last = endOfBody(lines, i + 1);
      expect(startsOf(bytes).indexOf(endOf(bytes, start)) + 1).toBe(last);
    }
  };
  fc.assert(fc.property(textOfLines, holds), { numRuns: 500 });
});

test("a body covers the lines up to its last one, however many lines are requested at a time", () => {
  const holds = (text: string, steps: readonly boolean[]): void => {
    const bytes = Buffer.from(text);
    const starts = startsOf(bytes);
    const lines = bytes.toString("latin1").split("\n");
    const body = new DefinitionBody(bytes, 0);
    for (const [i, start] of starts.entries())
      if (steps[i % steps.length]) expect(body.reaches(start)).toBe(i < endOfBody(lines, 1));
  };
  const steps = fc.array(fc.boolean(), { minLength: 1 });
  fc.assert(fc.property(textOfLines, steps, holds), { numRuns: 500 });
});

test("the definition around a line is the last one before it whose body covers the line", () => {
  const holds = ([text, places]: [string, number[]], asked: readonly boolean[]): void => {
    const bytes = Buffer.from(text);
    const names = namesIn(bytes, places);
    const starts = startsOf(bytes);
    const enclosing = new Enclosing(bytes, tableOf(names));
    for (const [i, start] of starts.entries()) {
      if (!asked[i % asked.length]) continue;
      const end = starts[i + 1] ?? bytes.length;
      const slow = slowEnclosing(bytes.toString("latin1"), names, i + 1);
      expect(enclosing.at({ start, end }), `line ${i + 1} of ${JSON.stringify(text)}`).toBe(slow);
    }
  };
  const seldom = fc.nat(5).map((n) => n === 0);
  const asked = fc.array(fc.oneof(seldom, fc.boolean()), { minLength: 1 });
  fc.assert(fc.property(withNames, asked, holds), { numRuns: 1_000 });
});

const NESTED = `class A {
  f() {
    a();
  }
  g() {
    b();
  }
  // c
}
// d
`;

test.each([
  ["a();", "f"],
  ["b();", "g"],
  ["  // c", "A"],
  ["// d", undefined],
  ["g() {", undefined],
])("the first line that is asked: %j is in %s", (line, name) => {
  const bytes = Buffer.from(NESTED);
  const names = ["A", "f", "g"];
  const table = tableOf(names.map((one) => NESTED.search(new RegExp(`\\b${one}\\b`))));
  const at = NESTED.indexOf(line);
  const start = NESTED.lastIndexOf("\n", at) + 1;
  const end = NESTED.indexOf("\n", at) + 1;
  expect(names[new Enclosing(bytes, table).at({ start, end })]).toBe(name);
});

test("a limited part of a file is read if nothing closes a body", () => {
  const unclosed = "    f(\n    y\n      x\n".repeat(300);
  const bytes = Buffer.from(unclosed);
  const starts = startsOf(bytes);
  const table = tableOf(starts.filter((_, i) => i % 3 === 0 && i < 900).map((at) => at + 4));
  const readOf = (mostBytes: number): number => {
    const enclosing = new Enclosing(bytes, table, { mostBytes });
    for (let i = 2; i < 900; i += 3) enclosing.at({ start: starts[i]!, end: starts[i + 1]! });
    return enclosing.bytesRead;
  };
  expect(readOf(Infinity)).toBeGreaterThan(50 * bytes.length);
  expect(readOf(3 * bytes.length)).toBeLessThanOrEqual(4 * bytes.length);
});

/** Each text begins with a definition; the body ends before the line `---`. */
const BODIES: readonly (readonly [what: string, text: string])[] = [
  ["one line", "const a = 1;\n---\nconst b = 2;"],
  ["C, arguments on two lines", "int f(int a,\n      int b)\n{\n\treturn a;\n}\n---\nint g;"],
  [
    "C, a block behind the arguments",
    "int f(int a,\n      int b) {\nout:\n  return a;\n}\n---\nint g;",
  ],
  [
    "C, directives and labels",
    "int f(void)\n{\n#ifdef A\n\ta();\n#endif\nout:\n\tb();\n}\n---\nint g;",
  ],
  ["C, a macro", "#define F(a) \\\ndo { \\\n\ta; \\\n} while (0)\n---\nint g;"],
  ["C, a type with a name behind it", "typedef struct a {\n\tint b;\n} a_t;\n---\nint g;"],
  ["C, a remark behind the brace", "struct a { /* of b */\nint b;\n};\n---\nint g;"],
  ["C++, sections", "class A {\npublic:\n  int b;\nprivate:\n  int c;\n};\n---\nint g;"],
  ["Go, a label", "func f() {\n\ta := 1\nwalk:\n\tfor {\n\t}\n}\n---\nfunc g() {}"],
  ["Go, a method of an interface", "\tEngine() any\n---\n}\n\nfunc g() {}"],
  ["Go, a raw string", "const q = `\nselect 1\n`\n---\nvar g = 1"],
  [
    "Python, arguments on lines of their own",
    'def f(\n    a: int,\n) -> str:\n    """\ntext\n    """\n    return a\n---\ndef g(): ...',
  ],
  [
    "Python, arguments under each other",
    "def f(a,\n      b):\n    x = {\n        1}\n    return x\n---\ng(\n    1\n)",
  ],
  [
    "Python, an inner one",
    "    def f(self):\n        return 1\n---\n    def g(self):\n        return 2",
  ],
  ["Python, a text", 'HELP = """\nuse it\n"""\n---\nG = 1'],
  ["Python, what is not closed", "def f(\n    a\n---\ndef g():\n    return 1"],
  [
    "Python, a remark before a carriage return",
    "def f(\r\n    a\r\n) -> str: # b\r\n    return a\r\n---\ndef g(): ...",
  ],
  ["Ruby", "def f(a)\n  b\nrescue E\n  c\nensure\n  d\nend\n---\ndef g; end"],
  ["Rust", "fn f<T>(a: T)\nwhere\n    T: B,\n{\n    a\n}\n---\nfn g() {}"],
  [
    "TypeScript, arguments and options",
    "export const f = async ({\n  a,\n}: Args): Promise<void> => {\n  a();\n};\n---\nconst g = 1;",
  ],
  [
    "TypeScript, a text in a function",
    "function f() {\n  return `\nat the margin\n`;\n}\n---\nconst g = 1;",
  ],
  ["TypeScript, a method", "  f() {\n    a();\n  }\n---\n  g() {}\n}"],
];

test.each(BODIES)("finds the body of %s", (_, text) => {
  const [own] = text.split("\n---\n");
  const bytes = Buffer.from(text.replace("---\n", ""));
  const end = endOf(bytes, 0);
  expect(startsOf(bytes).indexOf(end)).toBe(own!.split("\n").length - 1);
});
