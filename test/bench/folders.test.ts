import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { countsByFolder } from "../../bench/folders.ts";

const name = fc.constantFrom("a", "b", "a.b", "+", "ab");
const tree = fc.dictionary(
  fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `${names.join("/")}/file`),
  fc.integer({ min: 1, max: 9 }),
  { minKeys: 1, maxKeys: 12, noNullPrototype: true },
);

function makeFiles(files: Record<string, number>): string {
  const root = mkdtempSync(join(tmpdir(), "quern-folders-"));
  for (const path of Object.keys(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "");
  }
  return root;
}

test("counting by folders counts every file, and no answer exceeds its limit", async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.integer({ min: 1, max: 30 }), async (files, most) => {
      const root = makeFiles(files);
      const among = (paths: string) =>
        Object.entries(files).filter(([path]) => new RegExp(paths).test(path));
      const total = (paths: string) => among(paths).reduce((sum, [, count]) => sum + count, 0);
      const answers: string[] = [];
      const counts = await countsByFolder({
        root,
        most,
        count: async (paths) => total(paths),
        async perFile(paths) {
          answers.push(paths);
          return among(paths);
        },
      });
      rmSync(root, { recursive: true });
      expect(Object.fromEntries(counts)).toEqual(files);
      for (const paths of answers.filter((one) => !one.endsWith("$")))
        expect(total(paths)).toBeLessThanOrEqual(most);
    }),
    { numRuns: 60 },
  );
});
