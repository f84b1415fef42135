import { expect, onTestFinished, test, vi } from "vitest";
import { createKernel } from "../../src/kernel/kernel.ts";
import { compileExpression } from "../../src/regex/expression.ts";
import { createMatcher } from "../../src/regex/matcher.ts";
import { newRangeList, pushRange } from "../../src/regex/range-list.ts";
import { Re2Module } from "../../src/re2/module.ts";
import { RE2_INPUT_LIMIT, re2Find } from "../../src/re2/re2.ts";
import { re2Ranges, verifyRanges } from "../../src/re2/verify.ts";
import { showRanges } from "./differential.ts";

const find = (source: string, bytes: Uint8Array, from = 0) =>
  re2Find({ source, caseSensitive: true }, bytes, { start: 0, end: bytes.length }, from);

test.each<[string, string, number, [number, number] | undefined]>([
  ["b", "ab", 0, [1, 2]],
  ["b", "éb", 0, [2, 3]],
  ["b", "\\xffb", 0, [1, 2]],
  ["é+", "aéé\\xc3z", 0, [1, 5]],
  ["z", "\\xf0z", 0, [1, 2]], // a unit of four bytes, of which the text has one
  ["z", "\\xe2\\x82z", 0, [2, 3]],
  ["z", "\\xf0abz", 0, [3, 4]],
  ["\\C", "é", 1, [1, 2]],
  ["\\B", "aéa", 0, [2, 2]],
  ["^b", "a\nb", 1, [2, 3]],
  ["^b", "a\nb", 2, [2, 3]],
  ["\\bb", "ab b", 1, [3, 4]],
  ["\\Aa", "aa", 1, undefined],
  ["\\Q\\E\\Qé", "xé", 0, [1, 3]],
])("%s in %j from %i", (source, text, from, want) => {
  const latin = text.replace(/\\x(..)/g, (_, hex: string) => `\u{10ff00}${hex}`);
  const bytes = latin
    .split("\u{10ff00}")
    .map((part, i) =>
      i === 0
        ? Buffer.from(part)
        : Buffer.concat([Buffer.from(part.slice(0, 2), "hex"), Buffer.from(part.slice(2))]),
    );
  const match = find(source, Buffer.concat(bytes), from);
  expect(match && [match.start, match.end]).toEqual(want);
});

/** Counts the WebAssembly instances that are created from now on. */
function countInstances() {
  const { Instance } = WebAssembly;
  let count = 0;
  WebAssembly.Instance = class extends Instance {
    constructor(...given: ConstructorParameters<typeof Instance>) {
      super(...given);
      count++;
    }
  };
  onTestFinished(() => void (WebAssembly.Instance = Instance));
  return () => count;
}

test("an instance that aborts is replaced, and the next question is answered", () => {
  const created = countInstances();
  const bytes = new Uint8Array(8 * 1024 * 1024).fill(97); // more than fits into RE2's heap
  expect(() => find("b", bytes)).toThrow(expect.objectContaining({ code: "REGEX_TOO_LARGE" }));
  expect(find("b", Buffer.from("ab"))).toEqual({ start: 1, end: 2 });
  expect(created()).toBeGreaterThan(0);
});

test("patterns that are no longer cached are released", () => {
  const compiled = vi.spyOn(Re2Module.prototype, "compile");
  const released = vi.spyOn(Re2Module.prototype, "release");
  onTestFinished(() => void vi.restoreAllMocks());
  for (let i = 0; i < 100; i++) find(`b${i}`, Buffer.from("b1 b2"));
  expect(compiled).toHaveBeenCalledTimes(100);
  const gone = compiled.mock.results.slice(0, 90).map(({ value }) => [value as number]);
  expect(released.mock.calls).toEqual(expect.arrayContaining(gone));
});

function ranges(source: string, text: Buffer) {
  const kernel = createKernel();
  const place = kernel.reserve(text.length);
  kernel.bytes.set(text, place);
  const expression = compileExpression(source, { caseSensitive: true });
  const out = newRangeList();
  createMatcher(kernel, expression).ranges(place, place + text.length, out);
  return { expression, out };
}

test("RE2 verifies the automaton's ranges, and its answer is used if they differ", () => {
  const text = Buffer.from("foo é foo\nfoo\n");
  const whole = { start: 0, end: text.length };
  const { expression, out } = ranges("fo+", text);
  const verify = (claimed = out) => verifyRanges(expression, { bytes: text, text: whole, claimed });
  expect(verify()).toBeUndefined();
  const missing = newRangeList();
  pushRange(missing, 0, 3);
  pushRange(missing, 11, 14);
  expect(showRanges(verify(missing)!)).toBe("0-3 7-10");
  const shorter = newRangeList();
  pushRange(shorter, 0, 2);
  expect(showRanges(verify(shorter)!)).toBe("0-3");
  const invented = newRangeList();
  for (const start of [0, 7, 11, 13]) pushRange(invented, start, start + 3);
  expect(showRanges(verify(invented)!)).toBe("0-3 7-10 11-14");
});

test("only lines with ranges are read, unless a match may cross lines", () => {
  const text = Buffer.from("foo\nfoo foo\nfoo x\n");
  const whole = { start: 0, end: text.length };
  const told = (source: string, ...starts: number[]) => {
    const claimed = newRangeList();
    for (const start of starts) pushRange(claimed, start, start + 3);
    const { expression } = ranges(source, text);
    const differing = verifyRanges(expression, { bytes: text, text: whole, claimed });
    return differing && showRanges(differing);
  };
  expect(told("foo", 0, 4, 8, 12)).toBeUndefined();
  expect(told("foo", 0, 12)).toBeUndefined(); // the line between the ranges is not read
  expect(told("foo", 0, 4, 12)).toBe("0-3 4-7 8-11"); // the rest of a line is read
  expect(told("foo", 0, 8, 12)).toBe("0-3 4-7 8-11"); // and so is its beginning
  expect(told("foo", 0, 13)).toBe("0-3 4-7");
  expect(told("foo|\nx", 0, 12)).toBe("0-3 4-7");
});

test("a match that needs more than the first window is verified, too", () => {
  const text = Buffer.from(`a${"x".repeat(5_000)}b`);
  const whole = { start: 0, end: text.length };
  for (const source of ["a|ax*b", "ax*b|a", "(?s)a.*", "a(?s:.*)b|x", "x*"]) {
    const { expression, out } = ranges(source, text);
    expect(verifyRanges(expression, { bytes: text, text: whole, claimed: out })).toBeUndefined();
    const some = re2Ranges(expression, { bytes: text, text: whole, count: 3 });
    expect(showRanges(some)).toBe(showRanges({ ...out, length: Math.min(out.length, 3) }));
  }
});

test("a range is accepted without verification if RE2 would have to read more than its limit", () => {
  const text = Buffer.from(`${"x".repeat(RE2_INPUT_LIMIT)}foo foo`);
  const expression = compileExpression("fo+", { caseSensitive: true });
  const verify = (...claims: [number, number][]) => {
    const claimed = newRangeList();
    for (const [from, to] of claims)
      pushRange(claimed, RE2_INPUT_LIMIT + from, RE2_INPUT_LIMIT + to);
    return verifyRanges(expression, { bytes: text, text: { start: 0, end: text.length }, claimed });
  };
  expect(verify([0, 3], [4, 7])).toBeUndefined();
  expect(verify([0, 2])).toBeUndefined(); // wrong, but it cannot be verified
  expect(verify([0, 3], [4, 6])).toBeDefined(); // the next range is near again
});

test("10 000 matches over many lines in 1 MB take at most three times as long as in ten files of 100 KB", () => {
  const block = `${"x".repeat(60)}\nfoo {\n  bar\n}\n${"y".repeat(20)}\n`;
  const small = Buffer.from(block.repeat(1_000));
  const large = Buffer.from(block.repeat(10_000));
  const cost = (text: Buffer) => {
    const { expression, out } = ranges("\\{\\s+bar\\s+\\}", text);
    const start = performance.now();
    const wrong = verifyRanges(expression, {
      bytes: text,
      text: { start: 0, end: text.length },
      claimed: out,
    });
    expect(wrong).toBeUndefined();
    return { ms: performance.now() - start, matches: out.length };
  };
  cost(small);
  let tenSmall = 0;
  for (let i = 0; i < 10; i++) tenSmall += cost(small).ms;
  const { ms, matches } = cost(large);
  expect(matches).toBe(10_000);
  expect(ms).toBeLessThan(3 * tenSmall + 20);
});
