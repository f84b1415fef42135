/** The paths that an expression matches are the same, whether all are scanned at once or each is tried on its own. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyBitset, fullBitset, hasBit, setBit } from "../../src/base/bitset.ts";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { compileExpression } from "../../src/regex/expression.ts";
import { createMatcher } from "../../src/regex/matcher.ts";
import { filesWithPath, pathAnchors } from "../../src/search/thread/planning/path-scan.ts";
import { LiteralScanner } from "../../src/search/thread/reading/literal-scanner.ts";
import type { PathTable } from "../../src/store/segments/segment-tables.ts";
import { RUNS } from "../runs.ts";

const kernel = createKernel();
const arena = new Arena(kernel);
const tools = {
  arena,
  literals: new LiteralScanner(kernel, arena),
  isStopped: () => false,
  pause: () => undefined,
};

function tableOf(paths: readonly string[]): PathTable {
  const parts = paths.map((path) => Buffer.from(path));
  const starts = new Uint32Array(parts.length + 1);
  parts.forEach((part, i) => (starts[i + 1] = starts[i]! + part.length));
  return { starts, bytes: new Uint8Array(Buffer.concat(parts)) };
}

/** So many paths that one scan of all of them pays. */
const padding = Array.from({ length: 40 }, (_, i) => `padding/${i}/${"-".repeat(i)}`);

async function found(pattern: string, paths: readonly string[], among = fullBitset(paths.length)) {
  const mark = arena.mark();
  const expression = compileExpression(pattern, { caseSensitive: false });
  const asked = {
    expression,
    matcher: createMatcher(kernel, expression),
    isPlain: false,
    anchors: pathAnchors(expression.required, arena),
  };
  const files = (await filesWithPath(asked, tableOf(paths), among, tools))!;
  arena.release(mark);
  return paths.filter((_, file) => hasBit(files, file));
}

test.each<[pattern: string, paths: string[], found: string[]]>([
  ["raid5", ["a/raid5.c", "RAID5", "raid", "5"], ["a/raid5.c", "RAID5"]],
  ["raid5", ["x/raid", "5/y"], []],
  ["aaa", ["aa", "aaa", "b"], ["aaa"]], // hidden by the one from the path before
  ["^a.*rst$", ["a.rst", "b/a.rst", "a/rst"], ["a.rst", "a/rst"]],
  ["(foo|bar)\\.c", ["foo.c", "BAR.c", "baz.c"], ["foo.c", "BAR.c"]],
  ["(one|two|three|four|five)", ["x/five", "six"], ["x/five"]],
  ["task", ["ta\u017fk.c", "tas", "k"], ["ta\u017fk.c"]],
  ["^$", ["", "a"], [""]],
  [".h$", ["a.h", "h.a", ".h"], ["a.h", ".h"]],
  ["abc", [], []],
])("%s", async (pattern, paths, expected) => {
  expect(await found(pattern, [...paths, ...padding])).toEqual(expected);
});

const LETTERS = ["a", "B", "b", "c", "/", ".", "k", "\u212a", "é", "É", "\n", "ß"];
const path = fc
  .array(fc.constantFrom(...LETTERS), { maxLength: 12 })
  .map((letters) => letters.join(""));
const pattern = fc.oneof(
  path.filter((text) => text !== "").map((text) => text.replaceAll(".", "\\.")),
  fc.constantFrom("abc?", "^abc", "abc$", "(abc|bca|.ab)", "abc.*abc", "aaa", "[ab]bc", "(?s)k.k"),
);

test("any paths, any of them asked for", async () => {
  await fc.assert(
    fc.asyncProperty(
      pattern,
      fc.array(path, { maxLength: 30 }),
      fc.nat(),
      async (asked, some, seed) => {
        const paths = [...some, ...padding];
        const among = emptyBitset(paths.length);
        for (let file = 0; file < paths.length; file++)
          if ((file * 7 + seed) % 5 !== 0) setBit(among, file);
        const matcher = createMatcher(kernel, compileExpression(asked, { caseSensitive: false }));
        const expected = paths.filter((one, file) => {
          const mark = arena.mark();
          const at = arena.put(Buffer.from(one));
          const count = matcher.count(at, at + Buffer.byteLength(one));
          arena.release(mark);
          return count > 0 && hasBit(among, file);
        });
        expect(await found(asked, paths, among)).toEqual(expected);
      },
    ),
    { numRuns: 500 * RUNS },
  );
});
