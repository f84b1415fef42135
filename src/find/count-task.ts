/**
 * The first round of a question: counts in how many windows of the files in scope each stem is. Frequencies come from
 * the whole scope, and from nothing outside it. Equal files count as often as they occur, because whether they share a
 * blob depends on the layout of segments, and so on hidden repositories.
 */

import { countBits, forEachBit } from "../base/bitset.ts";
import { bytesOf } from "../base/growable.ts";
import { corrupt } from "../store/format/sealed.ts";
import type { Task } from "../threads/task.ts";
import { WINDOW_BYTES } from "../words/word-table.ts";
import type { CountInput, CountOutput } from "./messages.ts";
import { forEachSegment, type AskedSegment, type WordTools } from "./thread.ts";

export const countTask: Task<CountInput, CountOutput> = async (input, context) => {
  const windows = new Map<string, number>();
  let [allWindows, allFiles] = [0, 0];
  const gaps = await forEachSegment(input, context, (segment, { words }) => {
    const { lists, reader } = segment;
    const { arena } = words;
    const mark = arena.mark();
    const files = arena.put(bytesOf(segment.filesOfBlob));
    const add = (stem: string, list: Uint8Array): void => {
      const count = countWindows(list, segment, words, files);
      if (count > 0) windows.set(stem, (windows.get(stem) ?? 0) + count);
    };
    const exact = new Set(input.stems);
    for (const stem of exact) lists.find(stem, (list) => add(stem, list));
    for (const prefix of input.prefixes)
      lists.withPrefix(prefix, (stem, list) => {
        if (!exact.has(stem)) add(stem, list);
        exact.add(stem);
      });
    arena.release(mark);
    forEachBit(segment.blobs, (blob) => {
      const bytes = reader.blobStarts[blob + 1]! - reader.blobStarts[blob]!;
      allWindows += segment.filesOfBlob[blob]! * Math.ceil(bytes / WINDOW_BYTES);
    });
    allFiles += countBits(segment.files);
  });
  return { windows, allWindows, files: allFiles, gaps };
};

function countWindows(
  list: Uint8Array,
  { reader }: AskedSegment,
  { table, arena }: WordTools,
  files: number,
): number {
  const mark = arena.mark();
  const at = arena.put(list);
  const { blobs } = reader.header;
  const count = table.kernel.run.readStemList(at, at + list.length, blobs, files, 0, 0, 0);
  arena.release(mark);
  if (count < 0) throw corrupt(`a word list of segment ${reader.segment}`);
  return count;
}
