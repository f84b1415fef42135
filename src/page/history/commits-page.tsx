/** Draws the list of a repository's commits, or of the commits that changed a path. The newest commit comes first. */

import { Path } from "../file/path.tsx";
import type { CommitsView } from "../frame/address.ts";
import { useAsked } from "../frame/asked.ts";
import { Icon } from "../frame/icons.tsx";
import { usePage, useTitle } from "../frame/page-context.ts";
import { usePlace } from "../frame/place.ts";
import { PlainText, plainText } from "../frame/plain-text.tsx";
import { ago } from "../frame/time.ts";
import type { Commit } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";

const PER_PAGE = 50;

export function CommitsPage({ address }: { address: CommitsView }) {
  const { client, router } = usePage();
  const { repository, ref, path, query = "", author = "", page = 1 } = address;
  const filters = { query, author: escapeBasic(author), page, perPage: PER_PAGE };
  const key = JSON.stringify([repository, ref, path, query, author, page]);
  const asked = useAsked(key, (signal) =>
    client.commits({ repo: repository, ref, path, ...filters }, signal),
  );
  usePlace(router.place, asked.state === "there");
  useTitle([query, "Commits", path, repository].filter((part) => part !== "").join(" – "));
  return (
    <main id="main" class="folder">
      <Head address={address} />
      {asked.state === "waiting" && <p class="muted wait">Loading …</p>}
      {asked.state === "failed" && <p class="error">{wordsOf(asked.error)}</p>}
      {asked.state === "there" && (
        <Commits commits={asked.value.items} total={asked.value.total} address={address} />
      )}
    </main>
  );
}

/** Escapes the name of an author, because git reads it as a basic regular expression. */
const escapeBasic = (text: string): string => text.replace(/[\\^$.*[\]]/g, "\\$&");

function Head({ address }: { address: CommitsView }) {
  const { router } = usePage();
  const { query = "", author = "" } = address;
  const { page: _, ...first } = address;
  return (
    <div class="file-head">
      <Path address={address} />
      {author !== "" && (
        <a
          class="tag"
          href={router.href({ ...first, author: "" })}
          aria-label={`by ${plainText(author)}; show commits of all authors`}
        >
          by <PlainText text={author} /> <Icon name="close" />
        </a>
      )}
      <input
        type="search"
        class="filter"
        aria-label="Filter commits by their messages"
        placeholder="Filter by message"
        key={query}
        defaultValue={query}
        onChange={({ currentTarget: { value } }) => router.go({ ...first, query: value })}
      />
    </div>
  );
}

interface CommitsProps {
  commits: readonly Commit[];
  /** The number of commits on all pages. */
  total: number;
  address: CommitsView;
}

function Commits({ commits, total, address }: CommitsProps) {
  if (total === 0) return <p class="muted wait">No commit matches.</p>;
  return (
    <>
      <ul class="entries commits">
        {commits.map((commit) => (
          <CommitRow key={commit.hash} commit={commit} address={address} />
        ))}
      </ul>
      <Pages total={total} address={address} />
    </>
  );
}

function CommitRow({ commit, address }: { commit: Commit; address: CommitsView }) {
  const { router } = usePage();
  const { hash, message, authorName, date } = commit;
  const { repository } = address;
  const { page: _, ...first } = address;
  return (
    <li data-place>
      <a data-result href={router.href({ view: "commit", repository, hash })}>
        <PlainText text={message} />
      </a>
      <span class="muted when">
        <a
          href={router.href({ ...first, author: authorName })}
          title={`Commits of ${plainText(authorName)}`}
        >
          <PlainText text={authorName} />
        </a>
        , <time dateTime={date}>{ago(date)}</time>
      </span>
      <code class="muted">{hash.slice(0, 10)}</code>
    </li>
  );
}

function Pages({ total, address }: Pick<CommitsProps, "total" | "address">) {
  const { router } = usePage();
  const { page = 1 } = address;
  const last = Math.max(1, Math.ceil(total / PER_PAGE));
  const linkTo = (to: number): string => router.href({ ...address, page: to });
  return (
    <nav class="pages" aria-label="Pages">
      {page > 1 && <a href={linkTo(page - 1)}>Newer</a>}
      <span class="muted" role="status">
        Page {page} of {last}, {total.toLocaleString("en")} {total === 1 ? "commit" : "commits"}
      </span>
      {page < last && <a href={linkTo(page + 1)}>Older</a>}
    </nav>
  );
}
