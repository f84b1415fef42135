/** Draws the view of a search. It shows how much was found, the filters that narrow the search, and the files. */

import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { SearchAddress } from "../frame/address.ts";
import { useDrawn } from "../frame/drawn.ts";
import { usePage, useTitle } from "../frame/page-context.ts";
import { usePlace, type Place } from "../frame/place.ts";
import { PlainText } from "../frame/plain-text.tsx";
import type { Stats } from "../wire/answers.ts";
import { Refused, wordsOf } from "../wire/client.ts";
import { ChangeList, isChange } from "./change-list.tsx";
import { facetsOf, foldCopies, type Folded } from "./facets.ts";
import { FacetList } from "./facet-list.tsx";
import { FileCard } from "./file-card.tsx";
import type { Found } from "./live-search.ts";
import { NothingFound } from "./nothing-found.tsx";
import { namesRevisions } from "./query-text.ts";
import { SearchTabs } from "./search-tabs.tsx";
import { SearchedAs } from "./searched-as.tsx";
import { useSearch } from "./use-search.ts";
import { useSteady } from "./use-steady.ts";

interface SearchPageProps {
  address: SearchAddress;
}

export function SearchPage({ address }: SearchPageProps) {
  return address.query.trim() === "" ? <Blank /> : <Results address={address} />;
}

function Results({ address }: SearchPageProps) {
  const { client, router } = usePage();
  const { found, shown, more } = useSearch(client, address);
  useTitle(titleOf(address, found));
  usePlace(router.place, found.files.length > 0);
  useSteady(found.state);
  return (
    <main id="main" class="results">
      <FacetList
        facets={shown.facets ?? facetsOf(shown.files)}
        address={address}
        isPart={shown.facets === undefined && shown.files.length > 0}
      />
      <h1 class="unseen-heading">Results of the search</h1>
      <section class="found" aria-label="Results" aria-busy={found.state !== "done"}>
        <SearchTabs address={address} />
        <SearchedAs address={address} />
        {found.state === "failed" ? <SearchError error={found.error} /> : <Summary found={found} />}
        {found.state === "done" && found.files.length === 0 ? (
          <NothingFound asked={address} />
        ) : (
          <Files
            asked={address}
            shown={shown}
            isStale={shown !== found}
            showsRefs={namesRevisions(address.query)}
            onEnd={more}
          />
        )}
      </section>
    </main>
  );
}

function Blank() {
  useTitle("Search");
  return (
    <main id="main" class="notice">
      <h1>Type what to look for</h1>
      <p class="muted">
        Words, code, or filters such as <code>lang:go</code> and <code>repo:shop</code>.
      </p>
    </main>
  );
}

function titleOf({ query }: SearchAddress, { stats }: Found): string {
  const short = query.length > 60 ? `${query.slice(0, 60)}…` : query;
  return stats === undefined ? short : `${short} – ${matches(stats.totalMatchCount)}`;
}

const number = (count: number): string => count.toLocaleString("en");
const matches = (count: number): string => `${number(count)} ${count === 1 ? "match" : "matches"}`;
const filesIn = (count: number): string => `${number(count)} ${count === 1 ? "file" : "files"}`;

function Summary({ found: { state, stats, files, hasMore } }: { found: Found }) {
  if (state === "streaming")
    return (
      <p class="summary" role="status">
        {filesIn(files.length)} so far, not ranked yet …
      </p>
    );
  if (stats === undefined)
    return (
      <p class="summary" role="status">
        Searching …
      </p>
    );
  return (
    <p class="summary" role="status">
      <strong>{counted(stats, files.some(isChange))}</strong>
      <span class="muted"> in {milliseconds(stats.duration)}</span>
      {hasMore && <span class="muted"> · {shownOf(files)}</span>}
      {missing(stats).map((words) => (
        <span key={words} class="missing">
          {words}
        </span>
      ))}
    </p>
  );
}

/** Says how many of the results are shown. Changes and commits are in the order of time. */
function shownOf(files: Found["files"]): string {
  const count = files.length;
  return files.some(isChange)
    ? `the newest ${number(count)} shown`
    : `the best ${filesIn(count)} shown`;
}

function counted({ totalMatchCount, fileCount }: Stats, isHistory: boolean): string {
  if (fileCount === 0) return "No matches";
  const results = isHistory
    ? `${number(fileCount)} ${fileCount === 1 ? "result" : "results"}`
    : filesIn(fileCount);
  return totalMatchCount === 0 ? results : `${matches(totalMatchCount)} in ${results}`;
}

/** Says why the counts of an answer may be too low. Files that were found but are not shown yet are in the counts. */
function missing({ shardsSkipped = 0, crashes = 0, filesSkipped = 0 }: Stats): string[] {
  const isCut = shardsSkipped > 0;
  return [
    ...(isCut ? ["The time for a search ran out: there may be more."] : []),
    ...(crashes > 0 ? ["A part of the index could not be read: there may be more."] : []),
    ...(filesSkipped > 0 && !isCut && crashes === 0
      ? [`The definitions in ${filesIn(filesSkipped)} are not indexed yet: there may be more.`]
      : []),
  ];
}

function milliseconds(nanoseconds: number): string {
  const ms = nanoseconds / 1e6;
  return ms < 1 ? "under 1 ms" : `${number(Math.round(ms))} ms`;
}

/**
 * Shows an error above the earlier results, because a query that is being typed is often invalid for a
 * moment.
 */
function SearchError({ error }: { error: unknown }) {
  const isQuery = error instanceof Refused && error.status === 400;
  return (
    <div class="query-error" role="alert">
      <h2>{isQuery ? "This query cannot be understood" : "The search failed"}</h2>
      <pre>
        <PlainText text={wordsOf(error)} />
      </pre>
    </div>
  );
}

// ── files ──

interface FilesProps {
  asked: SearchAddress;
  shown: Found;
  isStale: boolean;
  showsRefs: boolean;
  onEnd: () => void;
}

function Files(props: FilesProps) {
  const { shown, isStale, onEnd } = props;
  const changes = shown.files.filter(isChange);
  if (changes.length === 0) return <RankedFiles {...props} />;
  return (
    <>
      <div class={isStale ? "files stale" : "files"}>
        <ChangeList changes={changes} />
      </div>
      {shown.hasMore && <End isLoading={shown.isLoadingMore} onSeen={onEnd} />}
    </>
  );
}

function RankedFiles({ asked, shown, isStale, showsRefs, onEnd }: FilesProps) {
  const { router } = usePage();
  const { isGrouped = false } = asked;
  const folded = useMemo(() => foldCopies(shown.files), [shown.files]);
  const drawn = useDrawn({
    list: useList(asked, isStale),
    count: folded.length,
    step: CARDS_IN_RUN,
    least: leastDrawn(router.place),
  });
  const cardOf = useCards(asked, showsRefs);
  const files = folded.slice(0, drawn);
  const onGroup = (): void => router.go({ ...asked, isGrouped: !isGrouped }, "replace");
  const groups = isGrouped ? byRepository(files) : [{ name: "", files }];
  return (
    <>
      <label class="group-by" hidden={folded.length === 0}>
        <input type="checkbox" checked={isGrouped} onChange={onGroup} />
        Group by repository
      </label>
      <div class={isStale ? "files stale" : "files"}>
        {groups.map(({ name, files: inGroup }) => (
          <div key={name}>
            {name !== "" && (
              <h2 class="group">
                <PlainText text={name} />
              </h2>
            )}
            {runsOf(inGroup.map(cardOf)).map((cards, index) => (
              <Run key={index} cards={cards} />
            ))}
          </div>
        ))}
      </div>
      {shown.hasMore && (
        <End isLoading={shown.isLoadingMore || drawn < folded.length} onSeen={onEnd} />
      )}
    </>
  );
}

/** The number of cards in a run. A run is drawn in one frame, and is compared with the earlier run as a unit. */
const CARDS_IN_RUN = 8;

function runsOf(cards: readonly VNode[]): VNode[][] {
  const runs: VNode[][] = [];
  for (let at = 0; at < cards.length; at += CARDS_IN_RUN)
    runs.push(cards.slice(at, at + CARDS_IN_RUN));
  return runs;
}

/** Draws consecutive cards. If all cards are the same objects as before, they are not compared in detail. */
function Run({ cards }: { cards: VNode[] }) {
  return useMemo(() => <div>{cards}</div>, cards);
}

/**
 * Returns how many cards the first frame draws. If the reader comes back to a list, these are all cards down to the
 * position where the reader left the list.
 */
const leastDrawn = ({ top }: Place = {}): number =>
  CARDS_IN_RUN + (top === undefined ? 0 : top.index + 2 * CARDS_IN_RUN);

/**
 * Returns a text that identifies the search whose files are shown. This is the earlier search until the new search
 * has an answer.
 */
function useList({ query, regex, matchCase }: SearchAddress, isStale: boolean): string {
  const list = useRef("");
  if (!isStale) list.current = JSON.stringify([query, regex, matchCase]);
  return list.current;
}

/**
 * Returns a function that creates the card of each file only once. A card that is the same object is not drawn again,
 * so adding a page to a list of thousands takes only the time of that page.
 */
function useCards(asked: SearchAddress, showsRefs: boolean): (one: Folded) => VNode {
  const { query, regex, matchCase } = asked;
  return useMemo(() => {
    const cards = new WeakMap<Folded["file"], { copies: number; card: VNode }>();
    return (one) => {
      const copies = one.copies.length;
      const known = cards.get(one.file);
      if (known?.copies === copies) return known.card;
      const card = <FileCard key={keyOf(one)} {...one} showsRefs={showsRefs} asked={asked} />;
      cards.set(one.file, { copies, card });
      return card;
    };
  }, [query, regex, matchCase, showsRefs]);
}

const keyOf = ({ file: { repository, fileName, branches = [] } }: Folded): string =>
  `${repository}\n${fileName.text}\n${branches.join(" ")}`;

function byRepository(folded: readonly Folded[]): { name: string; files: Folded[] }[] {
  const groups = new Map<string, Folded[]>();
  for (const one of folded) {
    const { repository } = one.file;
    const group = groups.get(repository);
    if (group === undefined) groups.set(repository, [one]);
    else group.push(one);
  }
  return [...groups].map(([name, files]) => ({ name, files }));
}

/** Draws the button at the end of a list. When the button comes into view, requests more files. */
function End({ isLoading, onSeen }: { isLoading: boolean; onSeen: () => void }) {
  const ref = useRef<HTMLButtonElement>(null);
  const seen = useRef(onSeen);
  seen.current = onSeen;
  useEffect(() => {
    if (isLoading) return;
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && seen.current(),
      { rootMargin: "600px" },
    );
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, [isLoading]);
  return (
    <button ref={ref} type="button" class="more" disabled={isLoading} onClick={onSeen}>
      {isLoading ? "Loading more …" : "Show more files"}
    </button>
  );
}
