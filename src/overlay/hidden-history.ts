/** Hides files and texts in the history of a repository, which is read with git, and not from the index. */

import type { Blame, Commit, FileDiff, History } from "../history/history.ts";
import type { Repository } from "../repository.ts";
import type { Chunk, FileResult, SearchResponse } from "../search/messages/response.ts";
import { maskRanges, partMask, pathTest, textMask, type HiddenText } from "./mask.ts";

/** Returns a history in which hidden files and texts do not exist. */
export function hidingHistory(history: History, hidden: HiddenText): History {
  const [isHidden, mask] = [pathTest(hidden), textMask(hidden)];
  const isShown = ({ path }: { readonly path: string }): boolean => !isHidden(path);
  const masked = <T extends Partial<Pick<Commit, "message" | "body">>>(commit: T): T => ({
    ...commit,
    ...(commit.message !== undefined && { message: mask(commit.message) }),
    ...(commit.body !== undefined && { body: mask(commit.body) }),
  });
  const ifShown = async <T>(path: string, read: () => Promise<T>): Promise<T | undefined> =>
    isHidden(path) ? undefined : read();
  return {
    repository: history.repository,
    async commits(options = {}) {
      if (options.path !== undefined && isHidden(options.path)) return { commits: [], total: 0 };
      const { commits, total } = await history.commits(options);
      return { commits: commits.map(masked), total };
    },
    async commit(revision, options) {
      const commit = await history.commit(revision, options);
      return commit && masked(commit);
    },
    async authors(options = {}) {
      if (options.path !== undefined && isHidden(options.path)) return { authors: [], total: 0 };
      return history.authors(options);
    },
    async diff(options) {
      const files = await history.diff(options);
      return files
        .filter(
          ({ oldPath, newPath }) => ![oldPath, newPath].some((path) => path && isHidden(path)),
        )
        .map((file) => maskedDiff(file, partMask(hidden)));
    },
    blame: (options) =>
      ifShown(options.path, async () => {
        const blame = await history.blame(options);
        return blame && maskedBlame(blame, masked);
      }),
    read: (options) =>
      ifShown(options.path, async () => {
        const file = await history.read(options);
        if (!file) return undefined;
        const bytes = maskRanges(file.bytes, hidden);
        return { ...file, bytes, content: mask(file.content) };
      }),
    async folders(options) {
      const folders = await history.folders(options);
      return folders && new Map(Array.from(folders, ([path, own]) => [path, own.filter(isShown)]));
    },
    async paths(options) {
      return (await history.paths(options))?.filter(isShown);
    },
  };
}

const maskedDiff = (file: FileDiff, mask: (text: string) => string): FileDiff => ({
  ...file,
  hunks: file.hunks.map(({ heading, body, ...hunk }) => ({
    ...hunk,
    ...(heading !== undefined && { heading: mask(heading) }),
    body: maskedBody(body, mask),
  })),
});

/** Masks the lines of a hunk without their signs, because a text may have several lines. */
function maskedBody(body: string, mask: (text: string) => string): string {
  const lines = body.split("\n");
  const masked = mask(lines.map((line) => line.slice(1)).join("\n")).split("\n");
  return lines.map((line, i) => line.slice(0, 1) + masked[i]!).join("\n");
}

const maskedBlame = (
  { ranges, commits }: Blame,
  masked: (commit: Blame["commits"][string]) => Blame["commits"][string],
): Blame => ({
  ranges,
  commits: Object.fromEntries(
    Object.entries(commits).map(([hash, commit]) => [hash, masked(commit)]),
  ),
});

/**
 * Hides files and texts in an answer about changes. Ranges in hidden texts are left out of the counts. The counts are
 * those of the whole search only if the answer is the only page.
 */
export function hidingChanges(response: SearchResponse, hidden: HiddenText): SearchResponse {
  const [isHidden, mask] = [pathTest(hidden), partMask(hidden)];
  const files = response.files.flatMap((file): FileResult[] => {
    if (isHidden(file.fileName.text)) return [];
    const { commit } = file;
    const chunks = file.chunks.flatMap((chunk) => maskedChunk(chunk, mask));
    if (chunks.length === 0 && file.chunks.length > 0) return [];
    return [
      { ...file, chunks, ...(commit && { commit: { ...commit, message: mask(commit.message) } }) },
    ];
  });
  const rangesOf = (all: readonly FileResult[]) =>
    all.reduce(
      (sum, { chunks }) => sum + chunks.reduce((n, one) => n + one.matchRanges.length, 0),
      0,
    );
  const { stats } = response;
  const dropped = rangesOf(response.files) - rangesOf(files);
  const left = response.files.length - files.length;
  return {
    ...response,
    files,
    stats: {
      ...stats,
      actualMatchCount: stats.actualMatchCount - dropped,
      totalMatchCount: stats.totalMatchCount - dropped,
      fileCount: stats.fileCount - left,
    },
  };
}

/** Returns the chunk with masks, and without the ranges that touch a masked text. Returns nothing if no range is left. */
function maskedChunk(chunk: Chunk, mask: (text: string) => string): Chunk[] {
  const content = mask(chunk.content);
  if (content === chunk.content) return [chunk];
  const [before, after] = [Buffer.from(chunk.content), Buffer.from(content)];
  const { byteOffset: begin } = chunk.contentStart;
  const isKept = chunk.matchRanges.map(({ start, end }) => {
    const [from, to] = [start.byteOffset - begin, end.byteOffset - begin];
    return before.subarray(from, to).equals(after.subarray(from, to));
  });
  const matchRanges = chunk.matchRanges.filter((_, i) => isKept[i]);
  if (matchRanges.length === 0) return [];
  const { symbols, enclosing } = chunk;
  return [
    {
      ...chunk,
      content,
      matchRanges,
      ...(symbols && { symbols: symbols.filter((_, i) => isKept[i]) }),
      ...(enclosing && { enclosing: enclosing.filter((_, i) => isKept[i]) }),
    },
  ];
}

/** Returns a repository without its hidden files in the counts and in the list of skipped files. */
export function hidingRepository(
  repository: Repository,
  hidden: HiddenText,
  hiddenFiles: ReadonlyMap<string, number> | undefined,
): Repository {
  const isHidden = pathTest(hidden);
  return {
    ...repository,
    revisions: repository.revisions.map((one) => ({
      ...one,
      files: one.files - (hiddenFiles?.get(one.name) ?? 0),
    })),
    skipped: repository.skipped.filter(({ path }) => !isHidden(path)),
  };
}
