/** A thread that keeps and reads pages as fast as it can, and counts wrong pages. */

import { PAGE_BYTES } from "../../src/store/format/format.ts";
import { parentPort, workerData } from "node:worker_threads";
import {
  TextCache,
  type CachedPage,
  type TextCacheMemory,
} from "../../src/store/segments/text-cache.ts";

const PAGE = PAGE_BYTES;
const { memory, worker, pages, rounds } = workerData as {
  memory: TextCacheMemory;
  worker: number;
  pages: number;
  rounds: number;
};

const cache = new TextCache(memory, worker);
const source = new Uint8Array(PAGE);
const target = new Uint8Array(PAGE);
const wanted = Array.from({ length: pages }, (_, number) => Buffer.alloc(PAGE, number));
let [hits, wrong, next] = [0, 0, worker + 1];
for (let round = 0; round < rounds; round++) {
  next = (Math.imul(next, 1103515245) + 12345) >>> 0;
  const number = (next >>> 8) % pages;
  const blob = { start: 0, end: PAGE, blobStart: 0, blobEnd: PAGE };
  const page: CachedPage = { segment: 1, page: number, ...blob };
  if (cache.read(page, [0, PAGE], target, 0)) {
    hits++;
    if (!wanted[number]!.equals(target)) wrong++;
  } else cache.keep(page, source.fill(number), 0);
}
parentPort!.postMessage({ hits, wrong });
