/** Shows the changes of one file. Added and removed lines have not only a colour, but also a sign. */

import { usePage } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";
import type { Diff } from "../wire/answers.ts";
import { LINE_CHARACTERS, type DiffLine } from "./diff-lines.ts";

interface FileDiffProps {
  file: Diff;
  /** The lines of each hunk that is shown. */
  hunks: DiffLine[][];
  repository: string;
  base: string;
  head: string;
}

export function FileDiff({ file, hunks, repository, base, head }: FileDiffProps) {
  const { router } = usePage();
  const { oldPath, newPath } = file;
  const path = newPath ?? oldPath ?? "";
  const ref = newPath === null ? base : head;
  return (
    <article class="card">
      <h3 class="card-head">
        <a data-result href={router.href({ view: "file", repository, ref, path })}>
          <span class="path">
            <PlainText text={path} />
          </span>
        </a>
        <span class="tag">
          <PlainText text={kindOf(file)} />
        </span>
      </h3>
      {hunks.map((lines, index) => (
        <div class="block diff" key={index}>
          {lines.map((line) => (
            <Line key={`${line.old ?? ""} ${line.new ?? ""}`} line={line} />
          ))}
        </div>
      ))}
    </article>
  );
}

function kindOf({ oldPath, newPath }: Diff): string {
  if (oldPath === null) return "added";
  if (newPath === null) return "deleted";
  return oldPath === newPath ? "changed" : `renamed from ${oldPath}`;
}

function Line({ line }: { line: DiffLine }) {
  return (
    <div class={`line ${line.kind}`}>
      <span class="number">{line.old}</span>
      <span class="number">{line.new}</span>
      <code>
        <span class="sign">{SIGNS[line.kind]}</span>
        <PlainText text={line.text} most={LINE_CHARACTERS} />
      </code>
    </div>
  );
}

const SIGNS = { added: "+", removed: "-", same: " " } as const;
