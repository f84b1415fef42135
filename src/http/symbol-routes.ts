/** Serves the definitions of a symbol and references to it, by a name or by a place that names the symbol. */

import type { SearchRequest, Viewer } from "../search/messages/request.ts";
import type { FileResult, SearchResponse } from "../search/messages/response.ts";
import { makeAbsolute } from "./addresses.ts";
import type { Settings } from "./options.ts";
import { findVisible } from "./repository-routes.ts";
import { viewerOption, withBody, type Call, type Route } from "./route.ts";
import { Refusal } from "./refusal.ts";
import { answerInSlot, noteOutcome, SEARCH_TAG } from "./search-routes.ts";
import { lineMatches } from "./line-matches.ts";
import { answerPlace, hasRules } from "./symbol-places.ts";
import { definitionsQuery, referencesQuery, type SymbolSearch } from "./symbol-query.ts";
import {
  symbolRequest,
  symbolResponse,
  type SymbolRequest,
  type SymbolResponse,
} from "./symbol-schemas.ts";

const MOST_LISTED = 10_000; // further matches are only counted

export function symbolRoutes(settings: Settings): Route[] {
  return [
    symbolRoute(settings, "find_definitions", definitionsQuery),
    symbolRoute(settings, "find_references", referencesQuery),
  ];
}

function symbolRoute(
  settings: Settings,
  name: "find_definitions" | "find_references",
  queryOf: (search: SymbolSearch) => string,
): Route {
  const isDefinitions = name === "find_definitions";
  return withBody(
    {
      method: "post",
      path: `/api/${name}`,
      action: isDefinitions ? "findDefinitions" : "findReferences",
      audit: "search.performed",
      tag: SEARCH_TAG,
      summary: isDefinitions ? "Find definitions of a symbol" : "Find references to a symbol",
      description:
        "With a name, finds all places that have it. With a place that names the symbol, finds the places that mean this symbol.",
      access: "search",
      body: symbolRequest,
      answers: { status: 200, description: "The places, by file", schema: symbolResponse },
      refusals: ["REPOSITORY_NOT_FOUND", "OVERLOADED"],
    },
    async (call, request) => {
      const { symbolName, language, repoName, atLeast, after } = request;
      const revisionName = request.revisionName || undefined;
      const place = placeOf(request);
      if (place !== undefined && (await hasRules(place.path))) {
        const repository = await findVisible(call, place.repoName);
        const revision = revisionName === "HEAD" ? undefined : revisionName;
        const asked = { ...place, repository, revision, isDefinitions, atLeast, after };
        return answerInSlot(call, async (options) => ({
          body: await answerPlace(call, asked, options),
        }));
      }
      const scope = await scopeOf(call, repoName, revisionName);
      const search: SearchRequest = {
        query: queryOf({ symbolName, language, revision: scope.revision }),
        matches: Math.min(settings.maxMatches, MOST_LISTED),
        isRegexEnabled: true,
        isCaseSensitivityEnabled: true,
      };
      return answerInSlot(call, async (options) => {
        const found = await call.engine.search(search, { ...options, ...scope.viewer });
        await makeAbsolute(call, found.files);
        noteOutcome(call, found);
        return { body: responseByName(found, place === undefined ? {} : BY_NAME) };
      });
    },
  );
}

/** Returns the place of a request, or undefined if it has none. Refuses a part of a place. */
function placeOf({ repoName, fileName: path, line, column, atLeast, after }: SymbolRequest) {
  if (repoName !== undefined && path !== undefined && line !== undefined && column !== undefined)
    return { repoName, path, line, column };
  if ([path, line, column, atLeast, after].every((field) => field === undefined)) return undefined;
  const needs = "a place needs repoName, fileName, line and column; atLeast and after need a place";
  throw new Refusal("INVALID_REQUEST_BODY", needs);
}

interface Scope {
  readonly viewer: { viewer?: Viewer };
  readonly revision: string | undefined;
}

/**
 * Returns the scope of a search. If a repository is named, the viewer is limited to this repository, so the query
 * needs no filter for its name. `rev:` also matches parts of names, so the default revision is searched as HEAD, and
 * any other indexed revision by its commit id if it has one.
 */
async function scopeOf(
  call: Call,
  repoName: string | undefined,
  revisionName: string | undefined,
): Promise<Scope> {
  if (repoName === undefined) return { viewer: viewerOption(call), revision: revisionName };
  const repository = await findVisible(call, repoName);
  const named = repository.revisions.find(({ name }) => name === revisionName);
  const revision = named?.isDefault ? "HEAD" : (named?.commit ?? revisionName);
  return { viewer: { viewer: { repositoryIds: new Set([repository.id]) } }, revision };
}

/** What is known of a place in a language without rules. */
const BY_NAME = { certainty: "possible", why: "its language has no rules" } as const;

function responseByName(
  { stats, files, repositoryInfo, isSearchExhaustive }: SearchResponse,
  known: Partial<typeof BY_NAME>,
): SymbolResponse {
  return {
    stats: { matchCount: stats.totalMatchCount },
    isSearchExhaustive,
    files: files.map((file: FileResult) => ({
      fileName: file.fileName.text,
      repository: file.repository,
      repositoryId: file.repositoryId,
      webUrl: file.webUrl,
      language: file.language,
      matches: lineMatches(file).map((match) => ({ ...match, ...known })),
    })),
    repositoryInfo,
  };
}
