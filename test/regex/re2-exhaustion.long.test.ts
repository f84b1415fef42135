/**
 * RE2 survives any number of expressions, although its heap of 16 MiB cannot grow. If the heap is exhausted, a new
 * instance takes over, and no answer changes.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { re2Find } from "../../src/re2/re2.ts";
import { isInTurn, RUNS } from "../runs.ts";

/** The number of instances of RE2 that were made. Each has a memory of its own. */
let made = 0;
const { Memory } = WebAssembly;
beforeAll(() => {
  WebAssembly.Memory = class extends Memory {
    constructor(size: ConstructorParameters<typeof Memory>[0]) {
      super(size);
      made++;
    }
  };
});
afterAll(() => void (WebAssembly.Memory = Memory));

const CODE = Array.from(
  { length: 60 },
  (_, i) => `const value${i} = call_${i * 7}(arg${i}, "x${i}");\n`,
).join("");
const quick = (n: number): string =>
  [
    `value${n % 60} = \\w+_${(n % 60) * 7}\\(`,
    `(?:arg|value|call_)${n % 61}\\b|never${n}`,
    `x${n}"|"x${n % 50}"`,
    `[^\\n]{${n % 9},${9 + (n % 20)}};`,
  ][n % 4]!;

/** An expression for which RE2 takes several MiB, so that it cannot keep six of them. */
const greedy = (n: number): string => `\\p{L}{${45 + n}}=|value${n} =`;

const find = (source: string, text: string): number | undefined => {
  const bytes = Buffer.from(text);
  return re2Find({ source, caseSensitive: true }, bytes, { start: 0, end: bytes.length }, 0)?.start;
};

/** Returns the expressions that RE2 answers differently than JavaScript. */
function wrongOf(sources: readonly string[], text: string): string[] {
  return sources.filter(
    (source) => find(source, text) !== new RegExp(source, "mu").exec(text)?.index,
  );
}

const memory = (): number => process.memoryUsage().arrayBuffers + process.memoryUsage().external;

test.runIf(isInTurn(2))(
  "answers stay right over many expressions, and memory does not grow",
  () => {
    find("warm", CODE);
    const before = memory();
    const sources = Array.from({ length: 2_000 * RUNS }, (_, n) => quick(n));
    expect(wrongOf(sources, CODE)).toEqual([]);
    expect(memory() - before).toBeLessThan(64 * 2 ** 20);
  },
);

test.runIf(isInTurn(2, 1))("an exhausted instance is replaced, and answers stay right", () => {
  find("warm", CODE);
  made = 0;
  const sources = Array.from({ length: 5 }, (_, n) => [greedy(n), quick(n)]).flat();
  expect(wrongOf(sources, CODE)).toEqual([]);
  expect(made).toBeGreaterThan(1); // the second one takes over
  expect(made).toBeLessThan(sources.length);
});
