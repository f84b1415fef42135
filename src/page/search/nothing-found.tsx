/**
 * Says why a search found nothing, as far as the server knows. Suggests changed queries that find something, and
 * names repositories that are not indexed.
 */

import { useAsked } from "../frame/asked.ts";
import { usePage } from "../frame/page-context.ts";
import { PlainText } from "../frame/plain-text.tsx";
import type { Explanation } from "../wire/answers.ts";
import { Places } from "./find-page.tsx";
import { requestOf, type Asked } from "./live-search.ts";
import { addFilter, isOfHistory, splitQuestion } from "./query-text.ts";

const CHANGES: Readonly<Record<string, string>> = {
  "ignore-case": "In any case",
  literal: "As plain text",
  regex: "As a regular expression",
  "all-revisions": "On all branches and tags",
  "drop-filter": "Without a filter",
  language: "In a language of a similar name",
};

export function NothingFound({ asked }: { asked: Asked }) {
  const { client } = usePage();
  const { query, regex, matchCase } = asked;
  const asking = useAsked(JSON.stringify([query, regex, matchCase]), (signal) =>
    client.explain(requestOf(asked), signal),
  );
  return (
    <div class="nothing">
      <h2>Nothing was found</h2>
      {asking.state === "there" && (
        <>
          <Hints hints={asking.value.hints ?? []} asked={asked} />
          <Suggestions suggestions={asking.value.suggestions} />
          <NotIndexed notIndexed={asking.value.notIndexed} />
        </>
      )}
      <OtherWays asked={asked} />
      <p class="muted">
        Words of a query must all be in the same file. Quotes hold words together, and{" "}
        <code>or</code> lets either be there.
      </p>
    </div>
  );
}

/** Shows the hints for words of other search engines, each with the corrected query. */
function Hints({ hints, asked }: { hints: Required<Explanation>["hints"]; asked: Asked }) {
  const { router } = usePage();
  if (hints.length === 0) return null;
  return (
    <ul class="suggestions hints">
      {hints.map(({ message, query }) => (
        <li key={message}>
          <PlainText text={message} />
          {query !== undefined && (
            <>
              {" "}
              <a href={router.href({ ...asked, view: "search", query })} data-result>
                <code>
                  <PlainText text={query} />
                </code>
              </a>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Shows the places that the words of the query describe, and a link to a search in the history. */
function OtherWays({ asked }: { asked: Asked }) {
  const { client, router, hasHistory } = usePage();
  const { query } = asked;
  const { text, filters } = splitQuestion(query);
  const canDescribe = !isOfHistory(query) && /\p{L}{2}/u.test(text);
  const described = useAsked(canDescribe ? query : undefined, (signal) =>
    client.find({ text, query: filters, places: PLACES }, signal),
  );
  const places = described.state === "there" ? described.value.places : [];
  return (
    <>
      {hasHistory && !isOfHistory(query) && (
        <p>
          <a href={router.href({ ...asked, view: "search", query: addFilter(query, "type:diff") })}>
            Search in the history
          </a>{" "}
          <span class="muted">for commits that added or removed it</span>
        </p>
      )}
      {places.length > 0 && (
        <section aria-label="Places that the words describe">
          <h3>Places that these words may describe</h3>
          <Places places={places} />
          <a href={router.href({ view: "find", query })}>More places</a>
        </section>
      )}
    </>
  );
}

const PLACES = 3;

function Suggestions({ suggestions }: Pick<Explanation, "suggestions">) {
  const { router } = usePage();
  if (suggestions.length === 0) return null;
  return (
    <>
      <p>This would find something:</p>
      <ul class="suggestions">
        {suggestions.map(({ change, request, totalMatchCount }) => {
          const { query, isRegexEnabled = false, isCaseSensitivityEnabled = false } = request;
          const href = router.href({
            view: "search",
            query,
            regex: isRegexEnabled,
            matchCase: isCaseSensitivityEnabled,
          });
          return (
            <li key={href}>
              {CHANGES[change] ?? "Changed"}:{" "}
              <a href={href} data-result>
                <code>
                  <PlainText text={query} />
                </code>
              </a>{" "}
              <span class="muted">
                {totalMatchCount.toLocaleString("en")} {totalMatchCount === 1 ? "match" : "matches"}
              </span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function NotIndexed({ notIndexed }: Pick<Explanation, "notIndexed">) {
  if (notIndexed.length === 0) return null;
  return (
    <>
      <p>Not everything that the query names was searched:</p>
      <ul class="suggestions">
        {notIndexed.map(({ repository, reason, files }) => (
          <li key={repository}>
            <strong>
              <PlainText text={repository} />
            </strong>{" "}
            {wordsFor(reason, files ?? 0)}
          </li>
        ))}
      </ul>
    </>
  );
}

function wordsFor(reason: string, files: number): string {
  switch (reason) {
    case "unknown":
      return "is not indexed, or you may not see it";
    case "indexing":
      return "is being indexed for the first time";
    case "files-skipped":
      return `has ${files} ${files === 1 ? "file" : "files"} whose content is not searchable: too large, or no text`;
    default:
      return "was not searched whole";
  }
}
