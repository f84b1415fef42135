/** What there is to search. */

import { compareText } from "../base/compare.ts";
import type { Repository } from "../repository.ts";
import { jsonResponse } from "./json-body.ts";
import { PAGE_HEADERS, pageHeaders } from "./pages.ts";
import { Refusal } from "./refusal.ts";
import { viewerOption, withQuery, type Call, type Route } from "./route.ts";
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
        description: "The default one first",
        schema: schemas.revisionList,
      },
      refusals: ["REPOSITORY_NOT_FOUND"],
    },
    async (call, { repo }) => {
      const { revisions } = await findRepository(call, repo);
      return jsonResponse(revisions, { confirm: call.confirm });
    },
  );
}

/** Refuses in the same words where there is none and where it may not be seen. */
export async function findRepository(call: Call, name: string): Promise<Repository> {
  const repositories = await call.engine.repositories(viewerOption(call));
  const repository = repositories.find((candidate) => candidate.name === name);
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
}

async function listRepositories(call: Call, listing: Listing): Promise<Response> {
  const { page = 1, perPage = 30, query = "" } = listing;
  const wanted = query.toLowerCase();
  const all = (await call.engine.repositories(viewerOption(call))).filter(
    ({ name, displayName = "" }) =>
      name.toLowerCase().includes(wanted) || displayName.toLowerCase().includes(wanted),
  );
  all.sort(comparing(listing));
  const shown = all.slice((page - 1) * perPage, page * perPage).map(describe);
  const headers = pageHeaders(call, { page, perPage, total: all.length });
  return jsonResponse(shown, { headers, confirm: call.confirm });
}

/** By name where the rest is equal; a date that is not known comes last in either direction. */
function comparing({ sort, direction }: Listing): (a: Repository, b: Repository) => number {
  const sign = direction === "asc" ? 1 : -1;
  const byName = (a: Repository, b: Repository) => compareText(a.name, b.name);
  if (sort === "name") return (a, b) => sign * byName(a, b);
  const time = (repository: Repository) =>
    (sort === "pushed" ? repository.pushedAt : repository.indexedAt)?.getTime();
  return (a, b) => {
    const [left, right] = [time(a), time(b)];
    if (left === right) return byName(a, b);
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
    return sign * (left - right);
  };
}

function describe(repository: Repository) {
  const { webUrl, displayName, indexedAt, pushedAt, revisions } = repository;
  return {
    repoId: repository.id,
    repoName: repository.name,
    codeHostType: repository.codeHostType,
    webUrl,
    repoDisplayName: displayName,
    externalWebUrl: webUrl,
    indexedAt: indexedAt.toISOString(),
    pushedAt: pushedAt?.toISOString(),
    defaultBranch: revisions.find(({ isDefault }) => isDefault)?.name,
    isFork: repository.fork,
    isArchived: repository.archived,
  };
}
