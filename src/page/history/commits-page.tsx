/** The commits of a repository, or those that touched a path, newest first. */

import { useState } from "preact/hooks";
import { Path } from "../file/path.tsx";
import type { CommitsView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { usePage, useTitle } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";
import { ago } from "../frame/time.ts";
import type { Commit } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";

const PER_PAGE = 50;

export function CommitsPage({ address }: { address: CommitsView }) {
  const { client } = usePage();
  const { repository, ref, path } = address;
  const [page, setPage] = useState(1);
  const [query, setQuery] = useState("");
  const key = JSON.stringify([repository, ref, path, page, query]);
  const asked = useAsked(key, (signal) =>
    client.commits({ repo: repository, ref, path, query, page, perPage: PER_PAGE }, signal),
  );
  useTitle(`Commits – ${path === "" ? "" : `${path} – `}${repository}`);
  return (
    <main id="main" class="folder">
      <div class="file-head">
        <Path address={address} />
        <input
          type="search"
          aria-label="Filter commits by their messages"
          placeholder="Filter by message"
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            setPage(1);
          }}
        />
      </div>
      {asked.state === "failed" && <p class="error">{wordsOf(asked.error)}</p>}
      {asked.state === "there" && (
        <>
          <ul class="entries commits">
            {asked.value.items.map((commit) => (
              <CommitRow key={commit.hash} commit={commit} repository={repository} />
            ))}
          </ul>
          <Pages page={page} total={asked.value.total} onPage={setPage} />
        </>
      )}
    </main>
  );
}

function CommitRow({ commit, repository }: { commit: Commit; repository: string }) {
  const { router } = usePage();
  const { hash, message, authorName, date } = commit;
  return (
    <li>
      <a data-result href={router.href({ view: "commit", repository, hash })}>
        <PlainText text={message} />
      </a>
      <span class="muted when">
        <PlainText text={authorName} />, {ago(date)}
      </span>
      <code class="muted">{hash.slice(0, 10)}</code>
    </li>
  );
}

interface PagesProps {
  page: number;
  total: number;
  onPage: (page: number) => void;
}

function Pages({ page, total, onPage }: PagesProps) {
  const last = Math.max(1, Math.ceil(total / PER_PAGE));
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={page === 1} onClick={() => onPage(page - 1)}>
        Newer
      </button>
      <span class="muted" role="status">
        Page {page} of {last}, {total.toLocaleString("en")} {total === 1 ? "commit" : "commits"}
      </span>
      <button type="button" disabled={page === last} onClick={() => onPage(page + 1)}>
        Older
      </button>
    </nav>
  );
}
