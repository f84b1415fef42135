/**
 * Builds the result for a matching file. If the query searches content, or if the whole content was requested, the
 * content is read again. The ranges in the content are found again, and chunks are cut around them.
 */

import { decodeText } from "../../../base/decode-text.ts";
import { GrowableWords } from "../../../base/growable.ts";
import type { Pause } from "../../../base/yield.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { NO_BLOB } from "../../../store/format/format.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { pathOf } from "../../../store/segments/segment-tables.ts";
import { cutChunks } from "./chunks.ts";
import { bestFirst } from "./best-lines.ts";
import { mergeInSlices, pathRanges, shownLists, type Confirm } from "../scanning/file-ranges.ts";
import { shownBy, type ShownAtoms } from "../planning/shown-atoms.ts";
import type { Facts } from "../planning/evaluate.ts";
import type { ShownFile } from "../../messages/messages.ts";
import type { ResultSymbol } from "../../messages/response.ts";
import { inOrder, NO_CHUNKS, rangesIn, type PackedChunks } from "../../messages/packed-chunks.ts";
import { showInKernel } from "../literal/literal-show.ts";
import { Enclosing } from "./enclosing.ts";
import { Lines, type Line } from "./positions.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import { anywhere } from "../planning/atom-plan.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import { verified, verifiedShort, type Asking } from "./verify-shown.ts";
import { VisitedBlobs } from "../scanning/visited-blobs.ts";
import { Window } from "../reading/window.ts";

/** The number of pairs that are put in order between two checks of the clock. This takes about a millisecond. */
const PAIRS_A_LOOK = 2 ** 16;

export interface Showing {
  readonly query: PreparedQuery;
  readonly tools: SearchTools;
  readonly snapshot: Snapshot;
  readonly contextLines: number;
  readonly whole: boolean;
  /** Whether each range is returned with the definition around it. */
  readonly enclosing: boolean;
  /** Whether the best lines come first, because the request limits the ranges of a file. */
  readonly isBestFirst: boolean;
  /**
   * Called and awaited regularly.
   * REQUIRES: no other task uses the tools until showFile() has finished.
   */
  readonly pause: Pause;
  /** Called when RE2 and the automaton disagree. */
  readonly onDisagreement: (message: string) => void;
}

export interface FileToShow {
  readonly reader: SegmentReader;
  readonly symbols: SegmentSymbols | undefined;
  readonly file: number;
  readonly sets: (set: number) => boolean;
  /** The number of ranges to skip before the first one that is shown. */
  readonly skip: number;
  readonly most: number;
}

export async function showFile(
  showing: Showing,
  wanted: FileToShow,
): Promise<{ shown: ShownFile; bytesLoaded: number }> {
  const { query, tools, snapshot } = showing;
  const { reader, file, skip, most } = wanted;
  const path = pathOf(reader.paths(snapshot), file);
  const blob = reader.files.blobs[file]!;
  const isRead = blob !== NO_BLOB && readsContent(showing);
  const symbolBytes = wanted.symbols?.bytesLoaded ?? 0;
  const chunks = isRead && isPlain(showing) && showInKernel(showing, { ...wanted, blob });
  if (chunks) return shownByKernel(wanted, { path, chunks, blob, symbolBytes });
  const content = isRead ? await readContent(showing, wanted, { blob, symbolBytes }) : undefined;
  const facts = factsOf(showing, wanted, { path, content });
  const shown = shownBy(query, facts);
  const pairs = content
    ? await mergeInSlices(shownLists(shown.content, content.visited.found, 0), tools)
    : new Uint32Array(0);
  // if there was no time to read and search the content, no range is shown
  const isLate = pairs.length === 0 && query.contentAtoms.length > 0 && tools.isStopped();
  const name = pathRanges(path, shown.paths, { query, tools, confirm: confirmOf(showing) });
  const hasOwnName = shown.paths.length > 0;
  const nameLines = new Lines(Buffer.from(path), () => 0);
  const terms = showing.isBestFirst ? termsOf(shown, content) : undefined;
  const cut =
    content && pairs.length > 0 ? await content.chunks(pairs, { skip, most, terms }) : NO_CHUNKS;
  const nameShown = isLate || (pairs.length > 0 && !hasOwnName) ? new Uint32Array(0) : name;
  return {
    bytesLoaded: content?.bytesLoaded ?? 0,
    shown: {
      path: decodeText(path),
      language: reader.header.languages[reader.files.languages[file]!]!,
      nameRanges: rangesOf(
        nameLines,
        pairs.length > 0 ? nameShown : nameShown.subarray(2 * skip, 2 * (skip + most)),
      ),
      chunks: cut,
      count:
        pairs.length > 0
          ? rangesIn(cut) // may be fewer than `most`, if there was no time for more
          : isLate
            ? 0
            : Math.min(most, name.length / 2 - skip),
      ...(showing.whole && content ? { content: content.text() } : {}),
    },
  };
}

/** Whether the answer has nothing of a file but the lines of its first ranges. */
const isPlain = ({ whole, enclosing, isBestFirst }: Showing): boolean =>
  !whole && !enclosing && !isBestFirst;

function shownByKernel(
  { reader, symbols, file }: FileToShow,
  found: {
    readonly path: Uint8Array;
    readonly chunks: PackedChunks;
    readonly blob: number;
    readonly symbolBytes: number;
  },
): { shown: ShownFile; bytesLoaded: number } {
  const { path, chunks, blob, symbolBytes } = found;
  const textBytes = reader.blobStarts[blob + 1]! - reader.blobStarts[blob]!;
  return {
    bytesLoaded: textBytes + (symbols?.bytesLoaded ?? 0) - symbolBytes,
    shown: {
      path: decodeText(path),
      language: reader.header.languages[reader.files.languages[file]!]!,
      nameRanges: [],
      chunks,
      count: rangesIn(chunks),
    },
  };
}

/** Returns the ranges of each content atom whose ranges are shown. */
const termsOf = (
  shown: ShownAtoms,
  content: { readonly visited: VisitedBlobs } | undefined,
): Uint32Array[] => (content ? shownLists(shown.content, content.visited.found, 0) : []);

const askingOf = ({ tools, onDisagreement }: Showing): Asking => ({
  isLate: tools.isDue,
  isBrief: tools.isInline,
  onDisagreement,
});

const confirmOf =
  (showing: Showing): Confirm =>
  (expression, bytes, claimed) =>
    verifiedShort(expression, { bytes, claimed }, askingOf(showing));

/**
 * Returns true if the content of a file must be read. Once the search was stopped, this is so only if the whole content
 * was requested.
 */
const readsContent = ({ query, tools, whole }: Showing): boolean =>
  whole || (query.contentAtoms.length > 0 && !tools.isStopped());

function rangesOf(lines: Lines, pairs: Uint32Array): ReturnType<Lines["range"]>[] {
  const ranges = [];
  for (let i = 0; i < pairs.length; i += 2) ranges.push(lines.range(pairs[i]!, pairs[i + 1]!));
  return ranges;
}

/** Loads a whole blob into kernel memory and scans it for every content atom. */
async function readContent(
  showing: Showing,
  { reader, skip, most, symbols }: Omit<FileToShow, "file" | "sets">,
  { blob, symbolBytes }: { readonly blob: number; readonly symbolBytes: number },
) {
  const { query, tools, snapshot, isBestFirst } = showing;
  const { kernel } = tools;
  const seen = isBestFirst ? Infinity : skip + most; // the best line may be the last one
  const blobs = { firstBlob: blob, endBlob: blob + 1, visited: [blob] };
  const window = new Window(reader, blobs, { ...tools, snapshot });
  window.load(blob, reader.firstPages[blob]!, reader.firstPages[blob + 1]!, 0);
  const visited = new VisitedBlobs([blob], {
    query,
    atoms: query.atoms.map(anywhere),
    order: query.contentAtoms,
    symbols,
    mayMatch: () => true,
    wantsPairs: true,
    confirm: confirmOf(showing),
    most: query.contentAtoms.length === 1 && !isBestFirst ? seen : undefined,
  });
  await visited.scan(window, tools);
  const from = window.address(blob);
  for (const atom of query.contentAtoms) {
    const prepared = query.atoms[atom]!;
    const found = visited.found[atom];
    if (prepared.kind !== "content" || !found) continue;
    const text = {
      kernel,
      from,
      to: from + window.length(blob),
      first: isBestFirst || query.contentAtoms.length > 1 ? 0 : skip,
      most: seen,
      ...askingOf(showing),
    };
    visited.found[atom] = verified(prepared.placed.expression, found, text);
  }
  return {
    visited,
    get bytesLoaded() {
      return window.bytesLoaded + (symbols?.bytesLoaded ?? 0) - symbolBytes;
    },
    ...placedText(showing, { blob, symbols, origin: from, length: window.length(blob) }),
  };
}

interface PlacedText {
  readonly blob: number;
  readonly symbols: SegmentSymbols | undefined;
  /** The address of the blob's text in the kernel's memory. */
  readonly origin: number;
  readonly length: number;
}

/**
 * Returns a function that decodes a blob's text, and a function that cuts chunks from it. The text is in the kernel's
 * memory.
 */
function placedText(
  { tools, contextLines, enclosing, pause }: Showing,
  { blob, symbols, origin, length }: PlacedText,
) {
  const { kernel, arena, isStopped } = tools;
  // a new view is created for each use, because a view becomes invalid when the kernel's memory grows
  const text = () => Buffer.from(kernel.bytes.buffer, origin, length);
  const count = (start: number, end: number) =>
    kernel.run.countNewlines(origin + start, origin + end);
  const known = symbols?.has(blob) ? symbols : undefined;
  const cut = (pairs: Uint32Array) =>
    cutChunks(new Lines(text(), count), pairs, {
      contextLines,
      symbolOf: (start, end) => known?.at(blob, [start, end], text()),
      enclosing: enclosing ? definitionAround(known, blob, text()) : undefined,
      pause,
      isStopped,
    });
  return {
    text: () => decodeText(text()),
    /**
     * Cuts chunks around the ranges to show. If `terms` is set, these are the ranges in the best lines for these terms.
     * Otherwise they are the first ranges in the file.
     */
    async chunks(pairs: Uint32Array, { skip, most, terms }: ShownPart) {
      const end = skip + most;
      if (!terms) return cut(pairs.subarray(2 * skip, 2 * end));
      const rated = {
        origin,
        length,
        definitions: known?.of(blob),
        kernel,
        arena,
        pause,
        isStopped,
        most: end,
      };
      const order = (await bestFirst(pairs, terms, { ...rated, text: text() })).slice(skip, end);
      const best = await inFileOrder(pairs, order, tools);
      return inOrder(await cut(best.pairs), best.places, { pause, isStopped });
    },
  };
}

/**
 * Returns a function that finds the definition around a line of a blob.
 * REQUIRES: the function is called with lines in ascending order.
 */
function definitionAround(
  symbols: SegmentSymbols | undefined,
  blob: number,
  text: Buffer,
): (line: Line) => ResultSymbol | null {
  if (!symbols) return () => null;
  const found = new Enclosing(text, symbols.of(blob));
  let [row, shown]: [number, ResultSymbol | null] = [-1, null];
  return (line) => {
    const around = found.at(line);
    if (around !== row) shown = around < 0 ? null : symbols.symbol(blob, around, text);
    row = around;
    return shown;
  };
}

interface ShownPart {
  readonly skip: number;
  readonly most: number;
  readonly terms: readonly Uint32Array[] | undefined;
}

/**
 * Returns the pairs whose indexes are in `order`, in the order of the file, and the position of each pair in `order`.
 * If the search is stopped, returns only the first pairs of the file.
 */
async function inFileOrder(
  pairs: Uint32Array,
  order: Uint32Array,
  { isStopped, pause }: Pick<SearchTools, "isStopped" | "pause">,
): Promise<{ readonly pairs: Uint32Array; readonly places: Uint32Array }> {
  const last = order.reduce((most, pair) => Math.max(most, pair), -1);
  const next = new Uint32Array(last + 1); // 1 + the position of each pair in `order`, or 0
  order.forEach((pair, place) => (next[pair] = place + 1));
  const [shown, places] = [new GrowableWords(), new GrowableWords()];
  for (let pair = 0; pair < next.length && places.length < order.length; pair++) {
    if (pair % PAIRS_A_LOOK === PAIRS_A_LOOK - 1) {
      if (isStopped()) break;
      await pause();
    }
    if (next[pair] === 0) continue;
    shown.push(pairs[2 * pair]!);
    shown.push(pairs[2 * pair + 1]!);
    places.push(next[pair]! - 1);
  }
  return { pairs: shown.view, places: places.view };
}

function factsOf(
  { query, tools }: Showing,
  { reader, file, sets }: FileToShow,
  { path, content }: { path: Uint8Array; content: { visited: VisitedBlobs } | undefined },
): Facts {
  return {
    set: sets,
    atom(number) {
      const atom = query.atoms[number]!;
      switch (atom.kind) {
        case "literal":
        case "content":
        case "symbol":
          return content ? content.visited.verdict(number, 0) : false;
        case "language":
          return (
            atom.language !== undefined &&
            reader.header.languages[reader.files.languages[file]!] === atom.language
          );
        case "path": {
          const mark = tools.arena.mark();
          const at = tools.arena.put(path);
          const count = atom.matcher.count(at, at + path.length);
          tools.arena.release(mark);
          return count > 0;
        }
      }
    },
  };
}
