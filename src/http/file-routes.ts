/** Serves files and folders of any revision. They are read from the index if it contains them, and from git if not. */

import { withoutEndSlashes } from "../base/paths.ts";
import type { RepositorySummary } from "../repositories.ts";
import type { FileContent } from "../repository.ts";
import { absolute } from "./addresses.ts";
import * as schemas from "./schemas.ts";
import * as shapes from "./history-schemas.ts";
import { Refusal } from "./refusal.ts";
import { findVisible } from "./repository-routes.ts";
import { checkRef, historyIfAny, indexedRevision } from "./revisions.ts";
import { viewerOption, withBody, withQuery, type Call, type Route } from "./route.ts";
import { answerInSlot } from "./search-routes.ts";
import { listAll, openLister, openTree, pathEntry, type Lister } from "./tree-lister.ts";

const common = { tag: "Git", access: "search" } as const;
const REFUSALS = ["INVALID_GIT_REF", "REPOSITORY_NOT_FOUND"] as const;

export function fileRoutes(): Route[] {
  return [sourceRoute(), treeRoute(), filesRoute(), folderRoute()];
}

function sourceRoute(): Route {
  return withQuery(
    {
      ...common,
      method: "get",
      path: "/api/source",
      action: "readSource",
      audit: "file.read",
      summary: "Read a file",
      description: "Returns the content of a file; for a symbolic link, the path of its target.",
      query: schemas.sourceQuery,
      answers: { status: 200, description: "The file", schema: schemas.sourceResponse },
      refusals: [...REFUSALS, "FILE_NOT_FOUND", "FILE_TOO_LARGE", "BINARY_FILE"],
    },
    async (call, { repo, path, ref }) => {
      checkRef(ref);
      const repository = await findVisible(call, repo);
      return answerInSlot(call, async () => {
        const file = await readAnywhere(call, { repository, path, ref });
        const { content: source, language, externalWebUrl } = file;
        const webUrl = absolute(call, file.webUrl);
        const repoCodeHostType = repository.codeHostType;
        return {
          body: { source, language, path, repo, repoCodeHostType, webUrl, externalWebUrl },
        };
      });
    },
  );
}

export interface Asked {
  readonly repository: RepositorySummary;
  readonly path: string;
  readonly ref: string | undefined;
}

/**
 * Reads a file from the index. If the index does not have the file, reads it from git. Throws a refusal if neither
 * has it.
 */
export async function readAnywhere(
  call: Call,
  { repository, path, ref }: Asked,
): Promise<FileContent> {
  const { name } = repository;
  const indexed = indexedRevision(repository, ref);
  if (indexed !== undefined) {
    const file = { repository: name, path, revision: indexed.name };
    const held = await call.engine.read(file, viewerOption(call));
    if (held !== undefined) return held;
  }
  const revision = ref === undefined ? {} : { revision: ref };
  const { signal } = call.request;
  const history = await historyIfAny(call, name);
  const read = await history?.read({ path, signal, ...revision });
  if (read !== undefined) return read;
  const known = await call.engine.repository(name, viewerOption(call));
  const skipped = known?.skipped.find((one) => one.path === path && one.revision === indexed?.name);
  if (skipped?.reason === "binary")
    throw new Refusal("BINARY_FILE", `${path} is a binary file; it has no lines`);
  if (skipped?.reason === "too-large")
    throw new Refusal("FILE_TOO_LARGE", `${path} is too large to be indexed`);
  throw new Refusal("FILE_NOT_FOUND", "there is no such file");
}

function treeRoute(): Route {
  return withBody(
    {
      ...common,
      method: "post",
      path: "/api/tree",
      action: "listTree",
      audit: "folder.read",
      summary: "List folders as a tree",
      body: schemas.treeRequest,
      answers: {
        status: 200,
        description: "The root, with the requested folders opened",
        schema: schemas.treeResponse,
      },
      refusals: [...REFUSALS, "NOT_FOUND"],
    },
    (call, { repoName, revisionName, paths }) =>
      answerFrom(call, { repo: repoName, ref: revisionName || undefined, paths }, async (list) => ({
        tree: await openTree(list, paths, call.request.signal),
      })),
  );
}

function filesRoute(): Route {
  return withBody(
    {
      ...common,
      method: "post",
      path: "/api/files",
      action: "listFiles",
      audit: "folder.read",
      summary: "List all paths of a revision",
      body: shapes.filesRequest,
      answers: {
        status: 200,
        description: "Files, symbolic links and submodules",
        schema: shapes.pathList,
      },
      refusals: [...REFUSALS, "NOT_FOUND"],
    },
    async (call, { repoName, revisionName }) => {
      const ref = revisionName || undefined;
      checkRef(ref);
      const repository = await findVisible(call, repoName);
      return answerInSlot(call, async () => ({ body: await listPaths(call, repository, ref) }));
    },
  );
}

/**
 * Lists all paths of a revision. The list comes from git if the revision is not indexed or was indexed from a commit.
 * Otherwise, and if there is no git history, it comes from the index.
 */
async function listPaths(
  call: Call,
  repository: RepositorySummary,
  ref: string | undefined,
): Promise<shapes.PathEntry[]> {
  const indexed = indexedRevision(repository, ref);
  if (indexed === undefined || indexed.commit !== undefined) {
    const { signal } = call.request;
    const history = await historyIfAny(call, repository.name);
    const paths = await history?.paths({ ...(ref !== undefined && { revision: ref }), signal });
    if (paths !== undefined) return paths.map(pathEntry);
  }
  const all = indexed && (await listAll(call, repository.name, indexed.name));
  if (all === undefined) throw noRevision();
  return all;
}

function folderRoute(): Route {
  return withQuery(
    {
      ...common,
      method: "get",
      path: "/api/folder_contents",
      action: "listFolder",
      audit: "folder.read",
      summary: "List one folder",
      query: shapes.folderQuery,
      answers: {
        status: 200,
        description: "The entries of the folder, folders first",
        schema: shapes.pathList,
      },
      refusals: [...REFUSALS, "NOT_FOUND"],
    },
    (call, { repo, path = "", ref }) => {
      const folder = withoutEndSlashes(path.replace(/^\/+/, ""));
      return answerFrom(call, { repo, ref, paths: [folder] }, async (list) => {
        const entries = await list(folder);
        if (entries === undefined) throw new Refusal("NOT_FOUND", "there is no such folder");
        return entries.map(pathEntry);
      });
    },
  );
}

async function answerFrom(
  call: Call,
  { repo, ref, paths }: { repo: string; ref: string | undefined; paths: readonly string[] },
  answer: (list: Lister) => Promise<object>,
): Promise<Response> {
  checkRef(ref);
  const repository = await findVisible(call, repo);
  return answerInSlot(call, async () => {
    const list = await openLister(call, { repository, revision: ref, paths });
    if (list === undefined) throw noRevision();
    return { body: await answer(list) };
  });
}

const noRevision = () => new Refusal("NOT_FOUND", "there is no such revision");
