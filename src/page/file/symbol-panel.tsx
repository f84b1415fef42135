/** Shows where a name is defined and where it is used. */

import type { FileView } from "../frame/address.ts";
import { useAsked, type Asking } from "../frame/asked.ts";
import { Icon } from "../frame/icons.tsx";
import { usePage } from "../frame/page-context.ts";
import { MarkedText, PlainText, plainText } from "../frame/plain-text.tsx";
import { linesOf, withoutIndentation } from "../search/lines.ts";
import type { SymbolAnswer } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";

interface SymbolPanelProps {
  name: string;
  language: string;
  address: FileView;
}

export function SymbolPanel({ name, language, address }: SymbolPanelProps) {
  const { client, router } = usePage();
  const { repository, ref } = address;
  const request = { symbolName: name, ...(language !== "" && { language }) };
  const here = { repoName: repository, ...(ref !== undefined && { revisionName: ref }) };
  const key = JSON.stringify([request, here]);
  const definitions = useAsked(key, async (signal) => {
    const inRepository = await client.definitions({ ...request, ...here }, signal);
    // another repository may define what this one does not
    return inRepository.stats.matchCount > 0 ? inRepository : client.definitions(request, signal);
  });
  const references = useAsked(key, (signal) => client.references({ ...request, ...here }, signal));
  const { name: _, ...withoutName } = address;
  const onClose = (): void => router.go(withoutName, "replace");
  return (
    <aside class="side panel" aria-label={`Definitions and references of ${plainText(name)}`}>
      <div class="panel-head">
        <h2>
          <code>
            <PlainText text={name} />
          </code>
        </h2>
        <button type="button" class="quiet square" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <Places title="Definitions" asked={definitions} address={address} />
      <Places title="References" asked={references} address={address} />
    </aside>
  );
}

interface PlacesProps {
  title: string;
  asked: Asking<SymbolAnswer>;
  address: FileView;
}

const FILES_SHOWN = 100;

function Places({ title, asked, address }: PlacesProps) {
  if (asked.state === "waiting") return <p class="muted">{title} …</p>;
  if (asked.state === "failed") return <p class="error">{wordsOf(asked.error)}</p>;
  const { files, stats } = asked.value;
  return (
    <section>
      <h3>
        {title} <span class="muted">{stats.matchCount.toLocaleString("en")}</span>
      </h3>
      {files.slice(0, FILES_SHOWN).map((file) => (
        <PlacesInFile key={`${file.repository}/${file.fileName}`} file={file} address={address} />
      ))}
      {files.length > FILES_SHOWN && (
        <p class="muted">and in {files.length - FILES_SHOWN} more files</p>
      )}
    </section>
  );
}

function PlacesInFile({
  file,
  address,
}: {
  file: SymbolAnswer["files"][number];
  address: FileView;
}) {
  const { router } = usePage();
  const { repository, fileName, matches } = file;
  const isHere = repository === address.repository;
  const { name, ref } = address;
  const place = {
    repository,
    path: fileName,
    ...(isHere && ref && { ref }),
    ...(name && { name }),
  };
  const isShown = isHere && fileName === address.path;
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
      {matches.map(({ lineContent, range }) => {
        const { lineNumber } = range.start;
        const chunk = { content: lineContent, contentStart: { lineNumber, column: 1 } };
        const [line] = linesOf({ ...chunk, matchRanges: [range] });
        const lines = { from: lineNumber, to: lineNumber };
        return (
          <a
            key={`${lineNumber}:${range.start.column}`}
            class="line match"
            data-result
            aria-current={isShown && lineNumber === address.lines?.from ? "location" : undefined}
            href={router.href({ view: "file", ...place, lines })}
          >
            <span class="number">{lineNumber}</span>
            <code>{line && <MarkedText {...withoutIndentation(line)} />}</code>
          </a>
        );
      })}
    </div>
  );
}
