/**
 * Draws the view of a file. The folders are on the left, and the text is in the middle. On the right are the
 * definitions of the file, or the uses of a name.
 */

import type { FileView } from "../frame/address.ts";
import { useAsked, useKept, type Asking } from "../frame/asked.ts";
import { usePage, useTitle } from "../frame/page-context.ts";
import { plainText } from "../frame/plain-text.tsx";
import type { Revision, Source } from "../wire/answers.ts";
import { escapeExpression, quoteValue } from "../search/query-text.ts";
import { Refused, wordsOf } from "../wire/client.ts";
import { FileActions } from "./file-actions.tsx";
import { FolderTree } from "./folder-tree.tsx";
import { Outline } from "./outline.tsx";
import { Path } from "./path.tsx";
import { usePermalink } from "./permalink.ts";
import { RevisionChoice } from "./revision-choice.tsx";
import { SourceText } from "./source-text.tsx";
import { SymbolPanel } from "./symbol-panel.tsx";

export function FilePage({ address }: { address: FileView }) {
  const { client } = usePage();
  const { repository, ref, path, name } = address;
  const place = JSON.stringify([repository, ref, path]);
  const source = useAsked(place, (signal) => client.source(address, signal));
  const revisions = useAsked(repository, (signal) => client.revisions(repository, signal));
  const title = `${path.split("/").at(-1)} – ${repository}${ref ? `@${ref}` : ""}`;
  useTitle(name === undefined ? title : `${name} in ${title}`);
  const known = revisions.state === "there" ? revisions.value : [];
  usePermalink(address, known);
  return (
    <main id="main" class="file-view">
      <FolderTree address={address} />
      <section class="file" aria-label={plainText(path)}>
        <div class="file-head">
          <Path address={address} />
          <RevisionChoice address={address} revisions={known} />
          {source.state === "there" && (
            <FileActions source={source.value} address={address} hasCommits={hasCommits(known)} />
          )}
        </div>
        {source.state === "failed" && <NoFile error={source.error} address={address} />}
        {source.state === "waiting" && <p class="muted wait">Loading …</p>}
        {source.state === "there" && <SourceText source={source.value} address={address} />}
      </section>
      <Side source={source} address={address} />
    </main>
  );
}

/** Says why there is no file, and offers ways on if the path or the revision does not exist. */
function NoFile({ error, address }: { error: unknown; address: FileView }) {
  const { router } = usePage();
  const { repository, ref, path } = address;
  const isMissing = error instanceof Refused && error.status === 404;
  const parts = path.split("/");
  const folder = parts.slice(0, -1).join("/");
  const query = `file:${quoteValue(escapeExpression(parts.at(-1)!))}`;
  const search = { view: "search", query, regex: false, matchCase: false } as const;
  const { ref: _, ...byDefault } = { ...address, view: "file" as const };
  return (
    <div class="wait">
      <p class="error">{wordsOf(error)}</p>
      {isMissing && (
        <ul class="suggestions">
          <li>
            <a href={router.href(search)}>Search for files with this name</a>
          </li>
          {ref !== undefined && (
            <li>
              <a href={router.href(byDefault)}>Open it at the default revision</a>
            </li>
          )}
          <li>
            <a
              href={router.href({ view: "folder", repository, ...(ref && { ref }), path: folder })}
            >
              Open its folder
            </a>
          </li>
        </ul>
      )}
    </div>
  );
}

/**
 * Whether a repository has commits. An indexed folder has none, even if other repositories of the server
 * do.
 */
export const hasCommits = (revisions: readonly Revision[]): boolean =>
  revisions.some(({ commit }) => commit !== undefined);

interface SideProps {
  source: Asking<Source>;
  address: FileView;
}

/**
 * Shows the definitions of the file, or the uses of a name. When the reader opens one of the uses, the list of uses
 * stays while the other file is loading.
 */
function Side({ source, address }: SideProps) {
  const kept = useKept(source);
  if (address.name !== undefined && kept.state === "there")
    return <SymbolPanel name={address.name} language={kept.value.language} address={address} />;
  return source.state === "there" ? <Outline address={address} /> : null;
}
