/**
 * Draws results of the history: changes of files and messages of commits, each under the header of its commit. The
 * header leads to the whole commit.
 */

import type { FileView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { MarkedText, PlainText, plainText } from "../frame/plain-text.tsx";
import { ago } from "../frame/time.ts";
import type { Chunk, FileResult, ResultCommit } from "../wire/answers.ts";
import { Block } from "./line-block.tsx";
import { linesOf } from "./lines.ts";

/** A result of a query of the history. */
type Change = FileResult & { commit: ResultCommit };

export const isChange = (file: FileResult): file is Change => file.commit !== undefined;

export function ChangeList({ changes }: { changes: readonly Change[] }) {
  return (
    <>
      {byCommit(changes).map((group) => (
        <CommitCard key={`${group[0]!.repository} ${group[0]!.commit.hash}`} changes={group} />
      ))}
    </>
  );
}

/** Groups consecutive changes of the same commit. */
function byCommit(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const [last] = groups.at(-1) ?? [];
    const isSame =
      last?.commit.hash === change.commit.hash && last.repository === change.repository;
    if (isSame) groups.at(-1)!.push(change);
    else groups.push([change]);
  }
  return groups;
}

function CommitCard({ changes }: { changes: readonly Change[] }) {
  const { router } = usePage();
  const { repository, commit } = changes[0]!;
  const { hash, authorName, date, message } = commit;
  const [subject = ""] = message.split("\n", 1);
  const label = `${plainText(subject)}, ${hash.slice(0, 10)} in ${plainText(repository)}`;
  return (
    <article class="card change" data-place aria-label={label}>
      <h2 class="card-head">
        <a data-result href={router.href({ view: "commit", repository, hash })}>
          <span class="repository">
            <PlainText text={repository} />
          </span>
          <span class="path">
            <PlainText text={subject} />
          </span>
        </a>
        <span class="muted when">
          <PlainText text={authorName} />, <time dateTime={date}>{ago(date)}</time>
        </span>
        <code class="muted">{hash.slice(0, 10)}</code>
      </h2>
      {changes.map((change) => (
        <OneChange key={change.fileName.text} change={change} />
      ))}
    </article>
  );
}

/** Shows the lines of one file, or the lines of the message if the commit itself is the result. */
function OneChange({ change }: { change: Change }) {
  const { router } = usePage();
  const { repository, fileName, commit, chunks } = change;
  const { hash } = commit;
  if (fileName.text === hash) return <Message change={change} />;
  const isDeleted = chunks.length > 0 && chunks.every(({ side }) => side === "removed");
  const address = fileAt(change, isDeleted ? "removed" : "added");
  return (
    <div>
      <h3 class="change-path">
        <a data-result href={router.href({ view: "commit", repository, hash })}>
          <PlainText text={fileName.text} />
        </a>
        <a
          class="quiet"
          href={router.href(address)}
          aria-label={`The file ${plainText(fileName.text)} at this commit`}
        >
          File
        </a>
      </h3>
      {inOrder(chunks).map((chunk) => {
        const side = sideOf(chunk);
        return (
          <Block
            key={`${chunk.side} ${chunk.contentStart.lineNumber}`}
            lines={linesOf(chunk)}
            address={fileAt(change, side)}
            side={side}
          />
        );
      })}
    </div>
  );
}

const sideOf = ({ side }: Chunk): "added" | "removed" => (side === "removed" ? "removed" : "added");

/** Returns the chunks by line. What was removed comes before what was added in its place. */
const inOrder = (chunks: readonly Chunk[]): Chunk[] =>
  chunks.toSorted(
    (a, b) =>
      a.contentStart.lineNumber - b.contentStart.lineNumber ||
      Number(a.side === "added") - Number(b.side === "added"),
  );

/** Returns the address of the file on a side of its change. Removed lines are in the commit's first parent. */
function fileAt({ repository, fileName, commit }: Change, side: "added" | "removed"): FileView {
  const [parent] = commit.parents;
  const ref = side === "removed" && parent !== undefined ? parent : commit.hash;
  return { view: "file", repository, ref, path: fileName.text };
}

function Message({ change: { chunks } }: { change: Change }) {
  const lines = chunks.flatMap(linesOf).filter(({ number }) => number > 1); // the header has the first line
  if (lines.length === 0) return null;
  return (
    <div class="block message">
      {lines.map(({ number, text, marks }) => (
        <p key={number}>
          <MarkedText text={text} marks={marks} />
        </p>
      ))}
    </div>
  );
}
