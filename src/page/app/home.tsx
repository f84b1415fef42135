/** The first view: which repositories there are, and what one might ask. */

import { useState } from "preact/hooks";
import type { Repository } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";
import { filterFor } from "../search/query-text.ts";
import { useAsked } from "../frame/asked.ts";
import { Icon } from "../frame/icons.tsx";
import { ago } from "../frame/time.ts";
import { usePage, useTitle } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";

const PER_PAGE = 50;

export function Home() {
  const { client } = usePage();
  const [query, setQuery] = useState("");
  const [pages, setPages] = useState(1);
  useTitle("");
  const asked = useAsked(`${pages} ${query}`, async (signal) => {
    const lists = Array.from({ length: pages }, (_, i) =>
      client.repositories({ query, page: i + 1, perPage: PER_PAGE }, signal),
    );
    const listed = await Promise.all(lists);
    return { items: listed.flatMap(({ items }) => items), total: listed[0]!.total };
  });
  return (
    <main id="main" class="home">
      <div class="home-head">
        <h1>Repositories</h1>
        {asked.state === "there" && <p class="muted">{countOf(asked.value.total, query)}</p>}
        <input
          type="search"
          class="filter"
          placeholder="Filter by name"
          aria-label="Filter repositories by name"
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setPages(1);
          }}
        />
      </div>
      {asked.state === "failed" && <p class="error">{wordsOf(asked.error)}</p>}
      {asked.state === "there" && (
        <>
          <ul class="repositories">
            {asked.value.items.map((repository) => (
              <RepositoryRow key={repository.repoName} repository={repository} />
            ))}
          </ul>
          {asked.value.items.length < asked.value.total && (
            <button type="button" onClick={() => setPages(pages + 1)}>
              Show more
            </button>
          )}
        </>
      )}
    </main>
  );
}

function countOf(total: number, query: string): string {
  if (total === 0)
    return query === ""
      ? "Nothing is indexed yet, or nothing that you may see."
      : "None has this in its name.";
  return `${total.toLocaleString("en")} ${query === "" ? "to search" : "with this in the name"}`;
}

function RepositoryRow({ repository }: { repository: Repository }) {
  const { router } = usePage();
  const { repoName, repoDisplayName, defaultBranch, indexedAt, isFork, isArchived } = repository;
  const query = `${filterFor("repo", repoName)} `;
  return (
    <li>
      <Icon name="repository" />
      <a
        class="name"
        data-result
        href={router.href({ view: "folder", repository: repoName, path: "" })}
      >
        <PlainText text={repoDisplayName ?? repoName} />
      </a>
      {defaultBranch !== undefined && defaultBranch !== "HEAD" && (
        <span class="tag">
          <PlainText text={defaultBranch} />
        </span>
      )}
      {isFork && <span class="tag">fork</span>}
      {isArchived && <span class="tag">archived</span>}
      <span class="muted when">{indexedAt !== undefined && `indexed ${ago(indexedAt)}`}</span>
      <a
        class="search-in"
        href={router.href({ view: "search", query, regex: false, matchCase: false })}
        aria-label={`Search in ${repoName}`}
      >
        Search
      </a>
    </li>
  );
}
