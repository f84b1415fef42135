/**
 * Draws the dialog that finds a file by parts of its path. It searches the repository that is shown, or all
 * repositories.
 */

import { useState } from "preact/hooks";
import { nearestPaths, nearPathExpression } from "../../base/near-path.ts";
import { escapeExpression, filterFor, quoteValue } from "../search/query-text.ts";
import { addressOf } from "../search/file-card.tsx";
import { MarkedText, PlainText, plainText } from "../frame/plain-text.tsx";
import { pathMarks } from "../search/lines.ts";
import type { FileResult } from "../wire/answers.ts";
import type { Address } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { Dialog } from "../frame/dialog.tsx";
import { usePage } from "../frame/page-context.ts";

const SHOWN = 20;
/** The maximum number of paths that are compared with the words. */
const MOST_LIKE = 200;

const keyOf = ({ repository, fileName }: FileResult): string => `${repository} ${fileName.text}`;

export function FindFile({ onClose }: { onClose: () => void }) {
  const { client, router } = usePage();
  const { address } = router;
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const words = text.split(/\s+/).filter((word) => word !== "");
  const query = pathQuery(words, address, escapeExpression);
  const asked = useAsked(query, async (signal) => {
    const { files } = await client.search({ query: query!, matches: SHOWN }, signal);
    return files.length >= SHOWN
      ? files.slice(0, SHOWN)
      : [...files, ...(await near(files, signal))];
  });
  /** Resolves to files whose paths are near the words, but do not have them. */
  const near = async (exact: readonly FileResult[], signal: AbortSignal): Promise<FileResult[]> => {
    const like = pathQuery(words, address, nearPathExpression)!;
    const request = { query: like, matches: MOST_LIKE, matchesPerFile: 1 };
    const { files } = await client.search(request, signal);
    const known = new Set(exact.map(keyOf));
    return nearestPaths(files, ({ fileName }) => fileName.text, words)
      .filter((file) => !known.has(keyOf(file)))
      .slice(0, SHOWN - exact.length)
      .map((file) => ({ ...file, fileName: { ...file.fileName, matchRanges: [] } }));
  };
  const files = asked.state === "there" ? asked.value : [];
  const open = (index: number): void => {
    const file = files[index];
    if (file === undefined) return;
    onClose();
    router.go(addressOf(file, false));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setActive(Math.min(active + 1, files.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
    else if (event.key === "Enter") open(active);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Find a file" onClose={onClose}>
      <input
        class="find-file"
        type="text"
        role="combobox"
        aria-label={`Find a file${"repository" in address ? ` in ${plainText(address.repository)}` : ""}`}
        aria-expanded={files.length > 0}
        aria-controls="found-files"
        aria-activedescendant={files.length > 0 ? `found-file-${active}` : undefined}
        placeholder="Parts of the path, with blanks between"
        autocomplete="off"
        spellcheck={false}
        autofocus
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <FoundFiles files={files} active={active} onOpen={open} />
      {asked.state === "there" && files.length === 0 && <p class="muted">No path is like this.</p>}
    </Dialog>
  );
}

interface FoundFilesProps {
  files: readonly FileResult[];
  active: number;
  onOpen: (index: number) => void;
}

function FoundFiles({ files, active, onOpen }: FoundFilesProps) {
  return (
    <ul id="found-files" class="found-files" role="listbox" aria-label="Files">
      {files.map(({ fileName: { text, matchRanges }, repository }, index) => (
        <li
          key={index}
          id={`found-file-${index}`}
          role="option"
          aria-selected={index === active}
          onClick={() => onOpen(index)}
        >
          <span>
            <MarkedText text={text} marks={pathMarks(text, matchRanges)} />
          </span>
          <span class="muted">
            <PlainText text={repository} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Returns a query for the paths that match the expressions of all words. */
function pathQuery(
  words: readonly string[],
  address: Address,
  expressionOf: (word: string) => string,
): string | undefined {
  if (words.length === 0) return undefined;
  const files = words.map((word) => `file:${quoteValue(expressionOf(word))}`).join(" ");
  return "repository" in address ? `${files} ${filterFor("repo", address.repository)}` : files;
}
