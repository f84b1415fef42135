/**
 * Fuzzes the decoder of posting lists with any bytes. It must find the same pages as a slow decoder, or refuse the
 * bytes if that decoder refuses them. The bytes before and after the list and the bitmap must stay unread and
 * unchanged.
 */

import { QuernError } from "../src/base/errors.ts";
import { Arena } from "../src/kernel/arena.ts";
import { createKernel } from "../src/kernel/kernel.ts";
import { pagesWith } from "../src/search/thread/planning/candidates.ts";
import type { Snapshot } from "../src/store/lmdb/environment.ts";
import { pagesOfList } from "../src/store/segments/posting-bits.ts";
import { listsOfText, PostingsReader } from "../src/store/segments/postings.ts";
import { seal } from "../src/store/format/sealed.ts";
import { lookupIn } from "../test/search/indexed-pages.ts";
import { mutateSeed } from "./mutate.ts";
import { holds, type Target } from "./target.ts";

const MOST_PAGES = 70_000;
const kernel = createKernel();
const arena = new Arena(kernel);

/** A seed consists of the number of pages (4 bytes), a byte that is odd for a bitmap, and the list. */
export const postings: Target = {
  make(random, seeds) {
    if (random(2) === 0) return mutateSeed(random, seeds);
    const bytes = Buffer.alloc(5 + random(300));
    for (let i = 0; i < bytes.length; i++) bytes[i] = random(random(3) === 0 ? 256 : 130);
    bytes.writeUInt32LE(random(MOST_PAGES), 0);
    return bytes;
  },
  check(input) {
    if (input.length < 5) return checkBlock(input);
    const pages = input.readUInt32LE(0) % MOST_PAGES;
    const isBitmap = input[4]! % 2 === 1;
    const bytes = input.subarray(5);
    checkList(bytes, isBitmap, pages);
    if (!isBitmap) checkEdges(bytes, pages);
    checkBlock(bytes);
  },
};

function checkList(bytes: Buffer, isBitmap: boolean, pages: number): void {
  const got = pagesOfList({ isBitmap, bytes }, pages, { kernel, arena });
  if (isBitmap) {
    holds((got !== undefined) === (bytes.length === Math.ceil(pages / 8)), "a bitmap's length");
    return;
  }
  const want = slowPages(bytes, pages);
  holds((got === undefined) === (want === undefined), `it is ${got ? "accepted" : "refused"}`);
  if (!got || !want) return;
  const found = [...got.keys()].flatMap((word) =>
    Array.from({ length: 32 }, (_, bit) => 32 * word + bit).filter(
      (page) => (got[word]! >>> (page & 31)) & 1,
    ),
  );
  holds(String(found) === String(want), `pages ${found.join(" ")} for ${want.join(" ")}`);
}

/** The slow decoder. It uses whole numbers and no bit operations. */
function slowPages(bytes: Buffer, pages: number): number[] | undefined {
  const out: number[] = [];
  let page = -1;
  for (let at = 0; at < bytes.length;) {
    let [gap, scale, byte] = [0, 1, 0x80];
    for (; byte >= 0x80; scale *= 128) {
      if (at === bytes.length || scale > 128 ** 4) return undefined;
      byte = bytes[at++]!;
      gap += (byte % 128) * scale;
    }
    page += gap;
    if (gap === 0 || gap >= 2 ** 32 || page >= pages) return undefined;
    out.push(page);
  }
  return out;
}

const GUARD = 64;
const place = kernel.reserve(2 * GUARD + MOST_PAGES / 8 + 64 + (1 << 17) + 2 * GUARD) + GUARD;

function checkEdges(bytes: Buffer, pages: number): void {
  const bitmapBytes = 4 * Math.ceil(pages / 32);
  const list = (place + bitmapBytes + GUARD + 15) & ~15;
  const end = list + bytes.length;
  kernel.bytes.fill(0xa5, place - GUARD, end + GUARD);
  kernel.bytes.fill(0, place, place + bitmapBytes);
  kernel.bytes.set(bytes, list);
  // the bytes behind a truncated varint must not complete it
  kernel.bytes.fill(1, end, end + GUARD);
  kernel.run.decodeGaps(list, bytes.length, pages, place);
  const untouched = (from: number, to: number, value: number) =>
    kernel.bytes.subarray(from, to).every((byte) => byte === value);
  holds(untouched(place - GUARD, place, 0xa5), "bytes before the bitmap changed");
  holds(untouched(place + bitmapBytes, list, 0xa5), "bytes behind the bitmap changed");
  holds(untouched(end, end + GUARD, 1), "bytes behind the list changed");
}

const DIRECTORY = new Uint8Array(Uint32Array.of(0).buffer);

/** Returns the bytes as a whole block with a valid seal. */
function checkBlock(bytes: Buffer): void {
  const snapshot: Snapshot = {
    get: () => DIRECTORY,
    getSealed: (key) => seal(key, bytes),
    *keys() {},
    close() {},
  };
  try {
    const reader = new PostingsReader(snapshot, listsOfText(1), 1);
    let lists = 0;
    for (const { list } of reader.all(snapshot)) {
      pagesOfList(list, 1000, { kernel, arena });
      holds(++lists <= bytes.length, "more lists than bytes");
    }
    const lookup = lookupIn(reader, snapshot, 1000);
    for (const gram of [0, 1, 0x616263, 0xffffff]) pagesWith([gram], lookup);
  } catch (error) {
    if (!(error instanceof QuernError) || error.code !== "INDEX_CORRUPT") throw error;
  }
}
