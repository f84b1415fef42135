/**
 * Fills memory with one word and frees it, then indexes into the directory of its argument. Memory that the process
 * takes from its heap without clearing it contains the word. The process ends when the index is closed.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";

const [path = "", word = ""] = process.argv.slice(2);
const ROUNDS = 12;
/** The sizes in which LMDB allocates memory: one page, and several pages in a row. */
const SIZES = [4096, 8192, 12_288, 32_768, 36_864];
const TIMES = 200; // of each

/** Leaves the word in freed memory outside V8's heap, where LMDB has its pages, too. */
function leaveInHeap(): void {
  let held = SIZES.flatMap((size) => Array.from({ length: TIMES }, () => Buffer.alloc(size, word)));
  held = [];
  collect();
  if (held.length > 0) throw new Error("held");
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const engine = await open(path, { workers: 0 });
for (let round = 0; round < ROUNDS; round++) {
  leaveInHeap();
  // values of all lengths, so that only a small part of some pages is used
  const files = Array.from({ length: 20 }, (_, n) => ({
    path: `${round}/${n}.ts`,
    content: `export const name${round}_${n} = ${n};\n`.repeat(1 + ((n * n * 31) % 400)),
  }));
  await engine.index(documents({ name: `r${round}`, files }));
  if (round % 3 === 2) await engine.remove(`r${round}`);
}
await engine.close();
