/** Draws the start page, with a list of the repositories and examples of queries. */

import type { HomeView } from "../frame/address.ts";
import { useAsked, useKept } from "../frame/asked.ts";
import { Icon } from "../frame/icons.tsx";
import { usePage, useTitle } from "../frame/page-context.ts";
import { usePlace } from "../frame/place.ts";
import { PlainText, plainText } from "../frame/plain-text.tsx";
import { ago } from "../frame/time.ts";
import { QUERIES } from "./help.tsx";
import { filterFor } from "../search/query-text.ts";
import type { Repository } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";

const PER_PAGE = 50;
/** The maximum number of pages of the list that are shown. Further repositories can be found by name. */
const MOST_PAGES = 20;
const MOST_WITH_EXAMPLES = 10;

export function Home({ address }: { address: HomeView }) {
  const { client, router } = usePage();
  const { filter = "" } = address;
  const pages = Math.min(address.pages ?? 1, MOST_PAGES);
  useTitle(filter === "" ? "" : `${filter} – Repositories`);
  const asked = useKept(
    useAsked(`${pages} ${filter}`, async (signal) => {
      const lists = Array.from({ length: pages }, (_, i) =>
        client.repositories({ query: filter, page: i + 1, perPage: PER_PAGE }, signal),
      );
      const listed = await Promise.all(lists);
      return { items: listed.flatMap(({ items }) => items), total: listed[0]!.total };
    }),
  );
  usePlace(router.place, asked.state === "there");
  return (
    <main id="main" class="home">
      <div class="home-head">
        <h1>Repositories</h1>
        {asked.state === "there" && (
          <p class="muted" role="status">
            {countOf(asked.value.total, filter)}
          </p>
        )}
        <input
          type="search"
          class="filter"
          placeholder="Filter by name"
          aria-label="Filter repositories by name"
          value={filter}
          onInput={({ currentTarget: { value } }) =>
            router.go({ view: "home", filter: value }, "typing")
          }
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
          {asked.value.items.length < asked.value.total && <More pages={pages} filter={filter} />}
          {asked.value.total > 0 && asked.value.total <= MOST_WITH_EXAMPLES && <Examples />}
        </>
      )}
    </main>
  );
}

/**
 * Shows examples of queries. They appear only if there are few repositories, because then there is room for them, and
 * the reader is probably new.
 */
function Examples() {
  const { router } = usePage();
  return (
    <section class="examples">
      <h2>What a query can say</h2>
      <ul>
        {QUERIES.map(([query, what]) => (
          <li key={query}>
            <a href={router.href({ view: "search", query, regex: false, matchCase: false })}>
              <code>{query}</code>
            </a>
            <span class="muted">{what}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function More({ pages, filter }: { pages: number; filter: string }) {
  const { router } = usePage();
  if (pages >= MOST_PAGES) return <p class="muted">Filter by name to see the others.</p>;
  return (
    <button
      type="button"
      onClick={() => router.go({ view: "home", filter, pages: pages + 1 }, "replace")}
    >
      Show more
    </button>
  );
}

function countOf(total: number, filter: string): string {
  if (total === 0)
    return filter === ""
      ? "Nothing is indexed yet, or nothing that you may see."
      : "None has this in its name.";
  return `${total.toLocaleString("en")} ${filter === "" ? "to search" : "with this in the name"}`;
}

function RepositoryRow({ repository }: { repository: Repository }) {
  const { router } = usePage();
  const { repoName, repoDisplayName, defaultBranch, indexedAt, isFork, isArchived } = repository;
  const query = `${filterFor("repo", repoName)} `;
  return (
    <li data-place>
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
        aria-label={`Search in ${plainText(repoName)}`}
      >
        Search
      </a>
    </li>
  );
}
