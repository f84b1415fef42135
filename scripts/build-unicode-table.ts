/**
 * Writes the members of every \p{…} class of RE2 to src/regex/unicode-table.ts. Run it (npx tsx
 * scripts/build-unicode-table.ts) when the RE2 package changes.
 *
 * The names are the words in RE2's module that RE2 accepts in \p{…}. The members are what each class matches in a text
 * of all code points, block by block. Surrogates are written as three bytes, in the form of UTF-8, because RE2 matches
 * these.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
interface Pattern {
  ok(): boolean;
  match(text: Uint8Array, start: number, groups: boolean): { index: number };
  delete(): void;
}
const { WrappedRE2 } = require("re2-wasm/build/wasm/re2.js") as {
  WrappedRE2: new (source: string, ignoreCase: boolean, multi: boolean, dotAll: boolean) => Pattern;
};

const BLOCK = 4096;
const blocks = Array.from({ length: 0x110000 / BLOCK }, (_, i) => encodeBlock(i * BLOCK));

function encodeBlock(from: number): Uint8Array {
  const bytes: number[] = [];
  for (let cp = from; cp < from + BLOCK; cp++) {
    if (cp < 0x80) bytes.push(cp);
    else if (cp < 0x800) bytes.push(0xc0 | (cp >> 6), 0x80 | (cp & 63));
    else if (cp < 0x10000) bytes.push(0xe0 | (cp >> 12), 0x80 | ((cp >> 6) & 63), 0x80 | (cp & 63));
    else
      bytes.push(
        0xf0 | (cp >> 18),
        0x80 | ((cp >> 12) & 63),
        0x80 | ((cp >> 6) & 63),
        0x80 | (cp & 63),
      );
  }
  return Uint8Array.from(bytes);
}

function names(): string[] {
  const module = readFileSync(require.resolve("re2-wasm/build/wasm/re2.wasm"), "latin1");
  const words = new Set(module.match(/[A-Z][A-Za-z_]*/g));
  return [...words].filter((word) => word !== "Any" && accepted(word)).sort();
}

function accepted(name: string): boolean {
  const pattern = new WrappedRE2(`\\p{${name}}`, false, false, false);
  const ok = pattern.ok();
  pattern.delete();
  return ok;
}

/** Returns the class as numbers: for each range, the gap before it and its length. */
function members(name: string): number[] {
  const inside = new WrappedRE2(`\\p{${name}}`, false, false, true);
  const outside = new WrappedRE2(`\\P{${name}}`, false, false, true);
  const edges: number[] = [];
  for (const [i, text] of blocks.entries()) {
    for (let at = 0; at < BLOCK;) {
      const within = edges.length % 2 === 1;
      const { index } = (within ? outside : inside).match(text, at, false);
      if (index < 0) break;
      edges.push(i * BLOCK + index);
      at = index + 1;
    }
  }
  inside.delete();
  outside.delete();
  if (edges.length % 2 === 1) edges.push(0x110000);
  return edges.map((edge, i) => edge - (edges[i - 1] ?? 0));
}

const rows = names().map(
  (name) =>
    `  ["${name}", "${members(name)
      .map((n) => n.toString(36))
      .join(" ")}"],`,
);
writeFileSync(
  new URL("../src/regex/unicode-table.ts", import.meta.url),
  `// made by scripts/build-unicode-table.ts: per class, in base 36, gap and length of each range in turn
export const UNICODE_CLASSES: ReadonlyMap<string, string> = new Map([
${rows.join("\n")}
]);
`,
);
console.log(`${rows.length} classes`);
