/** One file of the results: its path, and the lines that match. */

import { useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { MarkedText, PlainText } from "../frame/plain-text.tsx";
import type { FileResult } from "../wire/answers.ts";
import type { Folded } from "./facets.ts";
import { linesOf, pathMarks, type Line } from "./lines.ts";
import { widen } from "./widen.ts";

const LINES_SHOWN = 12;
const WIDER = 5;

interface FileCardProps extends Folded {
  /** Whether the query asks for revisions: else each file is of its repository's default one. */
  showsRefs: boolean;
}

export function FileCard({ file, copies, showsRefs }: FileCardProps) {
  const { client, router } = usePage();
  const [isOpen, setOpen] = useState(false);
  const [wide, setWide] = useState<Line[][]>();
  const blocks = wide ?? file.chunks.map(linesOf);
  const address = addressOf(file, showsRefs);
  const shown = isOpen || wide ? blocks : firstLines(blocks);
  const count = blocks.flat().length;
  const hidden = count - shown.flat().length;
  const onWiden = async (): Promise<void> => {
    const { source } = await client.source(address);
    setWide(widen(file.chunks.flatMap(linesOf), source.split("\n"), WIDER));
  };
  return (
    <article class="card" data-place>
      <h2 class="card-head">
        <a data-result href={router.href(withFirstLine(address, blocks))}>
          <FilePath file={file} showsRefs={showsRefs} />
        </a>
        {file.language !== "" && <span class="tag">{file.language}</span>}
        {file.chunks.length > 0 && !wide && (
          <button type="button" class="quiet" onClick={() => void onWiden()}>
            More context
          </button>
        )}
      </h2>
      {shown.map((lines, index) => (
        <Block key={index} lines={lines} address={address} />
      ))}
      {hidden > 0 && (
        <button type="button" class="quiet unfold" onClick={() => setOpen(true)}>
          Show {hidden} more {hidden === 1 ? "line" : "lines"}
        </button>
      )}
      <Copies copies={copies} showsRefs={showsRefs} />
    </article>
  );
}

/** Of several revisions that have the file, the first is opened. The default one needs no name. */
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

function firstLines(blocks: readonly Line[][]): Line[][] {
  const shown: Line[][] = [];
  let left = LINES_SHOWN;
  for (const block of blocks) {
    if (left <= 0) break;
    shown.push(block.slice(0, left));
    left -= block.length;
  }
  return shown;
}

function Block({ lines, address }: { lines: readonly Line[]; address: FileView }) {
  const { router } = usePage();
  return (
    <div class="block">
      {lines.map(({ number, text, marks, symbol }) => (
        <a
          key={number}
          class={marks.length > 0 ? "line match" : "line"}
          tabIndex={-1}
          data-result={marks.length > 0 ? true : undefined}
          href={router.href({ ...address, lines: { from: number, to: number } })}
        >
          <span class="number">{number}</span>
          <code>
            <MarkedText text={text} marks={marks} />
          </code>
          {symbol && <span class="tag kind">{symbol.kind}</span>}
        </a>
      ))}
    </div>
  );
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
