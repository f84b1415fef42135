/**
 * Writes src/kernel/folding-table.ts. It asks RE2 which code points match each other if case is ignored. Run it (npx
 * tsx scripts/build-folding-table.ts) when the RE2 package changes.
 *
 * The candidates come from the Unicode data of this Node, which may have more pairs than RE2. A newer Node never has
 * fewer. test/kernel/folding.long.test.ts asks RE2 about every code point.
 */

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

interface Pattern {
  match(text: string, start: number, groups: boolean): { index: number };
  delete(): void;
}
const { WrappedRE2 } = createRequire(import.meta.url)("re2-wasm/build/wasm/re2.js") as {
  WrappedRE2: new (source: string, ignoreCase: boolean, multi: boolean, dotAll: boolean) => Pattern;
};

const LIMIT = 0x20000;
const text = (cp: number) => String.fromCodePoint(cp);
const isSurrogate = (cp: number) => cp >= 0xd800 && cp <= 0xdfff;
const single = (folded: string, cp: number) =>
  folded === text(folded.codePointAt(0)!) ? folded.codePointAt(0)! : cp;
const lower = (cp: number) => single(text(cp).toLowerCase(), cp);
const upper = (cp: number) => single(text(cp).toUpperCase(), cp);

function candidates(): number[] {
  const found = new Set<number>();
  for (let cp = 0; cp < LIMIT; cp++) {
    const folded = [text(cp).toLowerCase(), text(cp).toUpperCase()];
    if (isSurrogate(cp) || folded.every((other) => other === text(cp))) continue;
    for (const relative of [cp, lower(cp), upper(cp)]) found.add(relative);
  }
  return [...found].sort((a, b) => a - b);
}

function orbitOf(cp: number, all: readonly number[], haystack: string): number[] {
  const pattern = new WrappedRE2(`\\x{${cp.toString(16)}}`, true, false, false);
  const members: number[] = [];
  for (let at = 0; ;) {
    const { index } = pattern.match(haystack, at, false);
    if (index < 0) break;
    members.push(all[index]!);
    at = index + 1;
  }
  pattern.delete();
  return members;
}

function representative(members: readonly number[]): number {
  const ascii = members.find((cp) => cp >= 0x61 && cp <= 0x7a);
  const ordinary = members.find((cp) => lower(cp) === cp && lower(upper(cp)) === cp);
  return ascii ?? ordinary ?? members.find((cp) => lower(cp) === cp) ?? members[0]!;
}

/**
 * Returns runs of (start, count, step, delta): neighbouring code points, or every second one, that have the same
 * distance to their representatives.
 */
function runs(moves: readonly (readonly [number, number])[]): number[][] {
  const left = new Map(moves);
  const out: number[][] = [];
  for (const [start, delta] of moves) {
    if (!left.has(start)) continue;
    const length = (step: number) => {
      let count = 1;
      while (left.get(start + count * step) === delta) count++;
      return count;
    };
    const step = length(2) > length(1) ? 2 : 1;
    const count = length(step);
    for (let i = 0; i < count; i++) left.delete(start + i * step);
    out.push([start, count, step, delta]);
  }
  return out;
}

const all = candidates();
const haystack = all.map(text).join("");
const moves: [number, number][] = [];
for (const cp of all) {
  const members = orbitOf(cp, all, haystack);
  const delta = representative(members) - cp;
  if (members.length > 1 && delta !== 0) moves.push([cp, delta]);
}
const table = runs(moves);
writeFileSync(
  new URL("../src/kernel/folding-table.ts", import.meta.url),
  `// made by scripts/build-folding-table.ts: (first code point, count, step, distance to the representative)
export const FOLDING_RUNS: readonly number[] = [
${table.map((run) => `  ${run.join(", ")},`).join("\n")}
];
`,
);
console.log(`${moves.length} code points fold to another one, in ${table.length} runs`);
