/** A thread that looks up grams in shared memory while others do the same, and counts wrong answers. */

import { isDeepStrictEqual } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { pagesWith } from "../../src/search/thread/planning/candidates.ts";
import { KeptLists, type KeptListsMemory } from "../../src/store/segments/kept-lists.ts";
import { listsOfText } from "../../src/store/segments/postings.ts";
import { indexed } from "./indexed-pages.ts";

const SEGMENTS = 40;
const { memory, thread } = workerData as { memory: KeptListsMemory; thread: number };

const kept = new KeptLists(memory);
let [asked, wrong] = [0, 0];
for (let i = 0; i < SEGMENTS; i++) {
  const segment = 1 + i;
  // of each segment other texts, and enough for several blocks
  const texts = Array.from({ length: 60 }, (_, page) =>
    Array.from({ length: 40 }, (__, word) => (segment * 7919 + page * word * 31).toString(36)).join(
      " ",
    ),
  );
  const { bytes, lookup } = indexed(texts, listsOfText(segment));
  const grams = [...bytes.keys()];
  for (let from = thread; from + 5 < grams.length; from += 97) {
    const some = grams.slice(from, from + 1 + (from % 5));
    asked++;
    if (!isDeepStrictEqual(pagesWith(some, { ...lookup, kept }), pagesWith(some, lookup))) wrong++;
  }
}
parentPort!.postMessage({ asked, wrong });
