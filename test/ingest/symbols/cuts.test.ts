import fc from "fast-check";
import { expect, test } from "vitest";
import { cCuts } from "../../../src/ingest/symbols/queries/shared/c-cuts.ts";
import { goCuts } from "../../../src/ingest/symbols/queries/shared/go-cuts.ts";
import { cut, uncut } from "../../../src/ingest/symbols/queries/shared/cuts.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const bytes = (source: string) => Buffer.from(source, "latin1");

/** Cuts in ascending order. None is empty, and no two touch. */
const cuts = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 })), { maxLength: 6 })
  .map((steps) => {
    let at = 0;
    return steps.flatMap(([kept, removed]) => {
      const start = at + kept;
      at = start + removed;
      return [start, at];
    });
  });

test("remaining text keeps its offsets", () => {
  fc.assert(
    fc.property(cuts, (pairs) => {
      const whole = Uint8Array.from({ length: 80 }, (_, index) => index);
      const back = uncut(pairs);
      const kept = cut(whole, pairs);
      const isCut = (at: number) =>
        pairs.some((start, index) => index % 2 === 0 && at >= start && at < pairs[index + 1]!);
      expect([...kept]).toEqual([...whole].filter((at) => !isCut(at)));
      const starts = new Set(pairs.filter((_, index) => index % 2 === 1));
      // an offset right after a cut stands for the end of the text before the cut
      kept.forEach((value, at) => {
        if (!starts.has(value)) expect(back(at)).toBe(value);
      });
    }),
  );
});

/** Texts in C, and the remainder of each. */
const CASES: readonly (readonly [what: string, source: string, left: string])[] = [
  ["a body", "int f(void)\n{\n\treturn 1;\n}\nint g;\n", "int f(void)\n{\n}\nint g;\n"],
  ["a body after its head", "int f(void) {\n\treturn 1;\n}\n", "int f(void) {\n}\n"],
  ["a table", "int t[] = {\n\t1,\n\t2,\n};\n", "int t[] = {\n};\n"],
  ["labels", "int f(void)\n{\n\tgoto out;\nout:\n\treturn;\n}\n", "int f(void)\n{\n}\n"],
  ["balanced #if", "void f()\n{\n#ifdef A\n\ta();\n#else\n#endif\n}\n", "void f()\n{\n}\n"],
  ["a struct stays", "struct s\n{\n\tint a;\n};\n", "struct s\n{\n\tint a;\n};\n"],
  ["half an #if stays", "int f()\n{\n#else\n\tb();\n}\n", "int f()\n{\n#else\n\tb();\n}\n"],
  ["a macro in a body", "int f()\n{\n#define X 1\n}\n", "int f()\n{\n#define X 1\n}\n"],
  [
    "a body with an indented end stays",
    "int f()\n{\n\ta();\n }\nint g()\n{\n\tb();\n}\n",
    "int f()\n{\n\ta();\n }\nint g()\n{\n\tb();\n}\n",
  ],
  ["an annotation", "static int __init f(void);", "static int  f(void);"],
  ["an annotation between type and pointer", "char __user *p;", "char  *p;"],
  ["an annotation after the tag", "struct __packed s {", "struct  s {"],
  ["an annotation before the type", "static __always_inline int f(int);", "static  int f(int);"],
  ["an annotation without underscores", "static u64 notrace f(void);", "static u64  f(void);"],
  ["a type stays", "static __u32 f(void);", "static __u32 f(void);"],
  ["a type of letters stays", "static __wsum f(int);", "static __wsum f(int);"],
  ["a name stays", "int __foo(int);", "int __foo(int);"],
  ["a struct's name stays", "struct __foo *p;", "struct __foo *p;"],
  ["a guard at the very end", "#endif //__A_H__", "#endif //__A_H__"],
  ["an annotation at the very end", "int a; __init", "int a; __init"],
  ["a macro's name stays", "#define __init x", "#define __init x"],
];

test.each(CASES)("C: %s", (_, source, left) => {
  expect(text(cut(bytes(source), cCuts(bytes(source))))).toBe(left);
});

/** Texts in Go, and the remainder of each. */
const GO_CASES: readonly (readonly [what: string, source: string, left: string])[] = [
  ["a body", "p\nfunc f() {\n\treturn\n}\nvar x\n", "p\nfunc f() {\n}\nvar x\n"],
  [
    "two bodies",
    "\nfunc f() {\n\ta\n}\n\nfunc g() {\n\tb\n}\n",
    "\nfunc f() {\n}\n\nfunc g() {\n}\n",
  ],
  [
    "a body on one line stays",
    "\nfunc f() {}\nfunc g() {\n\tb\n}\n",
    "\nfunc f() {}\nfunc g() {\n}\n",
  ],
  ["a raw string stays", "\nfunc f() {\n\ta(`\nx`)\n}\n", "\nfunc f() {\n\ta(`\nx`)\n}\n"],
  [
    "the end of a raw string stays",
    "\nfunc f() {\n\ta(`{\n 1\n}`)\n}\n",
    "\nfunc f() {\n\ta(`{\n 1\n}`)\n}\n",
  ],
  ["a type stays", "\ntype T struct {\n\ta int\n}\n", "\ntype T struct {\n\ta int\n}\n"],
  ["a long head stays", "\nfunc f(\n\ta int,\n) {\n\tb\n}\n", "\nfunc f(\n\ta int,\n) {\n\tb\n}\n"],
];

test.each(GO_CASES)("Go: %s", (_, source, left) => {
  expect(text(cut(bytes(source), goCuts(bytes(source))))).toBe(left);
});

test("cuts of random texts are in order and within the text", () => {
  const pieces = [
    "\n",
    "{",
    "}",
    "\n}",
    ") ",
    "__init ",
    "__x",
    "notrace ",
    "int ",
    "#if\n",
    "=",
    "x",
    "\nfunc ",
  ];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...pieces), { maxLength: 60 }),
      fc.boolean(),
      (parts, go) => {
        const source = parts.join("");
        const pairs = go ? goCuts(bytes(source)) : cCuts(bytes(source));
        expect(pairs.length % 2).toBe(0);
        pairs.forEach((at, index) =>
          expect(at).toBeGreaterThan(index === 0 ? -1 : pairs[index - 1]!),
        );
        expect(pairs.at(-1) ?? 0).toBeLessThanOrEqual(source.length);
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  "){/",
  ") {\n",
  "\n)\n{\n#if\n",
  "x: f() {\n",
  " __a b ",
  "\n}",
  "a=\n{\n",
  "\nfunc ",
  "\nfunc {\n",
  "\nfunc x\n",
  "\n}\n",
  "__a ",
  "{\n\t",
])("%j a million times takes linear time", (piece) => {
  const source = bytes(`${piece.repeat(Math.ceil(1_000_000 / piece.length))}\n}\n`);
  const start = performance.now();
  cCuts(source);
  goCuts(source);
  expect(performance.now() - start).toBeLessThan(5_000); // quadratic time would be minutes
});
