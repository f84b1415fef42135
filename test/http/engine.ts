/** The engine behind the HTTP tests, filled with repositories that a test names. */

import { documents } from "../../src/ingest/documents.ts";
import { languageOf } from "../../src/ingest/languages.ts";
import type { Engine, FolderEntry, Repository } from "../../src/engine.ts";
import { QuernError } from "../../src/base/errors.ts";
import { zeroStats } from "../../src/search/stats.ts";
import type { SearchEvent, SearchResponse } from "../../src/search/response.ts";
import type { RepositoryMetadata } from "../../src/store/records.ts";
import { evaluate } from "../oracle/oracle.ts";
import type { Corpus } from "../oracle/corpus.ts";

export interface Fixture extends RepositoryMetadata {
  name: string;
  files: Record<string, string>;
}

export async function openEngine(fixtures: readonly Fixture[]): Promise<Engine> {
  documents({ name: "x", files: [] });
  const corpus: Corpus = {
    repositories: fixtures.map(({ name, files, ...metadata }, n) => ({
      id: n + 1,
      name,
      metadata,
      revisions: [
        {
          name: "HEAD",
          files: Object.entries(files).map(([path, content]) => {
            const bytes = Buffer.from(content);
            const symbols = [...content.matchAll(/function (\w+)/g)].map((match) => ({
              name: match[1]!,
              start: match.index + 9,
              end: match.index + 9 + match[1]!.length,
              kind: "function" as const,
            }));
            return { path, bytes, language: languageOf(path, bytes), symbols };
          }),
        },
      ],
    })),
  };
  const indexedAt = new Date();
  const seen = (viewer?: { repositoryIds: ReadonlySet<number> }) =>
    corpus.repositories.filter(({ id }) => viewer?.repositoryIds.has(id) ?? true);
  const engine: Partial<Engine> = {
    async search(request, options = {}): Promise<SearchResponse> {
      if (options.signal?.aborted) throw new QuernError("ABORTED", "aborted");
      const found = evaluate(corpus, request, options);
      let left = request.matches;
      const files = found.files.slice(0, left);
      left = files.length;
      return {
        stats: {
          ...zeroStats(),
          totalMatchCount: found.totalMatchCount,
          fileCount: found.fileCount,
        },
        files: files.map((file) => ({ ...file, webUrl: `/browse/${file.repository}` })),
        repositoryInfo: found.repositoryIds.map((id) => ({
          id,
          codeHostType: "genericGitHost",
          name: corpus.repositories[id - 1]!.name,
        })),
        isSearchExhaustive: true,
      };
    },
    async *stream(request, options): AsyncGenerator<SearchEvent> {
      const { stats, isSearchExhaustive, ...found } = await engine.search!(request, options);
      yield { type: "chunk", stats, ...found };
      yield { type: "final", accumulatedStats: stats, isSearchExhaustive };
    },
    async explain(request, options) {
      const named = /reposet:(\S+)/.exec(request.query)?.[1]?.split(",") ?? [];
      const known = new Set(seen(options?.viewer).map(({ name }) => name));
      return {
        query: "",
        segments: [],
        stats: zeroStats(),
        suggestions: [],
        notIndexed: named
          .filter((name) => !known.has(name))
          .map((repository) => ({ repository, reason: "unknown" })),
      };
    },
    async repositories(options) {
      return seen(options?.viewer).map(({ id, name, metadata }): Repository => ({
        id,
        name,
        codeHostType: metadata.codeHostType ?? "genericGitHost",
        archived: metadata.archived ?? false,
        fork: metadata.fork ?? false,
        public: metadata.public ?? false,
        rank: metadata.rank ?? 0.5,
        ...(metadata.displayName !== undefined && { displayName: metadata.displayName }),
        ...(metadata.webUrl !== undefined && { webUrl: metadata.webUrl }),
        revisions: [{ name: "HEAD", files: 1, isDefault: true }],
        state: "ready",
        symbols: { done: 0, total: 0 },
        indexedAt,
        contentBytes: 1,
        skipped: [],
      }));
    },
    async read({ repository, path, revision }, options) {
      if (revision !== undefined && revision !== "HEAD") return undefined;
      const found = seen(options?.viewer).find(({ name }) => name === repository);
      const file = found?.revisions[0]!.files.find((other) => other.path === path);
      if (file === undefined) return undefined;
      const content = Buffer.from(file.bytes).toString();
      const { bytes, language = "" } = file;
      return { repository, path, revision: "HEAD", language, content, bytes, webUrl: "/browse/" };
    },
    async list({ repository, path, revision }, options) {
      const found = seen(options?.viewer).find(({ name }) => name === repository);
      if (found === undefined || (revision !== undefined && revision !== "HEAD")) return undefined;
      const prefix = path === "" ? "" : `${path}/`;
      const entries = new Map<string, FolderEntry>();
      for (const file of found.revisions[0]!.files) {
        if (!file.path.startsWith(prefix)) continue;
        const [name = "", ...rest] = file.path.slice(prefix.length).split("/");
        const type = rest.length > 0 ? "folder" : "file";
        entries.set(name, { type, name, path: prefix + name });
      }
      return entries.size === 0 && path !== "" ? undefined : [...entries.values()];
    },
    async close() {},
  };
  return engine as Engine;
}
