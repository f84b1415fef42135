/** Serves the definitions of a symbol and references to it. */

import type { SearchRequest, Viewer } from "../search/messages/request.ts";
import type { FileResult, SearchResponse } from "../search/messages/response.ts";
import { makeAbsolute } from "./addresses.ts";
import type { Settings } from "./options.ts";
import { findVisible } from "./repository-routes.ts";
import { viewerOption, withBody, type Call, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { answerInSlot, noteOutcome, SEARCH_TAG } from "./search-routes.ts";
import { lineMatches } from "./line-matches.ts";
import { definitionsQuery, referencesQuery, type SymbolSearch } from "./symbol-query.ts";

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
      access: "search",
      body: schemas.symbolRequest,
      answers: { status: 200, description: "The places, by file", schema: schemas.symbolResponse },
      refusals: ["REPOSITORY_NOT_FOUND", "OVERLOADED"],
    },
    async (call, { symbolName, language, revisionName, repoName }) => {
      const scope = await scopeOf(call, repoName, revisionName || undefined);
      const request: SearchRequest = {
        query: queryOf({ symbolName, language, revision: scope.revision }),
        matches: Math.min(settings.maxMatches, MOST_LISTED),
        isRegexEnabled: true,
        isCaseSensitivityEnabled: true,
      };
      return answerInSlot(call, async (options) => {
        const found = await call.engine.search(request, { ...options, ...scope.viewer });
        await makeAbsolute(call, found.files);
        noteOutcome(call, found);
        return { body: symbolResponse(found) };
      });
    },
  );
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

function symbolResponse({ stats, files, repositoryInfo, isSearchExhaustive }: SearchResponse) {
  return {
    stats: { matchCount: stats.totalMatchCount },
    isSearchExhaustive,
    files: files.map((file: FileResult) => ({
      fileName: file.fileName.text,
      repository: file.repository,
      repositoryId: file.repositoryId,
      webUrl: file.webUrl,
      language: file.language,
      matches: lineMatches(file),
    })),
    repositoryInfo,
  };
}
