/** An engine that does what a test says, because a real engine is too fast to watch. */

import { QuernError } from "../../src/base/errors.ts";
import type { Engine } from "../../src/engine.ts";
import type { Repository } from "../../src/repository.ts";
import type { SearchOptions } from "../../src/search/messages/request.ts";
import type { SearchEvent, SearchResponse } from "../../src/search/messages/response.ts";
import { zeroStats } from "../../src/search/messages/stats.ts";

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

export const emptyResponse = (): SearchResponse => ({
  stats: zeroStats(),
  files: [],
  repositoryInfo: [],
  isSearchExhaustive: true,
});

export const chunkEvent = (text = "x"): SearchEvent => ({
  type: "chunk",
  stats: zeroStats(),
  files: [
    {
      fileName: { text, matchRanges: [] },
      webUrl: "",
      repository: "r1",
      repositoryId: 1,
      language: "",
      chunks: [],
    },
  ],
  repositoryInfo: [],
});

export const finalEvent = (): SearchEvent => ({
  type: "final",
  accumulatedStats: zeroStats(),
  isSearchExhaustive: true,
});

/** Rejects as a search does when its signal is aborted. */
export function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new QuernError("ABORTED", "aborted"));
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
  });
}

const repository = (id: number): Repository => ({
  id,
  name: `r${id}`,
  codeHostType: "genericGitHost",
  archived: false,
  fork: false,
  public: id === 1,
  rank: 0.5,
  revisions: [{ name: "HEAD", files: 1, isDefault: true }],
  state: "ready",
  symbols: { done: 0, total: 0 },
  indexedAt: new Date(0),
  contentBytes: 1,
  skipped: [],
});

/** Returns an engine with the repositories r1, r2 and r3, of which r1 is public. */
export function scriptedEngine(script: {
  search?: (options: SearchOptions) => Promise<SearchResponse>;
  stream?: (options: SearchOptions) => AsyncIterable<SearchEvent>;
}): Engine {
  const engine: Partial<Engine> = {
    search: (_request, options = {}) => script.search!(options),
    stream: (_request, options = {}) => script.stream!(options),
    repositories: async (options) =>
      [1, 2, 3].filter((id) => options?.viewer?.repositoryIds.has(id) ?? true).map(repository),
    repository: async (nameOrId, options) =>
      (await engine.repositories!(options)).find(
        ({ id, name }) => id === nameOrId || name === nameOrId,
      ),
  };
  return engine as Engine;
}
