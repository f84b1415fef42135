/** Converts shown files to results, by adding the repository, the branches and the addresses of each file. */

import type { GcPacer } from "../../base/gc-pacer.ts";
import { decodeInSlices } from "../../base/decode-text.ts";
import type { Pause } from "../../base/yield.ts";
import type { CatalogRepository } from "../../store/catalog/catalog.ts";
import type { CodeHostType, RepositoryRecord } from "../../store/format/records.ts";
import type { ShownFile } from "../messages/messages.ts";
import { unpackChunks } from "../messages/packed-chunks.ts";
import type { FileResult, RepositoryInfo } from "../messages/response.ts";

/**
 * Returns the address at which the host shows a file. The results of a search have this address as `webUrl`.
 *
 * @example
 * const webUrl: WebUrl = ({ repository, path, revision }) =>
 *   `/view?${new URLSearchParams({ repository, path, revision }).toString()}`;
 * const engine = await open("./index", { webUrl });
 */
export type WebUrl = (file: {
  /** The name of the repository. */
  repository: string;
  /** The id of the repository, as in Repository.id. */
  repositoryId: number;
  /** The path from the repository's root, with '/' between folders. */
  path: string;
  /** The name of the revision in which the file was found. */
  revision: string;
}) => string;

const encodeSegments = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

export const defaultWebUrl: WebUrl = ({ repository, path, revision }) =>
  `/browse/${encodeSegments(repository)}@${encodeSegments(revision)}/-/blob/${encodeSegments(path)}`;

// makes the address of a file on its code host from the address of the repository's page; undefined if unknown
const EXTERNAL: Readonly<
  Record<CodeHostType, ((base: string, path: string, revision: string) => string) | undefined>
> = {
  github: (base, path, revision) =>
    `${base}/blob/${encodeSegments(revision)}/${encodeSegments(path)}`,
  gitlab: (base, path, revision) =>
    `${base}/-/blob/${encodeSegments(revision)}/${encodeSegments(path)}`,
  gitea: (base, path, revision) =>
    `${base}/src/branch/${encodeSegments(revision)}/${encodeSegments(path)}`,
  azuredevops: (base, path, revision) =>
    `${base}?path=${encodeURIComponent(path)}&version=${encodeURIComponent(revision)}`,
  bitbucketCloud: (base, path, revision) =>
    `${base}/src/${encodeSegments(revision)}/${encodeSegments(path)}`,
  bitbucketServer: (base, path, revision) =>
    `${base}/browse/${encodeSegments(path)}?at=${encodeURIComponent(revision)}`,
  gerrit: (base, path, revision) => `${base}/+/${encodeSegments(revision)}/${encodeSegments(path)}`,
  genericGitHost: undefined,
};

export function externalWebUrl(
  record: RepositoryRecord,
  path: string,
  revision: string,
): string | undefined {
  const { codeHostType = "genericGitHost", webUrl } = record.metadata;
  return webUrl === undefined
    ? undefined
    : EXTERNAL[codeHostType]?.(webUrl.replace(/\/+$/, ""), path, revision);
}

/** The size of a result in V8's heap, in bytes, not counting its chunks. */
const FILE_BYTES = 640;

export async function presentFile(
  { record }: CatalogRepository,
  shown: ShownFile,
  how: {
    readonly branches: readonly string[];
    readonly webUrl: WebUrl;
    readonly pause: Pause;
    readonly pacer: GcPacer;
  },
): Promise<FileResult> {
  const { path, language, nameRanges, content } = shown;
  const { branches, webUrl } = how;
  const chunks = await unpackChunks(shown.chunks, how);
  how.pacer.created(FILE_BYTES);
  const revision = branches[0]!;
  const external = externalWebUrl(record, path, revision);
  return {
    fileName: { text: path, matchRanges: nameRanges },
    webUrl: webUrl({ repository: record.name, repositoryId: record.id, path, revision }),
    ...(external === undefined ? {} : { externalWebUrl: external }),
    repository: record.name,
    repositoryId: record.id,
    language,
    chunks,
    branches: [...branches],
    ...(content === undefined ? {} : { content }),
  };
}

/** Returns one entry for each repository that has at least one of the files. The entries are sorted by id. */
export function repositoryInfo(
  files: Iterable<Pick<FileResult, "repositoryId">>,
  repositories: ReadonlyMap<number, CatalogRepository>,
): RepositoryInfo[] {
  const ids = new Set<number>();
  for (const { repositoryId } of files) ids.add(repositoryId);
  return [...ids]
    .sort((a, b) => a - b)
    .map((id) => {
      const { name, metadata } = repositories.get(id)!.record;
      return {
        id,
        codeHostType: metadata.codeHostType ?? "genericGitHost",
        name,
        ...(metadata.displayName === undefined ? {} : { displayName: metadata.displayName }),
        ...(metadata.webUrl === undefined ? {} : { webUrl: metadata.webUrl }),
      };
    });
}

/** Returns the result of read(), which is a whole file with its addresses. */
export async function presentContent(
  record: RepositoryRecord,
  {
    path,
    revision,
    language,
    bytes,
  }: {
    path: string;
    revision: string;
    language: string;
    bytes: Uint8Array;
  },
  { webUrl, pause }: { webUrl: WebUrl; pause: Pause },
) {
  const { name: repository, id: repositoryId } = record;
  const external = externalWebUrl(record, path, revision);
  return {
    repository,
    path,
    revision,
    language,
    content: await decodeInSlices(bytes, pause),
    bytes,
    webUrl: webUrl({ repository, repositoryId, path, revision }),
    ...(external === undefined ? {} : { externalWebUrl: external }),
  };
}
