/** Decodes long MessagePack lists in slices, because a hundred thousand maps at once would block the thread for 40 ms. */

import { unpackMultiple } from "msgpackr";
import type { Pause } from "../../base/yield.ts";
import { corrupt } from "./sealed.ts";

/** Some 0.1 ms. */
const ITEMS_PER_PAUSE = 256;

/** Decodes a list that fills all of `list`. REQUIRES: `list` is a copy, because other reads run while this pauses. */
export async function unpackList<T>(list: Uint8Array, what: string, pause: Pause): Promise<T[]> {
  const items: T[] = [];
  for (let rest = itemsOf(list, what); rest.length > 0;) {
    let [left, read] = [ITEMS_PER_PAUSE, 0];
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

/** Returns the bytes of the items, without the head of the list. */
function itemsOf(list: Uint8Array, what: string): Uint8Array {
  const head = list[0]!;
  if (head >= 0x90 && head < 0xa0) return list.subarray(1);
  if (head === 0xdc) return list.subarray(3);
  if (head === 0xdd) return list.subarray(5);
  throw corrupt(what);
}
