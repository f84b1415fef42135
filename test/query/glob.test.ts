/** Tries globs, as regular expressions, on paths. */

import { expect, test } from "vitest";
import { globPattern, looksLikeGlob } from "../../src/query/glob.ts";

test.each<[glob: string, matching: string, others: string]>([
  ["*.ts", "a.ts src/a.ts src/.ts", "a.tsx a.ts/b ats"],
  ["src/*.ts", "src/a.ts", "a.ts src/b/a.ts lib/src/a.ts"],
  ["/a.ts", "a.ts", "src/a.ts"],
  ["**/test/*.ts", "test/a.ts x/y/test/a.ts", "xtest/a.ts test/b/a.ts"],
  ["src/**", "src/a src/b/c", "src lib/src/a"],
  ["src/", "src/a src/b/c", "src a/src/b"],
  ["src/**/a.c", "src/a.c src/x/y/a.c", "src/xa.c"],
  ["a?.c", "ab.c x/a1.c", "a.c abc.c a/.c"],
  ["[a-c]x", "ax cx", "dx x"],
  ["[!a-c]x", "dx", "ax a/x"],
  ["*.{ts,tsx}", "a.ts b/a.tsx", "a.t a.tsxx"],
  ["{a,b*}.c", "a.c b.c bcd.c", "c.c ad.c"],
  ["a+b(c).d", "a+b(c).d x/a+b(c).d", "aab(c)xd"],
  ["\\*.c", "*.c", "a.c"],
  ["a[b", "a[b", "ab"],
  ["a{b", "a{b", "ab"],
])("%s", (glob, matching, others) => {
  const pattern = new RegExp(globPattern(glob), "u");
  for (const path of matching.split(" ")) expect(path, `${pattern}`).toMatch(pattern);
  for (const path of others.split(" ")) expect(path, `${pattern}`).not.toMatch(pattern);
});

test.each<[string, boolean]>([
  ["*.ts", true],
  ["src/*.ts", true],
  ["**/test", true],
  ["src/**", true],
  ["test-*", true],
  ["*.{ts,js}", true],
  ["\\.ts$", false],
  [".*test", false],
  ["(a|b)*", false],
  ["src/main", false],
  ["a.ts", false],
  ["[ab]*c", false],
])("%s looks like a glob: %s", (value, expected) => expect(looksLikeGlob(value)).toBe(expected));
