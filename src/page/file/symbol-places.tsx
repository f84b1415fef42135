/** Lists places of a symbol by file, each with its line. */

import type { FileView } from "../frame/address.ts";
import { usePage } from "../frame/page-context.ts";
import { MarkedText, PlainText } from "../frame/plain-text.tsx";
import { linesOf, withoutIndentation } from "../search/lines.ts";
import type { SymbolFile, SymbolMatch } from "../wire/answers.ts";

const FILES_SHOWN = 100;

interface PlacesProps {
  /** Absent if the list has a heading of its own. */
  title?: string;
  files: readonly SymbolFile[];
  /** The number of all places. Default: of those that are listed. */
  count?: number;
  address: FileView;
}

export function Places({ title, files, count = countOf(files), address }: PlacesProps) {
  return (
    <section>
      {title !== undefined && (
        <h3>
          {title} <span class="muted">{count.toLocaleString("en")}</span>
        </h3>
      )}
      {files.slice(0, FILES_SHOWN).map((file) => (
        <PlacesInFile key={`${file.repository}/${file.fileName}`} file={file} address={address} />
      ))}
      {files.length > FILES_SHOWN && (
        <p class="muted">and in {files.length - FILES_SHOWN} more files</p>
      )}
    </section>
  );
}

const countOf = (files: readonly SymbolFile[]): number =>
  files.reduce((sum, { matches }) => sum + matches.length, 0);

function PlacesInFile({ file, address }: { file: SymbolFile; address: FileView }) {
  const { repository, fileName, matches } = file;
  const isHere = repository === address.repository;
  const { name, at, ref } = address;
  const place = {
    repository,
    path: fileName,
    ...(isHere && ref && { ref }),
    ...(name && { name }),
    ...(isHere && at && { at }), // the list stays while the reader goes through it
  };
  const shownLine = isHere && fileName === address.path ? address.lines?.from : undefined;
  return (
    <div class="places">
      <h4>
        {!isHere && (
          <span class="repository">
            <PlainText text={repository} />
          </span>
        )}
        <PlainText text={fileName} />
      </h4>
      {byLine(matches).map((onLine) => {
        const { lineNumber } = onLine[0]!.range.start;
        return (
          <Line
            key={lineNumber}
            matches={onLine}
            place={place}
            isShown={lineNumber === shownLine}
          />
        );
      })}
    </div>
  );
}

/** Groups consecutive matches on the same line. Of a long line, each match has a part of its own. */
function byLine(matches: readonly SymbolMatch[]): SymbolMatch[][] {
  const lines: SymbolMatch[][] = [];
  for (const match of matches) {
    const [last] = lines.at(-1) ?? [];
    const isSame = last?.range.start.lineNumber === match.range.start.lineNumber;
    if (isSame && last?.lineContent === match.lineContent) lines.at(-1)!.push(match);
    else lines.push([match]);
  }
  return lines;
}

interface LineProps {
  /** Matches on the same line. */
  matches: readonly SymbolMatch[];
  place: Omit<FileView, "view" | "lines">;
  isShown: boolean;
}

function Line({ matches, place, isShown }: LineProps) {
  const { router } = usePage();
  const { lineContent, lineContentStart, range, why } = matches[0]!;
  const { lineNumber } = range.start;
  const contentStart = lineContentStart ?? { lineNumber, column: 1 };
  const matchRanges = matches.map((match) => match.range);
  const [line] = linesOf({ content: lineContent, contentStart, matchRanges });
  const lines = { from: lineNumber, to: lineNumber };
  const uses = new Set(matches.flatMap(({ use }) => use ?? []));
  uses.delete("definition");
  return (
    <a
      class="line match"
      data-result
      aria-current={isShown ? "location" : undefined}
      title={why}
      href={router.href({ view: "file", ...place, lines })}
    >
      <span class="number">{lineNumber}</span>
      <code>{line && <MarkedText {...withoutIndentation(line)} />}</code>
      {uses.size > 0 && <span class="use">{[...uses].join(", ")}</span>}
    </a>
  );
}
