/** Draws one file of the results, with its path and its matching lines. */

import { useMemo, useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { delay } from "../frame/time.ts";
import { usePage } from "../frame/page-context.ts";
import { MarkedText, PlainText, plainText } from "../frame/plain-text.tsx";
import type { Chunk, FileResult } from "../wire/answers.ts";
import { Refused, wordsOf, type Client } from "../wire/client.ts";
import type { Folded } from "./facets.ts";
import { Block } from "./line-block.tsx";
import { linesOf, pathMarks, type Line } from "./lines.ts";
import { MATCHES_PER_FILE, requestOf, type Asked } from "./live-search.ts";
import { addFilter, filterFor } from "./query-text.ts";
import { useColour } from "./use-colour.ts";
import { useNear } from "./use-near.ts";
import { widen } from "./widen.ts";

const LINES_SHOWN = 12;
/** If at most this many lines would be hidden, they are shown without a click. */
const SLACK = 3;
const WIDER = 5;

interface FileCardProps extends Folded {
  asked: Asked;
  /** Whether the query asks for revisions. If not, each file belongs to its repository's default revision. */
  showsRefs: boolean;
}

/** Lines of a file that follow one another. */
interface Lines {
  lines: Line[];
  isBest: boolean;
}

/** What the reader has unfolded in addition to the lines of the answer. It is valid only for the result `of`. */
interface Unfolded {
  of: FileResult;
  isOpen: boolean;
  /** The blocks of lines that are shown instead of those of the answer. */
  blocks?: Lines[];
  hasAll?: boolean;
  isWide?: boolean;
  error?: unknown;
}

export function FileCard({ file, copies, showsRefs, asked }: FileCardProps) {
  const { client, router } = usePage();
  const [ref, isNear] = useNear<HTMLElement>();
  const colour = useColour(file.language, isNear && file.chunks.length > 0);
  const total = useMatchCount(file, asked, isNear);
  const [kept, setKept] = useState<Unfolded>({ of: file, isOpen: false });
  const unfolded = kept.of === file ? kept : { of: file, isOpen: false };
  const blocks = useMemo(() => unfolded.blocks ?? blocksOf(file.chunks), [file, unfolded.blocks]);
  const address = addressOf(file, showsRefs);
  const name = plainText(file.fileName.text);
  const shown = useMemo(
    () => inOrder(unfolded.isOpen ? blocks : bestOf(blocks)),
    [blocks, unfolded.isOpen],
  );
  const hidden = linesIn(blocks) - linesIn(shown);
  const mayHaveMore = !unfolded.hasAll && rangesIn(file) >= MATCHES_PER_FILE;
  const more = total === undefined ? undefined : total - marksIn(shown);
  const change = (changes: Promise<Partial<Unfolded>>): void =>
    void changes.then(
      (there) => setKept({ ...unfolded, ...there, isOpen: true }),
      (error: unknown) => setKept({ ...unfolded, error }),
    );
  const onWiden = async (): Promise<Partial<Unfolded>> => {
    const { source } = await client.source(address);
    const lines = blocks.flatMap((block) => block.lines);
    const wide = widen(lines, source.split(/\r?\n/), WIDER);
    return { isWide: true, blocks: wide.map((block) => ({ lines: block, isBest: false })) };
  };
  const onAll = async (): Promise<Partial<Unfolded>> => {
    const { chunks } = await matchesIn(file, asked, client);
    const all = chunks.map((chunk) => ({ lines: linesOf(chunk), isBest: false }));
    return { hasAll: true, isWide: false, blocks: all };
  };
  return (
    <article
      ref={ref}
      class="card"
      data-place
      aria-label={`${name} in ${plainText(file.repository)}`}
    >
      <h2 class="card-head">
        <a data-result href={router.href(withFirstLine(address, blocks))}>
          <FilePath file={file} showsRefs={showsRefs} />
        </a>
        {file.chunks.length > 0 && <span class="muted count">{countedMatches(file, total)}</span>}
        {file.language !== "" && <span class="tag">{file.language}</span>}
        {file.chunks.length > 0 && !unfolded.isWide && (
          <button
            type="button"
            class="quiet"
            aria-label={`More context of ${name}`}
            onClick={() => change(onWiden())}
          >
            More context
          </button>
        )}
      </h2>
      {shown.map(({ lines, isBest }) => (
        <Block
          key={lines[0]!.number}
          lines={lines}
          address={address}
          colour={colour}
          isBest={isBest && shown.length > 1}
        />
      ))}
      {unfolded.error !== undefined && <p class="error">{wordsOf(unfolded.error)}</p>}
      {mayHaveMore && (more === undefined || more > 0) && (
        <Unfold text={moreMatches(more)} of={name} onClick={() => change(onAll())} />
      )}
      {!mayHaveMore && hidden > 0 && (
        <Unfold
          text={`Show ${hidden} more ${hidden === 1 ? "line" : "lines"}`}
          of={name}
          onClick={() => setKept({ ...unfolded, isOpen: true })}
        />
      )}
      <Copies copies={copies} showsRefs={showsRefs} />
    </article>
  );
}

const moreMatches = (more: number | undefined): string =>
  more === undefined
    ? "Show all matches"
    : `Show ${more.toLocaleString("en")} more ${more === 1 ? "match" : "matches"}`;

function countedMatches(file: FileResult, total: number | undefined): string {
  const count = total ?? rangesIn(file);
  const isLeast = total === undefined && count >= MATCHES_PER_FILE;
  return `${count.toLocaleString("en")}${isLeast ? "+" : ""} ${count === 1 ? "match" : "matches"}`;
}

const COUNT_AFTER_MS = 300;

/** Returns the number of matches of a file. Asks for it if the answer may contain only some of them. */
function useMatchCount(file: FileResult, asked: Asked, isNear: boolean): number | undefined {
  const { client } = usePage();
  const isAll = rangesIn(file) < MATCHES_PER_FILE;
  const query = queryInFile(file, asked.query);
  const request = { ...requestOf({ ...asked, query }), matches: 0 };
  const key = isAll || !isNear ? undefined : JSON.stringify(request);
  const counted = useAsked(key, async (signal) => {
    await delay(COUNT_AFTER_MS, signal); // while the reader types, nothing is counted
    return (await client.search(request, signal)).stats.totalMatchCount;
  });
  if (isAll) return rangesIn(file);
  return counted.state === "there" ? counted.value : undefined;
}

/** Returns the blocks of an answer, the best one first, without blank lines at their ends. */
function blocksOf(chunks: readonly Chunk[]): Lines[] {
  return chunks.map((chunk, index) => ({
    lines: withoutBlankEnds(linesOf(chunk)),
    isBest: index === 0,
  }));
}

function withoutBlankEnds(lines: Line[]): Line[] {
  const isKept = ({ text, marks }: Line): boolean => marks.length > 0 || text.trim() !== "";
  const from = lines.findIndex(isKept);
  return from < 0 ? lines : lines.slice(from, lines.findLastIndex(isKept) + 1);
}

const inOrder = (blocks: readonly Lines[]): Lines[] =>
  blocks.toSorted((a, b) => a.lines[0]!.number - b.lines[0]!.number);

const linesIn = (blocks: readonly Lines[]): number =>
  blocks.reduce((sum, { lines }) => sum + lines.length, 0);

const marksIn = (blocks: readonly Lines[]): number =>
  blocks.reduce((sum, { lines }) => sum + lines.reduce((s, { marks }) => s + marks.length, 0), 0);

interface UnfoldProps {
  text: string;
  of: string;
  onClick: () => void;
}

function Unfold({ text, of, onClick }: UnfoldProps) {
  return (
    <button type="button" class="quiet unfold" aria-label={`${text} of ${of}`} onClick={onClick}>
      {text}
    </button>
  );
}

const rangesIn = ({ chunks }: FileResult): number =>
  chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0);

const MOST_IN_FILE = 5000;

/**
 * Requests all matches of one file, in the order of the file. A ranked answer contains only the best lines of each
 * file.
 */
async function matchesIn(file: FileResult, asked: Asked, client: Client): Promise<FileResult> {
  const query = queryInFile(file, asked.query);
  const { files } = await client.search({
    ...requestOf({ ...asked, query }),
    matches: MOST_IN_FILE,
  });
  const branchesOf = ({ branches = [] }: FileResult): string => branches.join();
  const found = files.find((one) => branchesOf(one) === branchesOf(file)) ?? files[0];
  if (found === undefined) throw new Refused(404, "", "The file no longer exists.");
  return found;
}

/** Returns a query that is limited to one file. */
function queryInFile({ repository, fileName }: FileResult, query: string): string {
  const inRepository = addFilter(query, filterFor("repo", repository));
  return addFilter(inRepository, filterFor("file", fileName.text));
}

/**
 * Returns the address of a result. With `showsRefs`, the address names the first revision that contains the file.
 * Without it, the address leads to the default revision.
 */
export function addressOf(
  { repository, fileName, branches = [] }: FileResult,
  showsRefs: boolean,
): FileView {
  const [ref] = showsRefs ? branches : [];
  return { view: "file", repository, path: fileName.text, ...(ref !== undefined && { ref }) };
}

/** Returns the address with the best line of the file. */
function withFirstLine(address: FileView, blocks: readonly Lines[]): FileView {
  const lines = blocks.flatMap((block) => block.lines);
  const first = lines.find(({ marks }) => marks.length > 0);
  return first ? { ...address, lines: { from: first.number, to: first.number } } : address;
}

function FilePath({ file, showsRefs }: { file: FileResult; showsRefs: boolean }) {
  const { repository, fileName, branches = [] } = file;
  const { text, matchRanges } = fileName;
  return (
    <>
      <span class="repository">
        <PlainText text={repository} />
        {showsRefs && branches.length > 0 && (
          <span class="ref">
            @<PlainText text={branches.join(", ")} />
          </span>
        )}
      </span>
      <span class="path">
        <MarkedText text={text} marks={pathMarks(text, matchRanges)} />
      </span>
    </>
  );
}

/** Returns the best blocks, which have about as many lines as a card shows at first. */
function bestOf(blocks: readonly Lines[]): Lines[] {
  if (linesIn(blocks) <= LINES_SHOWN + SLACK) return [...blocks];
  const shown: Lines[] = [];
  let left = LINES_SHOWN;
  for (const { lines, isBest } of blocks) {
    if (left <= 0) break;
    shown.push({ lines: lines.slice(0, left), isBest });
    left -= lines.length;
  }
  return shown;
}

function Copies({ copies, showsRefs }: { copies: readonly FileResult[]; showsRefs: boolean }) {
  const { router } = usePage();
  if (copies.length === 0) return null;
  return (
    <details class="copies">
      <summary>
        {copies.length} {copies.length === 1 ? "copy" : "copies"} with the same lines
      </summary>
      <ul>
        {copies.map((copy) => (
          <li key={`${copy.repository}/${copy.fileName.text}`}>
            <a href={router.href(addressOf(copy, showsRefs))}>
              <FilePath file={copy} showsRefs={showsRefs} />
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
