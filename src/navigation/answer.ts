/** Answers questions of navigation: finds the repositories to ask, asks a thread, and builds the answer. */

import { createHash } from "node:crypto";
import { emptyBitset, placeBits, type Bitset } from "../base/bitset.ts";
import { compareText } from "../base/compare.ts";
import { invalid } from "../base/errors.ts";
import { newPause } from "../base/yield.ts";
import { quote } from "../query/ast.ts";
import { lookUp } from "../repositories.ts";
import type { Attempt } from "../search/caller/attempt.ts";
import { PartQueue } from "../search/caller/part-queue.ts";
import { visibleRepositories } from "../search/caller/scope.ts";
import { search } from "../search/caller/search.ts";
import type { SearchCall, Searching } from "../search/caller/searching.ts";
import type { CatalogRepository } from "../store/catalog/catalog.ts";
import type { View } from "../store/catalog/view.ts";
import { rulesFor } from "./languages/languages.ts";
import type {
  FoundCaller,
  FoundPlace,
  NavigationInput,
  NavigationMessage,
  NavigationOutput,
  NavigationResult,
} from "./messages.ts";
import {
  CERTAINTIES,
  type Ask,
  type CheckedOptions,
  type NavigationAnswer,
  type NavigationEvent,
  type NavigationPlace,
  type NavigationTarget,
} from "./request.ts";

/** The maximum number of repositories that are asked for a name. */
const MAX_REPOSITORIES = 20;
const CURSOR_VERSION = 1;

/** What is asked, with checked options. */
export interface NavigationQuestion {
  readonly ask: Ask;
  readonly target: NavigationTarget;
  readonly checked: CheckedOptions;
}

/** What the question sees. */
type NavigationCall = Pick<SearchCall, "options" | "view">;

/** Called with places as they are found. */
type OnPlaces = (repository: string, message: NavigationMessage) => void;

type Answer = NavigationAnswer<NavigationPlace>;

/** Answers a question. REQUIRES: its target and options are checked. */
export async function answerNavigation(
  searching: Searching,
  question: NavigationQuestion,
  call: NavigationCall,
): Promise<Answer> {
  const offset = offsetOf(question);
  const { places, ...answer } = await answerWhole(searching, question, call);
  const { atLeast, limit } = question.checked;
  const most = CERTAINTIES.indexOf(atLeast);
  const wanted = places.filter(({ certainty }) => CERTAINTIES.indexOf(certainty) <= most);
  wanted.sort(byCertainty);
  const next = offset + limit;
  return {
    ...answer,
    places: wanted.slice(offset, next),
    ...(next < wanted.length && { nextCursor: cursorAt(question, next) }),
  };
}

/** Answers a question as a stream. The places have every certainty that the question asks for. */
export async function* streamNavigation(
  searching: Searching,
  question: NavigationQuestion,
  call: NavigationCall,
): AsyncGenerator<NavigationEvent> {
  const queue = new PartQueue<NavigationEvent>();
  const most = CERTAINTIES.indexOf(question.checked.atLeast);
  const push = (repository: string, { places, filesRead, filesLeft }: NavigationMessage): void => {
    const wanted = places.filter(({ certainty }) => CERTAINTIES.indexOf(certainty) <= most);
    if (wanted.length === 0 && filesLeft > 0) return;
    const named = wanted.map((one) => ({ repository, ...one }));
    queue.push({ type: "places", places: named, filesRead, filesLeft });
  };
  const ended = new AbortController();
  const { signal } = call.options;
  const abort = (): void => ended.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  const own = { ...call, options: { ...call.options, signal: ended.signal } };
  try {
    queue.endWith(
      answerWhole(searching, question, own, push).then((whole) => {
        const { targets, counts, leftOut, filesResolved, isComplete } = whole;
        queue.push({
          type: "final",
          answer: { targets, counts, leftOut, filesResolved, isComplete },
        });
      }),
    );
    yield* queue;
  } finally {
    signal?.removeEventListener("abort", abort);
    ended.abort();
  }
}

/** Asks every repository. With `onPlaces`, the places are passed there and not returned. */
async function answerWhole(
  searching: Searching,
  { ask, target, checked }: NavigationQuestion,
  call: NavigationCall,
  onPlaces?: OnPlaces,
): Promise<Answer> {
  const answer: Answer = {
    targets: [],
    places: [],
    counts: { resolved: 0, likely: 0, possible: 0 },
    leftOut: { otherDeclarations: 0, comments: 0, strings: 0 },
    filesResolved: 0,
    isComplete: true,
  };
  const count = (places: readonly FoundPlace[]): void => {
    for (const { certainty } of places) answer.counts[certainty]++;
  };
  const { repositories, isComplete } = await repositoriesFor(searching, target, call);
  answer.isComplete = isComplete;
  for (const name of repositories) {
    const onMessage =
      onPlaces &&
      ((message: NavigationMessage): void => {
        count(message.places);
        onPlaces(name, message);
      });
    const asked = { ask, target, depth: checked.depth, repository: name, onMessage };
    const output = await askRepository(searching, asked, call);
    const named = (one: FoundPlace): NavigationPlace => ({ repository: name, ...one });
    for (const one of output.targets) answer.targets.push(named(one));
    count(output.places);
    if (onPlaces)
      onPlaces(name, { places: output.places, filesRead: output.filesResolved, filesLeft: 0 });
    else
      for (const one of output.places)
        answer.places.push(
          "via" in one ? ({ ...named(one), via: named(one.via) } as NavigationPlace) : named(one),
        );
    for (const key of Object.keys(answer.leftOut) as (keyof Answer["leftOut"])[])
      answer.leftOut[key] += output.leftOut[key];
    answer.filesResolved += output.filesResolved;
    answer.isComplete &&= output.isComplete;
  }
  return answer;
}

// ── repositories ──

/** Returns the names of the repositories that may define the target. */
async function repositoriesFor(
  searching: Searching,
  target: NavigationTarget,
  call: NavigationCall,
): Promise<{ readonly repositories: readonly string[]; readonly isComplete: boolean }> {
  if (target.repository !== undefined)
    return { repositories: [target.repository], isComplete: true };
  const { catalog } = await call.view();
  const [only, ...others] = someVisible(catalog, call);
  if (!only || others.length === 0)
    return { repositories: only ? [only.record.name] : [], isComplete: true };
  const { name } = partsOf(target as { symbol: string });
  const word = name.replace(/[^\p{L}\p{N}_]/gu, "\\$&");
  // members such as fields of an object are no symbols, so the text is searched if no symbol has the name
  for (const query of [`sym:${quote(`^${word}$`)}`, `content:${quote(`\\b${word}\\b`)}`]) {
    const request = {
      query,
      matches: 10_000,
      matchesPerFile: 1,
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
    };
    const { files } = await search(searching, { request, ...call });
    const counts = new Map<string, number>();
    for (const { repository } of files) counts.set(repository, (counts.get(repository) ?? 0) + 1);
    if (counts.size === 0) continue;
    const all = [...counts].sort((a, b) => b[1] - a[1] || compareText(a[0], b[0]));
    const repositories = all.slice(0, MAX_REPOSITORIES).map(([one]) => one);
    return { repositories, isComplete: all.length <= MAX_REPOSITORIES };
  }
  return { repositories: [], isComplete: true };
}

function someVisible(catalog: View["catalog"], { options }: NavigationCall): CatalogRepository[] {
  const found: CatalogRepository[] = [];
  for (const one of visibleRepositories(catalog, options.viewer)) {
    found.push(one);
    if (found.length > 1) break;
  }
  return found;
}

/** Splits a name into the symbol and its parent, such as `add` and `Cart`. */
function partsOf({ symbol }: { readonly symbol: string }): { name: string; parent?: string } {
  const parts = symbol.split(/::|[.#/]/).filter((part) => part !== "");
  const parent = parts.at(-2);
  return { name: parts.at(-1) ?? symbol, ...(parent !== undefined && { parent }) };
}

// ── one repository ──

interface Asked {
  readonly ask: Ask;
  readonly target: NavigationTarget;
  readonly depth: number;
  readonly repository: string;
  readonly onMessage: ((message: NavigationMessage) => void) | undefined;
}

async function askRepository(
  searching: Searching,
  asked: Asked,
  call: NavigationCall,
): Promise<NavigationOutput> {
  // the query only opens an attempt, whose segments are not used
  const request = { query: "file:.", matches: 0 };
  const question = await searching.understand({ ...call, request });
  return searching.answer(question, async (attempt) => {
    const output = await ask(asked, attempt, searching);
    return output === "gone" ? undefined : output;
  });
}

async function ask(
  { ask: what, target, depth, repository, onMessage }: Asked,
  { catalog, view, control, options }: Attempt,
  { parts }: Searching,
): Promise<NavigationResult> {
  const found = lookUp(catalog, repository, options.viewer);
  if (!found) throw invalid(`there is no repository ${repository}`);
  const segments = await filesOf(found, catalog, target.revision);
  const used = new Set(segments.map(({ segment }) => segment));
  const { name = "", parent } = "symbol" in target ? partsOf(target) : {};
  const input: NavigationInput = {
    ask: what,
    target: "symbol" in target ? { symbol: name, parent } : placeOf(target),
    segments,
    packed: view.packed.filter(({ segment }) => used.has(segment)),
    shared: control.shared,
    depth,
    isStreamed: onMessage !== undefined,
  };
  // questions about a repository go to the same thread, which keeps the facts of its files
  const worker = found.record.id % parts.pool.lanes;
  return parts.pool.run<NavigationResult>("navigate", input, {
    lane: "list",
    worker,
    onMessage: (message) => onMessage?.(message as NavigationMessage),
  });
}

const placeOf = ({ path, line, column }: Extract<NavigationTarget, { path: string }>) => {
  if (rulesFor(path)) return { path, line, column };
  throw invalid(`cannot navigate from ${path}: quern has no rules for its language`);
};

/** Returns the files of a revision, as one set for each segment. */
async function filesOf(
  { record, places }: CatalogRepository,
  { headers }: View["catalog"],
  revision: string | undefined,
): Promise<{ segment: number; scope: Bitset }[]> {
  const index =
    revision === undefined
      ? 0
      : record.revisions.findIndex(({ name, commit }) => name === revision || commit === revision);
  if (index < 0) throw invalid(`${record.name} has no revision ${revision}`);
  const scopes = new Map<number, Bitset>();
  const pause = newPause();
  for (const { segment, first, count, sets } of places) {
    const set = sets[index];
    if (!set) continue;
    const scope = scopes.get(segment) ?? emptyBitset(headers.get(segment)!.files);
    placeBits(scope, first, set, count);
    scopes.set(segment, scope);
    await pause();
  }
  return Array.from(scopes, ([segment, scope]) => ({ segment, scope }));
}

// ── pages ──

function byCertainty(a: NavigationPlace | FoundCaller, b: NavigationPlace | FoundCaller): number {
  const [x, y] = [a as NavigationPlace, b as NavigationPlace];
  return (
    ("depth" in a && "depth" in b ? a.depth - b.depth : 0) ||
    CERTAINTIES.indexOf(x.certainty) - CERTAINTIES.indexOf(y.certainty) ||
    compareText(x.repository, y.repository) ||
    compareText(x.path, y.path) ||
    x.range.start.byteOffset - y.range.start.byteOffset
  );
}

/** Returns what stands for a question in its cursors. */
function digestOf({ ask: what, target, checked: { atLeast, depth } }: NavigationQuestion): string {
  const text = JSON.stringify([what, target, atLeast, depth]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 12);
}

const cursorAt = (question: NavigationQuestion, offset: number): string =>
  Buffer.from(`${CURSOR_VERSION}.${digestOf(question)}.${offset}`).toString("base64url");

function offsetOf(question: NavigationQuestion): number {
  const { after } = question.checked;
  if (after === undefined) return 0;
  const [version, digest, offset] = Buffer.from(after, "base64url").toString().split(".");
  const isOwn = version === String(CURSOR_VERSION) && digest === digestOf(question);
  if (!isOwn || !/^\d{1,9}$/.test(offset ?? ""))
    throw invalid("after must be the nextCursor of an answer to the same question");
  return Number(offset);
}
