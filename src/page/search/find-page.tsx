/** Draws the view of a question in words: the places that it describes, and why each is shown. */

import { useState } from "preact/hooks";
import type { FindView } from "../frame/address.ts";
import { useAsked, useKept } from "../frame/asked.ts";
import { usePage, useTitle } from "../frame/page-context.ts";
import { usePlace } from "../frame/place.ts";
import { PlainText } from "../frame/plain-text.tsx";
import type { DescribedPlace, FindAnswer } from "../wire/answers.ts";
import { wordsOf } from "../wire/client.ts";
import { PlaceCard } from "./place-card.tsx";
import { splitQuestion } from "./query-text.ts";
import { SearchTabs } from "./search-tabs.tsx";

const PLACES = 10;

export function FindPage({ address }: { address: FindView }) {
  const { client, router } = usePage();
  const { query } = address;
  const { text, filters } = splitQuestion(query);
  const asked = useKept(
    useAsked(text === "" ? undefined : query, (signal) =>
      client.find({ text, query: filters, places: PLACES }, signal),
    ),
  );
  useTitle(text === "" ? "Find by description" : `${query} – Description`);
  usePlace(router.place, asked.state === "there");
  return (
    <main id="main" class="results plain">
      <h1 class="unseen-heading">Places that a question describes</h1>
      <section class="found" aria-label="Places">
        <SearchTabs address={address} />
        {text === "" && <Blank />}
        {text !== "" && asked.state === "waiting" && <p class="summary">Searching …</p>}
        {text !== "" && asked.state === "failed" && <p class="error">{wordsOf(asked.error)}</p>}
        {text !== "" && asked.state === "there" && (
          <Answer key={query} first={asked.value} text={text} filters={filters} />
        )}
      </section>
    </main>
  );
}

function Blank() {
  return (
    <p class="muted">
      Ask in ordinary words, such as <em>where is the retry delay computed</em>. The answer is a
      choice of the best places, never all.
    </p>
  );
}

interface AnswerProps {
  first: FindAnswer;
  text: string;
  filters: string;
}

function Answer({ first, text, filters }: AnswerProps) {
  const { client } = usePage();
  const [more, setMore] = useState<FindAnswer[]>([]);
  const last = more.at(-1) ?? first;
  const places = [first, ...more].flatMap((answer) => answer.places);
  const onMore = async (): Promise<void> => {
    const request = { text, query: filters, places: PLACES, after: last.nextCursor! };
    const next = await client.find(request);
    setMore([...more, next]);
  };
  return (
    <>
      <p class="summary" role="status">
        {places.length === 0 ? "No place was found" : `The ${places.length} best places`}
        <Notes answer={first} />
      </p>
      <Places places={places} />
      {last.nextCursor !== undefined && (
        <button type="button" class="more" onClick={() => void onMore()}>
          Show more places
        </button>
      )}
    </>
  );
}

/** Draws places as cards. */
export function Places({ places }: { places: readonly DescribedPlace[] }) {
  return (
    <div class="files">
      {places.map((place) => (
        <PlaceCard key={`${place.repository} ${place.path} ${place.lines.from}`} place={place} />
      ))}
    </div>
  );
}

const MISSING: Readonly<Record<string, string>> = {
  "timed-out": "The time for a search ran out.",
  damaged: "A part of the index could not be read.",
  "no-word-lists": "Some files have no word lists yet.",
};

function Notes({ answer: { unknownWords = [], missing = [] } }: { answer: FindAnswer }) {
  return (
    <>
      {unknownWords.length > 0 && (
        <span class="muted">
          {" "}
          · no file has <PlainText text={unknownWords.join(", ")} />
        </span>
      )}
      {missing.map((reason) => (
        <span key={reason} class="missing">
          {MISSING[reason] ?? "Not all files were scored."}
        </span>
      ))}
    </>
  );
}
