/** What is asked of each line of large files, against the plain ways to say it. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { endOfBody, indentOf, TextLines } from "../../src/mcp/body.ts";

const line = fc
  .array(fc.constantFrom(" ", "\t", "\r", "\v", "\f", "\u00a0", "\u3000", "\ufeff", "a", "}", "é"))
  .map((characters) => characters.join(""));

test("the indentation of a line", () => {
  const slowly = (text: string): number => /^\s*/.exec(text)![0].replaceAll("\t", "    ").length;
  const holds = (text: string): void => {
    expect(indentOf(text)).toBe(slowly(text));
  };
  fc.assert(fc.property(line, holds));
});

test("lines of a text, and where a body ends in them", () => {
  const text = fc.array(line, { minLength: 1 }).map((lines) => lines.join("\n"));
  const holds = (content: string): void => {
    const lines = content.split("\n");
    const found = new TextLines(content);
    expect(Array.from({ length: found.length }, (_, i) => found.at(i))).toEqual(lines);
    expect(found.at(lines.length)).toBeUndefined();
    for (let begin = 1; begin <= lines.length; begin++)
      expect(endOfBody(found, begin)).toBe(endOfBody(lines, begin));
  };
  fc.assert(fc.property(text, holds));
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

test.each(BODIES)("the body of %s", (_, text) => {
  const [own] = text.split("\n---\n");
  const lines = text.replace("---\n", "").split("\n");
  expect(endOfBody(lines, 1)).toBe(own!.split("\n").length);
});
