/** Merges the word lists of several segments, in which each blob gets a new number or is left out. */

import { GrowableBytes } from "../../base/growable.ts";
import { corrupt } from "../format/sealed.ts";
import { pushVarint } from "./word-lists.ts";

export interface WordsSource {
  /**
   * The new number of each blob, or a number that stands for a blob that is left out. REQUIRES: these numbers ascend,
   * and are greater than those of all sources before.
   */
  readonly blobs: Uint32Array;
  /** The stems in ascending order. A list need not stay valid. */
  readonly lists: Iterator<readonly [stem: string, list: Uint8Array]>;
}

/** Yields the stems of all sources in ascending order, with their lists. A list is valid until the next. */
export function* mergedWords(
  sources: readonly WordsSource[],
  leftOut: number,
): Generator<readonly [stem: string, list: Uint8Array]> {
  // copied, because reading another source may overwrite a list
  const next = ({ lists }: WordsSource): Head | undefined => {
    const { done, value } = lists.next();
    return done ? undefined : { stem: value[0], list: value[1].slice() };
  };
  const heads = sources.map(next);
  for (;;) {
    let least: string | undefined;
    for (const head of heads)
      if (head && !(least !== undefined && head.stem >= least)) least = head.stem;
    if (least === undefined) return;
    const merged = new GrowableBytes(64);
    let last = -1;
    for (const [i, head] of heads.entries()) {
      if (head?.stem !== least) continue;
      for (const [old, windows] of entriesOf(head.list)) {
        const blob = sources[i]!.blobs[old];
        if (blob === undefined) throw corrupt(`the words of a segment name blob ${old}`);
        if (blob === leftOut) continue;
        pushVarint(merged, blob - last);
        merged.pushByte(windows);
        last = blob;
      }
      heads[i] = next(sources[i]!);
    }
    if (merged.length > 0) yield [least, merged.view];
  }
}

interface Head {
  readonly stem: string;
  readonly list: Uint8Array;
}

/** Yields the blobs of a list, each with the number of its windows that have the stem. */
export function* entriesOf(list: Uint8Array): Generator<readonly [blob: number, windows: number]> {
  let blob = -1;
  for (let at = 0; at < list.length;) {
    let gap = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = list[at++];
      if (byte === undefined || shift > 28) throw corrupt("a list of words");
      gap += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const windows = list[at++];
    if (gap === 0 || !windows) throw corrupt("a list of words");
    blob += gap;
    yield [blob, windows];
  }
}
