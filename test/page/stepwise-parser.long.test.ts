/** A parse in steps gives the same colours as a single parse, and reads a long token at most twice. */

import { TreeFragment, type Parser, type Tree } from "@lezer/common";
import { classHighlighter, highlightTree } from "@lezer/highlight";
import { parser as javascript } from "@lezer/javascript";
import { parser as json } from "@lezer/json";
import { parser as python } from "@lezer/python";
import { expect, test } from "vitest";
import { STEP, StepwiseParser } from "../../src/page/colours/stepwise-parser.ts";
import { randomFrom } from "../regex/random.ts";

/** Parses step by step to the end, as CodeMirror does. */
function parseAll(parser: Parser, text: string): { tree: Tree; steps: number } {
  let fragments: readonly TreeFragment[] = [];
  for (let steps = 1; ; steps++) {
    const parse = parser.startParse(text, fragments);
    let tree = parse.advance();
    while (!tree) tree = parse.advance();
    if (parse.stoppedAt === null) return { tree, steps };
    fragments = TreeFragment.addTree(tree, fragments, true);
  }
}

const pieces = (pick: readonly ((n: number) => string)[]) => (seed: number) => {
  const random = randomFrom(seed);
  let text = "";
  for (let n = 0; text.length < 4.5 * STEP; n++) text += pick[random(pick.length)]!(n);
  return text;
};

const functions = pieces([
  (n) => `function f${n}(a) { return a + ${n}; }\n`,
  (n) => `/* ${"words ".repeat(n % 50)} */\n`,
  (n) => `const t${n} = \`${"text ".repeat(n % 300)}\${a${n}}\`;\n`,
  (n) => `class C${n} { m() { if (a) return [${"1, ".repeat(n % 90)}]; } }\n`,
]);
const members = pieces([
  (n) => `  m${n}(a) { if (a) return [${"1, ".repeat(n % 90)}]; }\n`,
  (n) => `  /* ${"words ".repeat(n % 50)} */\n`,
  (n) => `  t${n} = \`${"text ".repeat(n % 300)}\${a${n}}\`;\n`,
]);
const oneClass = (seed: number) => `class All {\n${members(seed)}}\n`;
const blocks = pieces([
  (n) => `def f${n}(a):\n    if a:\n        return [${"1, ".repeat(n % 90)}]\n`,
  (n) => `class C${n}:\n    """${"words ".repeat(n % 300)}"""\n    def m(self):\n        pass\n`,
  (n) => `# ${n}\n`,
]);
const list = (seed: number) =>
  `[${pieces([(n) => `{"id": ${n}, "list": [${n}, {"a": null}]},\n`, (n) => `"text ${n}",\n`])(seed)}0]`;

function colours(tree: Tree): string[] {
  const list: string[] = [];
  highlightTree(tree, classHighlighter, (from, to, name) => list.push(`${from}-${to} ${name}`));
  return list;
}

const firstOther = (found: readonly string[], expected: readonly string[]): string | undefined =>
  found.length === expected.length
    ? found.find((one, index) => one !== expected[index])
    : `${found.length} colours, expected ${expected.length}`;

test.each([
  ["functions", javascript, functions],
  ["one class", javascript, oneClass],
  ["blocks by their indentation", python, blocks],
  ["one list", json, list],
])("%s get the same colours as from a single parse", (_, parser, textOf) => {
  for (const seed of [1, 2, 3]) {
    const text = textOf(seed);
    const { tree, steps } = parseAll(new StepwiseParser(parser), text);
    expect(steps, `seed ${seed}`).toBeGreaterThan(4);
    expect(firstOther(colours(tree), colours(parser.parse(text))), `seed ${seed}`).toBe(undefined);
  }
});

test("a short text is parsed in one step", () => {
  expect(parseAll(new StepwiseParser(json), "[1, 2]").steps).toBe(1);
});

test("a token that is longer than many steps is read twice", () => {
  const text = `const a = \`${"x".repeat(20 * STEP)}\`;\nconst b = 1;\n`;
  const { tree, steps } = parseAll(new StepwiseParser(javascript), text);
  expect(steps).toBe(2);
  expect(colours(tree)).toEqual(colours(javascript.parse(text)));
});
