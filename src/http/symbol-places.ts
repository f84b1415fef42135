/**
 * Answers requests for definitions and references of the symbol at a place, by the rules of its language. The response
 * has the form of a search by name, and says of each match how certain it is.
 */

import { lazily } from "../base/out-of-files.ts";
import { newPause, type Pause } from "../base/yield.ts";
import { findOptions } from "../find/request.ts";
import type { NavigationAnswer, NavigationPlace } from "../navigation/request.ts";
import type { RepositorySummary } from "../repositories.ts";
import type { FileContent } from "../repository.ts";
import type { SearchOptions } from "../search/messages/request.ts";
import type { Chunk, ResultSymbol } from "../search/messages/response.ts";
import { absolute } from "./addresses.ts";
import { lineMatches } from "./line-matches.ts";
import { viewerOption, type Call } from "./route.ts";
import { present } from "./search-routes.ts";
import type { SymbolFile, SymbolMatch, SymbolRequest, SymbolResponse } from "./symbol-schemas.ts";

/** The maximum number of places of a response. Each may show a kibibyte of its line. */
const MOST_PLACES = 1000;

/** The maximum length of the names in `inside`. With longer ones, `inside` is left out. */
const MOST_NAME_CHARACTERS = 1000;

const NEWLINE = 10;

/** A request with a place, in a repository that the caller may see. */
export interface PlaceRequest extends Pick<SymbolRequest, "atLeast" | "after"> {
  readonly isDefinitions: boolean;
  readonly repository: RepositorySummary;
  readonly revision: string | undefined;
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

const languages = lazily(() => import("../navigation/languages/languages.ts"));

/** Whether quern has rules for the language of a file. Loads the rules at the first call. */
export async function hasRules(path: string): Promise<boolean> {
  const { rulesFor } = await languages();
  return rulesFor(path) !== undefined;
}

export async function answerPlace(
  call: Call,
  { isDefinitions, repository, revision, path, line, column, atLeast, after }: PlaceRequest,
  options: SearchOptions,
): Promise<SymbolResponse> {
  const target = { repository: repository.name, path, line, column, ...present({ revision }) };
  const more = { ...present({ atLeast, after }), limit: MOST_PLACES };
  const own = { ...findOptions(options), ...more };
  const { engine } = call;
  const answer = isDefinitions
    ? await engine.definitionsOf(target, own)
    : await engine.usesOf(target, own);
  return responseOf(call, answer, repository, revision);
}

async function responseOf(
  call: Call,
  { places, targets, counts, leftOut, filesResolved, isComplete, nextCursor }: NavigationAnswer,
  repository: RepositorySummary,
  revision: string | undefined,
): Promise<SymbolResponse> {
  const matchCount = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const pause = newPause({ signal: call.request.signal });
  const filesOf = (of: readonly NavigationPlace[]): Promise<SymbolFile[]> =>
    files(call, { of, repositoryId: repository.id, revision, pause });
  const { id, codeHostType, name, displayName, webUrl } = repository;
  return {
    stats: { matchCount },
    isSearchExhaustive: isComplete && places.length === matchCount,
    files: await filesOf(places),
    repositoryInfo:
      places.length === 0 ? [] : [{ id, codeHostType, name, ...present({ displayName, webUrl }) }],
    targets: await filesOf(targets),
    counts,
    leftOut,
    filesResolved,
    ...present({ nextCursor }),
  };
}

interface FilesRequest {
  readonly of: readonly NavigationPlace[];
  readonly repositoryId: number;
  readonly revision: string | undefined;
  readonly pause: Pause;
}

/** Groups places by file. A file that changed since it was parsed, or is gone, is left out. */
async function files(
  call: Call,
  { of, repositoryId, revision, pause }: FilesRequest,
): Promise<SymbolFile[]> {
  const list: SymbolFile[] = [];
  for (const [path, places] of grouped(of, (place) => place.path)) {
    const { repository } = places[0]!;
    const file = { repository, path, ...present({ revision }) };
    const content = await call.engine.read(file, viewerOption(call));
    if (content === undefined) continue;
    const { language } = content;
    const webUrl = absolute(call, content.webUrl);
    const matches = matchesIn(content, places);
    list.push({ fileName: path, repository, repositoryId, webUrl, language, matches });
    await pause();
  }
  return list;
}

function matchesIn({ bytes }: FileContent, places: readonly NavigationPlace[]): SymbolMatch[] {
  const startOf = ({ range }: Pick<NavigationPlace, "range">): number => range.start.byteOffset;
  const inOrder = places.toSorted((a, b) => startOf(a) - startOf(b));
  const lines = grouped(inOrder, ({ range }) => range.start.lineNumber);
  const chunks = [...lines.values()].map((of) => lineOf(bytes, of));
  const found = new Map(lineMatches({ chunks }).map((match) => [startOf(match), match]));
  return places.map((place) => {
    const { certainty, use, why } = place;
    const inside = isShort(place.inside) ? place.inside : undefined;
    return { ...found.get(startOf(place))!, certainty, use, why, ...present({ inside }) };
  });
}

/** Whether the names of a definition are short enough to be repeated for each place in it. */
const isShort = ({ symbol, parent }: Partial<ResultSymbol> = {}): boolean =>
  (symbol ?? "").length + (parent?.symbol ?? "").length <= MOST_NAME_CHARACTERS;

/** Returns a line as the chunk of its places. REQUIRES: the places are in order. */
function lineOf(bytes: Uint8Array, places: readonly NavigationPlace[]): Chunk {
  const { byteOffset, lineNumber } = places[0]!.range.start;
  const from = byteOffset === 0 ? 0 : bytes.lastIndexOf(NEWLINE, byteOffset - 1) + 1;
  const newline = bytes.indexOf(NEWLINE, byteOffset);
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(
    "utf8",
    from,
    newline < 0 ? bytes.length : newline,
  );
  const contentStart = { byteOffset: from, lineNumber, column: 1 };
  return { content, contentStart, matchRanges: places.map(({ range }) => range) };
}

function grouped<K, T>(list: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of list) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}
