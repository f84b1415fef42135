/** Serves the list of repositories, and the list of the indexed revisions of each repository. */

import { coreOf } from "../core-of.ts";
import type { RepositorySummary } from "../repositories.ts";
import { repositoryAddress } from "./addresses.ts";
import { repositoriesOf } from "./connection-routes.ts";
import { jsonResponse } from "./json-body.ts";
import { PAGE_HEADERS, pageHeaders } from "./pages.ts";
import { Refusal } from "./refusal.ts";
import { withQuery, type Call, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const TAG = "Repositories";

export function repositoryRoutes(): Route[] {
  return [
    withQuery(
      {
        method: "get",
        path: "/api/repos",
        action: "listRepositories",
        tag: TAG,
        summary: "List the repositories that the caller may see",
        access: "search",
        query: schemas.repositoriesQuery,
        answers: {
          status: 200,
          description: "One page of them",
          schema: schemas.repositoryList,
          headers: PAGE_HEADERS,
        },
      },
      listRepositories,
    ),
    revisionsRoute(),
  ];
}

function revisionsRoute(): Route {
  return withQuery(
    {
      method: "get",
      path: "/api/revisions",
      action: "listRevisions",
      tag: TAG,
      summary: "List the indexed revisions of a repository",
      access: "search",
      query: schemas.revisionsQuery,
      answers: {
        status: 200,
        description: "The revisions, the default one first",
        schema: schemas.revisionList,
      },
      refusals: ["REPOSITORY_NOT_FOUND"],
    },
    async (call, { repo }) => {
      const { revisions } = await findVisible(call, repo);
      return jsonResponse(revisions, { confirm: call.confirm });
    },
  );
}

/**
 * Resolves to a repository that the caller may see. The refusal is the same if the repository does not exist and if
 * the caller may not see it.
 */
export async function findVisible(call: Call, name: string): Promise<RepositorySummary> {
  const repository = await coreOf(call.engine).repositories.find(name, call.caller.viewer);
  if (repository === undefined)
    throw new Refusal("REPOSITORY_NOT_FOUND", "there is no such repository");
  return repository;
}

// ── repositories ──

interface Listing {
  page?: number | undefined;
  perPage?: number | undefined;
  sort: "name" | "pushed" | "indexed";
  direction: "asc" | "desc";
  query?: string | undefined;
  connectionId?: number | undefined;
}

async function listRepositories(call: Call, listing: Listing): Promise<Response> {
  const { page = 1, perPage = 30, query = "", sort, direction, connectionId } = listing;
  const { viewer } = call.caller;
  const skip = (page - 1) * perPage;
  const among = connectionId === undefined ? undefined : repositoriesOf(call, connectionId);
  const asked = { viewer, query, sort, direction, skip, limit: perPage, among };
  const { repositories, total } = await coreOf(call.engine).repositories.page(asked);
  const headers = pageHeaders(call, { page, perPage, total });
  const shown = repositories.map((one) => describe(call, one));
  return jsonResponse(shown, { headers, confirm: call.confirm });
}

function describe(call: Call, repository: RepositorySummary) {
  const { name, webUrl, displayName, indexedAt, pushedAt, revisions } = repository;
  const defaultBranch = revisions.find(({ isDefault }) => isDefault)?.name;
  return {
    repoId: repository.id,
    repoName: name,
    codeHostType: repository.codeHostType,
    webUrl: webUrl ?? repositoryAddress(call, name, defaultBranch ?? "HEAD"),
    repoDisplayName: displayName,
    externalWebUrl: webUrl,
    indexedAt: indexedAt.toISOString(),
    pushedAt: pushedAt?.toISOString(),
    defaultBranch,
    isFork: repository.fork,
    isArchived: repository.archived,
  };
}
