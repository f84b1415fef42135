/** What there is to search: repositories, their folders and their files. */

import { withoutEndSlashes } from "../base/paths.ts";
import { compareText } from "../base/compare.ts";
import type { FolderEntry, Repository } from "../repository.ts";
import { jsonResponse } from "./json-body.ts";
import { Refusal } from "./refusal.ts";
import { viewerOption, withBody, withQuery, type Call, type Route } from "./route.ts";
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
          headers: {
            "X-Total-Count": "How many there are on all pages.",
            Link: "The first, previous, next and last page (RFC 8288).",
          },
        },
      },
      listRepositories,
    ),
    revisionsRoute(),
    withQuery(
      {
        method: "get",
        path: "/api/source",
        action: "readSource",
        tag: TAG,
        summary: "Read a file",
        access: "search",
        query: schemas.sourceQuery,
        answers: { status: 200, description: "Its content", schema: schemas.sourceResponse },
        refusals: ["REPOSITORY_NOT_FOUND", "FILE_NOT_FOUND"],
      },
      readSource,
    ),
    withBody(
      {
        method: "post",
        path: "/api/tree",
        action: "listTree",
        tag: TAG,
        summary: "List folders as a tree",
        access: "search",
        body: schemas.treeRequest,
        answers: {
          status: 200,
          description: "The root, with the folders opened that were asked for",
          schema: schemas.treeResponse,
        },
        refusals: ["REPOSITORY_NOT_FOUND", "NOT_FOUND"],
      },
      listTree,
    ),
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
  const headers: Record<string, string> = { "X-Total-Count": String(all.length) };
  const link = pageLinks(call.request.url, page, Math.max(1, Math.ceil(all.length / perPage)));
  if (link !== "") headers["Link"] = link;
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

/** Relative to the host: what a proxy calls this service is not known here. */
function pageLinks(url: string, page: number, last: number): string {
  const { pathname, searchParams } = new URL(url);
  const link = (to: number, rel: string) => {
    searchParams.set("page", String(to));
    return `<${pathname}?${searchParams.toString()}>; rel="${rel}"`;
  };
  const back = page > 1 ? [link(1, "first"), link(Math.min(page - 1, last), "prev")] : [];
  const forth = page < last ? [link(page + 1, "next"), link(last, "last")] : [];
  return [...back, ...forth].join(", ");
}

// ── files ──

async function readSource(
  call: Call,
  { repo, path, ref }: { repo: string; path: string; ref?: string | undefined },
): Promise<Response> {
  const repository = await findRepository(call, repo);
  const file = await call.engine.read(
    { repository: repo, path, ...revisionOption(repository, ref) },
    viewerOption(call),
  );
  if (file === undefined) throw new Refusal("FILE_NOT_FOUND", "there is no such file");
  const body = {
    source: file.content,
    language: file.language,
    path: file.path,
    repo: file.repository,
    repoCodeHostType: repository.codeHostType,
    webUrl: file.webUrl,
    externalWebUrl: file.externalWebUrl,
  };
  return jsonResponse(body, { confirm: call.confirm });
}

/** HEAD is the default revision, whatever its name. */
function revisionOption({ revisions }: Repository, name: string | undefined) {
  const isDefault = name === "HEAD" && !revisions.some((revision) => revision.name === name);
  return name === undefined || isDefault ? {} : { revision: name };
}

// ── trees ──

interface TreeRequest {
  repoName: string;
  revisionName: string;
  paths: string[];
}

async function listTree(
  call: Call,
  { repoName, revisionName, paths }: TreeRequest,
): Promise<Response> {
  const repository = await findRepository(call, repoName);
  const folder = { repository: repoName, ...revisionOption(repository, revisionName) };
  const list = (path: string) => call.engine.list({ ...folder, path }, viewerOption(call));
  const entries = await list("");
  if (entries === undefined) throw new Refusal("NOT_FOUND", "there is no such revision");
  const open = async (
    entries: readonly FolderEntry[],
    wanted: readonly Wanted[],
  ): Promise<schemas.TreeNode[]> => {
    const nodes: schemas.TreeNode[] = [];
    const byName = groupByName(wanted);
    for (const { type, name, path } of entries.toSorted(foldersFirst)) {
      const here = byName.get(name) ?? [];
      const below = type === "folder" && here.length > 0 ? await list(path) : undefined;
      const children = below === undefined ? [] : await open(below, here);
      nodes.push({ type: type === "folder" ? "tree" : "blob", path, name, children });
    }
    return nodes;
  };
  const children = await open(
    entries,
    paths.map((path) => ({ path: withoutSlashes(path), from: 0 })),
  );
  const tree = { type: "tree", path: "", name: "root", children };
  return jsonResponse({ tree }, { confirm: call.confirm });
}

/** A folder to open, and how much of its path has been gone. */
interface Wanted {
  readonly path: string;
  readonly from: number;
}

/** By the next name of their paths: each is looked at once for each folder on its way, and once more. */
function groupByName(wanted: readonly Wanted[]): Map<string, Wanted[]> {
  const groups = new Map<string, Wanted[]>();
  for (const { path, from } of wanted) {
    const slash = path.indexOf("/", from);
    const end = slash < 0 ? path.length : slash;
    const name = path.slice(from, end);
    const group = groups.get(name) ?? [];
    groups.set(name, group);
    group.push({ path, from: end + 1 });
  }
  return groups;
}

const withoutSlashes = (path: string): string => withoutEndSlashes(path.replace(/^\/+/, ""));

function foldersFirst(a: FolderEntry, b: FolderEntry): number {
  if (a.type !== b.type) return a.type === "folder" ? -1 : 1;
  return compareText(a.name, b.name);
}
