/** MessagePack lists that are too long to be read at once on a thread that others use: a hundred thousand maps take 40 ms. */

import { unpackMultiple } from "msgpackr";
import type { Pause } from "../../base/yield.ts";
import { corrupt } from "./sealed.ts";

/** Some 0.1 ms. */
const ITEMS_A_LOOK = 256;

/** The items of a list, of which nothing else is behind. REQUIRES: a copy, since others read while this one pauses. */
export async function unpackList<T>(list: Uint8Array, what: string, pause: Pause): Promise<T[]> {
  const items: T[] = [];
  for (let rest = itemsOf(list, what); rest.length > 0;) {
    let [left, read] = [ITEMS_A_LOOK, 0];
    unpackMultiple(rest, (one: T, _from?: number, to = 0) => {
      items.push(one);
      read = to;
      return --left > 0;
    });
    rest = rest.subarray(read);
    await pause();
  }
  return items;
}

/** What stands behind the head of a list. */
function itemsOf(list: Uint8Array, what: string): Uint8Array {
  const head = list[0]!;
  if (head >= 0x90 && head < 0xa0) return list.subarray(1);
  if (head === 0xdc) return list.subarray(3);
  if (head === 0xdd) return list.subarray(5);
  throw corrupt(what);
}
