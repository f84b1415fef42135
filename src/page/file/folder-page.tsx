/** Draws the view of a folder, with its entries and its README. */

import { useMemo } from "preact/hooks";
import type { FileView, FolderView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { useDrawn } from "../frame/drawn.ts";
import { Icon } from "../frame/icons.tsx";
import { usePage, useTitle } from "../frame/page-context.ts";
import { usePlace } from "../frame/place.ts";
import { PlainText, plainText } from "../frame/plain-text.tsx";
import { addFilter, filterFor } from "../search/query-text.ts";
import type { TreeNode } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";
import { hasCommits } from "./file-page.tsx";
import { Path } from "./path.tsx";
import { usePermalink } from "./permalink.ts";
import { RevisionChoice } from "./revision-choice.tsx";

export function FolderPage({ address }: { address: FolderView }) {
  const { client, router, hasHistory } = usePage();
  const { repository, ref, path } = address;
  const key = JSON.stringify([repository, ref, path]);
  const asked = useAsked(key, async (signal) => {
    const root = await client.tree({ repository, ref, paths: path === "" ? [] : [path] }, signal);
    return folderAt(root, path);
  });
  const revisions = useAsked(repository, (signal) => client.revisions(repository, signal));
  const known = revisions.state === "there" ? revisions.value : [];
  usePermalink(address, known);
  usePlace(router.place, asked.state === "there");
  useTitle(`${path === "" ? "" : `${path} – `}${repository}${ref ? `@${ref}` : ""}`);
  const inRepository = filterFor("repo", repository);
  const scope = path === "" ? inRepository : addFilter(inRepository, filterFor("folder", path));
  const search = { view: "search", query: `${scope} `, regex: false, matchCase: false } as const;
  return (
    <main id="main" class="folder">
      <div class="file-head">
        <Path address={address} />
        <RevisionChoice address={address} revisions={known} />
        <a class="quiet" href={router.href(search)}>
          Search here
        </a>
        {hasHistory && hasCommits(known) && (
          <a class="quiet" href={router.href({ ...address, view: "commits" })}>
            History
          </a>
        )}
      </div>
      {asked.state === "failed" && <p class="error">{wordsOf(asked.error)}</p>}
      {asked.state === "there" && asked.value === undefined && (
        <p class="error">There is no such folder.</p>
      )}
      {asked.state === "there" && asked.value && (
        <>
          <Entries nodes={asked.value.children} address={address} />
          <Readme nodes={asked.value.children} address={address} />
        </>
      )}
    </main>
  );
}

function folderAt(root: TreeNode, path: string): TreeNode | undefined {
  let node: TreeNode | undefined = root;
  for (const name of path === "" ? [] : path.split("/"))
    node = node?.children.find((child) => child.name === name);
  return node;
}

interface EntriesProps {
  nodes: readonly TreeNode[];
  address: FolderView;
}

const DRAWN_IN_FRAME = 100;

function Entries({ nodes, address: { repository, ref, path } }: EntriesProps) {
  const { router } = usePage();
  const top = router.place?.top?.index ?? 0;
  const drawn = useDrawn({
    list: `${repository} ${ref} ${path}`,
    count: nodes.length,
    step: DRAWN_IN_FRAME,
    least: top + DRAWN_IN_FRAME,
  });
  // an entry that is the same object as before is not drawn again
  const entries = useMemo(
    () =>
      nodes.map(({ type, name, path: below }) => {
        const view = type === "tree" ? "folder" : "file";
        const place = { repository, ...(ref !== undefined && { ref }), path: below };
        return (
          <li key={below} data-place>
            <Icon name={view} />
            <a data-result href={router.href({ view, ...place })}>
              <PlainText text={name} />
            </a>
          </li>
        );
      }),
    [nodes, repository, ref],
  );
  return <ul class="entries">{entries.slice(0, drawn)}</ul>;
}

const README_LINES = 400;
const README_CHARACTERS = 40_000;

/** Shows the README as plain text. It is never shown as markup, because strangers may have written it. */
function Readme({ nodes, address }: EntriesProps) {
  const { client } = usePage();
  const { repository, ref } = address;
  const readme = nodes.find(({ type, name }) => type !== "tree" && /^readme(\.|$)/i.test(name));
  const file: Pick<FileView, "repository" | "path" | "ref"> | undefined = readme && {
    repository,
    path: readme.path,
    ...(ref !== undefined && { ref }),
  };
  const asked = useAsked(file && JSON.stringify(file), (signal) => client.source(file!, signal));
  if (asked.state !== "there") return null;
  return (
    <section class="readme" aria-label={plainText(readme!.name)}>
      <h2>
        <PlainText text={readme!.name} />
      </h2>
      <pre>
        <PlainText
          text={asked.value.source.split(/\r?\n/, README_LINES).join("\n")}
          most={README_CHARACTERS}
        />
      </pre>
    </section>
  );
}
