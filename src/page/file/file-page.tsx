/** The view of a file: the folders on the left, the text, its definitions or a name's uses on the right. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { FileView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { PERMALINK } from "../frame/keyboard.ts";
import { usePage, useTitle } from "../frame/page-context.ts";
import type { Revision, Source } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";
import { FileActions } from "./file-actions.tsx";
import { FolderTree } from "./folder-tree.tsx";
import { Outline } from "./outline.tsx";
import { Path } from "./path.tsx";
import { RevisionChoice } from "./revision-choice.tsx";
import { SourceText } from "./source-text.tsx";
import { SymbolPanel } from "./symbol-panel.tsx";

export function FilePage({ address }: { address: FileView }) {
  const { client } = usePage();
  const { repository, ref, path } = address;
  const place = JSON.stringify([repository, ref, path]);
  const source = useAsked(place, (signal) => client.source(address, signal));
  const revisions = useAsked(repository, (signal) => client.revisions(repository, signal));
  const [name, setName] = useState<string>();
  useEffect(() => setName(undefined), [place]);
  useTitle(`${path.split("/").at(-1)} – ${repository}${ref ? `@${ref}` : ""}`);
  const known = revisions.state === "there" ? revisions.value : [];
  usePermalink(address, known);
  return (
    <main id="main" class="file-view">
      <FolderTree address={address} />
      <section class="file" aria-label={path}>
        <div class="file-head">
          <Path address={address} />
          <RevisionChoice address={address} revisions={known} />
          {source.state === "there" && (
            <FileActions source={source.value} address={address} hasCommits={hasCommits(known)} />
          )}
        </div>
        {source.state === "failed" && <p class="error">{wordsOf(source.error)}</p>}
        {source.state === "waiting" && <p class="muted wait">Loading …</p>}
        {source.state === "there" && (
          <SourceText source={source.value} address={address} onName={setName} />
        )}
      </section>
      <Side source={source} address={address} name={name} onClose={() => setName(undefined)} />
    </main>
  );
}

/** A folder that was indexed has none, whatever the server can tell of other repositories. */
export const hasCommits = (revisions: readonly Revision[]): boolean =>
  revisions.some(({ commit }) => commit !== undefined);

interface SideProps {
  source: ReturnType<typeof useAsked<Source>>;
  address: FileView;
  name: string | undefined;
  onClose: () => void;
}

function Side({ source, address, name, onClose }: SideProps) {
  if (source.state !== "there") return null;
  const { language } = source.value;
  return name === undefined ? (
    <Outline address={address} />
  ) : (
    <SymbolPanel name={name} language={language} address={address} onClose={onClose} />
  );
}

/** `y` puts the commit in the place of the branch. */
function usePermalink(address: FileView, revisions: readonly Revision[]): void {
  const { router } = usePage();
  const commit = useMemo(
    () =>
      revisions.find(({ name, isDefault }) =>
        address.ref === undefined || address.ref === "HEAD" ? isDefault : name === address.ref,
      )?.commit,
    [address.ref, revisions],
  );
  useEffect(() => {
    const onPermalink = (event: Event): void => {
      if (commit === undefined) return;
      event.preventDefault();
      router.go({ ...address, ref: commit }, "replace");
    };
    document.addEventListener(PERMALINK, onPermalink);
    return () => document.removeEventListener(PERMALINK, onPermalink);
  }, [address, commit, router]);
}
