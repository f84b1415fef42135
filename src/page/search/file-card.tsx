/** Draws one file of the results, with its path and its matching lines. */

import { useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { MarkedText, PlainText, plainText } from "../frame/plain-text.tsx";
import type { FileResult } from "../wire/answers.ts";
import { Refused, wordsOf, type Client } from "../wire/client.ts";
import type { Folded } from "./facets.ts";
import { Block } from "./line-block.tsx";
import { linesOf, pathMarks, type Line } from "./lines.ts";
import { MATCHES_PER_FILE, requestOf, type Asked } from "./live-search.ts";
import { addFilter, filterFor } from "./query-text.ts";
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

/** What the reader has unfolded in addition to the lines of the answer. It is valid only for the result `of`. */
interface Unfolded {
  of: FileResult;
  isOpen: boolean;
  /** The blocks of lines that are shown instead of those of the answer. */
  blocks?: Line[][];
  hasAll?: boolean;
  isWide?: boolean;
  error?: unknown;
}

export function FileCard({ file, copies, showsRefs, asked }: FileCardProps) {
  const { client, router } = usePage();
  const [kept, setKept] = useState<Unfolded>({ of: file, isOpen: false });
  const unfolded = kept.of === file ? kept : { of: file, isOpen: false };
  const blocks = unfolded.blocks ?? file.chunks.map(linesOf);
  const address = addressOf(file, showsRefs);
  const name = plainText(file.fileName.text);
  const shown = unfolded.isOpen ? blocks : firstLines(blocks);
  const hidden = blocks.flat().length - shown.flat().length;
  const mayHaveMore = !unfolded.hasAll && rangesIn(file) >= MATCHES_PER_FILE;
  const change = (changes: Promise<Partial<Unfolded>>): void =>
    void changes.then(
      (there) => setKept({ ...unfolded, ...there, isOpen: true }),
      (error: unknown) => setKept({ ...unfolded, error }),
    );
  const onWiden = async (): Promise<Partial<Unfolded>> => {
    const { source } = await client.source(address);
    return { isWide: true, blocks: widen(blocks.flat(), source.split(/\r?\n/), WIDER) };
  };
  const onAll = async (): Promise<Partial<Unfolded>> => {
    const { chunks } = await matchesIn(file, asked, client);
    return { hasAll: true, isWide: false, blocks: chunks.map(linesOf) };
  };
  return (
    <article class="card" data-place aria-label={`${name} in ${plainText(file.repository)}`}>
      <h2 class="card-head">
        <a data-result href={router.href(withFirstLine(address, blocks))}>
          <FilePath file={file} showsRefs={showsRefs} />
        </a>
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
      {shown.map((lines, index) => (
        <Block key={index} lines={lines} address={address} />
      ))}
      {unfolded.error !== undefined && <p class="error">{wordsOf(unfolded.error)}</p>}
      {hidden > 0 && (
        <Unfold
          text={`Show ${hidden} more ${hidden === 1 ? "line" : "lines"}`}
          of={name}
          onClick={() => setKept({ ...unfolded, isOpen: true })}
        />
      )}
      {hidden === 0 && mayHaveMore && (
        <Unfold text="Show all matches" of={name} onClick={() => change(onAll())} />
      )}
      <Copies copies={copies} showsRefs={showsRefs} />
    </article>
  );
}

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
async function matchesIn(
  { repository, fileName, branches = [] }: FileResult,
  asked: Asked,
  client: Client,
): Promise<FileResult> {
  const inRepository = addFilter(asked.query, filterFor("repo", repository));
  const query = addFilter(inRepository, filterFor("file", fileName.text));
  const { files } = await client.search({
    ...requestOf({ ...asked, query }),
    matches: MOST_IN_FILE,
  });
  const found = files.find((file) => (file.branches ?? []).join() === branches.join()) ?? files[0];
  if (found === undefined) throw new Refused(404, "", "The file no longer exists.");
  return found;
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

function withFirstLine(address: FileView, blocks: Line[][]): FileView {
  const first = blocks.flat().find(({ marks }) => marks.length > 0);
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

function firstLines(blocks: Line[][]): Line[][] {
  if (blocks.flat().length <= LINES_SHOWN + SLACK) return blocks;
  const shown: Line[][] = [];
  let left = LINES_SHOWN;
  for (const block of blocks) {
    if (left <= 0) break;
    shown.push(block.slice(0, left));
    left -= block.length;
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
