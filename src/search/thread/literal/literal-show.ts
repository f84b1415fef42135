/** Shows files of a search for one literal. The kernel finds the matches again, and cuts the chunks. */

import * as job from "../../../kernel/job.ts";
import { corrupt } from "../../../store/format/sealed.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { SYMBOL_KINDS } from "../../../store/symbols/symbol-kinds.ts";
import type { PackedChunks } from "../../messages/packed-chunks.ts";
import type { ResultSymbol } from "../../messages/response.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import { MOST_RUN_BYTES, NEVER, type Room } from "../reading/room.ts";
import { shownName, type SegmentSymbols } from "../reading/segment-symbols.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import { literalOf, placeLiteral } from "./literal-run.ts";
import { readRunTo } from "./literal-work.ts";

export interface BlobToShow {
  readonly reader: SegmentReader;
  readonly symbols: SegmentSymbols | undefined;
  readonly blob: number;
  readonly skip: number;
  readonly most: number;
}

interface Showing {
  readonly query: PreparedQuery;
  readonly tools: SearchTools;
  readonly snapshot: Snapshot;
  readonly contextLines: number;
}

/**
 * Returns the chunks around the matches [skip, skip + most) in a blob. Returns undefined if the query is another one, or
 * if the kernel cannot show the blob.
 */
export function showInKernel(showing: Showing, wanted: BlobToShow): PackedChunks | undefined {
  const { query, tools, snapshot, contextLines } = showing;
  const { reader, symbols, blob, skip, most } = wanted;
  const { room } = tools;
  const literal = room && literalOf(query);
  if (!literal || most > job.MOST_RANGES || skip + most > job.MOST_PAIRS) return undefined;
  const length = reader.blobStarts[blob + 1]! - reader.blobStarts[blob]!;
  if (length > job.MOST_SHOWN || !placeBlob(room, wanted)) return undefined;
  placeLiteral(room, literal);
  room.calls = {
    ...NEVER,
    readText: (from, to, at) => reader.copyText(snapshot, from, to, room.bytes, at),
    readRun: (one) => readRunTo(room, symbols!, one),
    brokenRun: () => {
      throw corrupt("a run of symbols");
    },
  };
  const isShown = room.kernel.showLiteral(room.job, room.shown, blob, skip, most, contextLines);
  return isShown === 1 ? packed(room, room.address(job.WINDOW)) : undefined;
}

/** Writes the tables that the kernel needs for the blob. Returns false if some are not in the shared memory. */
function placeBlob(room: Room, { reader, symbols }: BlobToShow): boolean {
  if (symbols && symbols.mostRunBytes > MOST_RUN_BYTES) return false;
  const columns = [
    [job.BLOB_STARTS, reader.blobStarts],
    [job.FIRST_PAGES, reader.firstPages],
    [job.FOLDS, reader.folds],
    [job.SYMBOL_STARTS, symbols?.runStarts],
  ] as const;
  for (const [word, column] of columns) {
    const at = column ? room.addressOf(column) : 0;
    if (at === undefined) return false;
    room.words[(room.shown + word) >>> 2] = at;
  }
  return true;
}

/** Copies what the kernel has shown. `text` is the address of the blob's text. */
function packed(room: Room, text: number): PackedChunks {
  const { words, bytes } = room;
  const shown = room.address(job.SHOWN);
  const chunkCount = room.address(job.CHUNKS_SHOWN);
  const textBytes = room.address(job.TEXT_SHOWN);
  const chunks = words.slice(shown >>> 2, (shown >>> 2) + 5 * chunkCount);
  let ranges = 0;
  for (let i = 1; i < chunks.length; i += 5) ranges += chunks[i]!;
  const from = (shown + job.SHOWN_RANGES) >>> 2;
  return {
    text: bytes.slice(shown + job.SHOWN_TEXT, shown + job.SHOWN_TEXT + textBytes),
    chunks,
    ranges: words.slice(from, from + 6 * ranges),
    symbols: symbolsOf(room, text),
  };
}

function symbolsOf(room: Room, text: number): [number, ResultSymbol[]][] {
  const { words, bytes } = room;
  const nameAt = (at: number) => ({
    symbol: shownName(bytes, text + words[at]!, text + words[at + 1]!),
    kind: SYMBOL_KINDS[words[at + 2]!]!,
  });
  const found: [number, ResultSymbol[]][] = [];
  let at = (room.address(job.SHOWN) + job.SHOWN_SYMBOLS) >>> 2;
  for (let left = room.address(job.SYMBOLS_SHOWN); left > 0; left--, at += job.SYMBOL_WORDS) {
    const chunk = words[at]!;
    const hasParent = words[at + 5]! > 0;
    const symbol = hasParent ? { ...nameAt(at + 1), parent: nameAt(at + 4) } : nameAt(at + 1);
    const last = found.at(-1);
    if (last?.[0] === chunk) last[1].push(symbol);
    else found.push([chunk, [symbol]]);
  }
  return found;
}
