import { expect, test } from "vitest";
import { startSearch, type Found } from "../../src/page/search/live-search.ts";
import type {
  FileResult,
  SearchAnswer,
  SearchRequest,
  StreamEvent,
} from "../../src/page/wire/answers.ts";

const ASKED = { query: "x", regex: false, matchCase: false };
const file = (text: string): FileResult => ({
  fileName: { text, matchRanges: [] },
  repository: "r",
  language: "",
  chunks: [],
});
const answer = (names: string[], rest: Partial<SearchAnswer> = {}): SearchAnswer => ({
  files: names.map(file),
  stats: { totalMatchCount: 9, fileCount: 9, duration: 1 },
  isSearchExhaustive: false,
  ...rest,
});
const names = ({ files }: Found): string[] => files.map(({ fileName }) => fileName.text);

/** Returns a server whose answers the test provides, one after the other. */
function server(streamed: string[] = []) {
  const requests: SearchRequest[] = [];
  const waiting: { give: (given: SearchAnswer) => void; refuse: (error: unknown) => void }[] = [];
  const signals: AbortSignal[] = [];
  return {
    requests,
    signals,
    waiting,
    search: (request: SearchRequest, signal?: AbortSignal) => {
      requests.push(request);
      if (signal) signals.push(signal);
      return new Promise<SearchAnswer>((give, refuse) => waiting.push({ give, refuse }));
    },
    async *stream(_request: SearchRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
      for (const name of streamed) {
        if (signal.aborted) return;
        yield { type: "chunk", files: [file(name)] };
      }
      yield { type: "final" };
    },
  };
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

test("a slow answer is streamed first, and then replaced by the ranked one", async () => {
  const client = server(["b", "a"]);
  const states: string[] = [];
  const search = startSearch(client, ASKED, () =>
    states.push(`${search.found.state} ${names(search.found).join("")}`),
  );
  await until(() => names(search.found).length === 2);
  client.waiting[0]!.give(answer(["a", "b"], { isSearchExhaustive: true }));
  await until(() => search.found.state === "done");
  expect(states).toEqual(["streaming b", "streaming ba", "done ab"]);
  expect(search.found.hasMore).toBe(false);
});

test("further pages are requested by their cursors", async () => {
  const client = server();
  const search = startSearch(client, ASKED, () => {});
  client.waiting[0]!.give(answer(["a"], { nextCursor: "1" }));
  await until(() => search.found.state === "done");
  search.more();
  search.more(); // pages are loaded one at a time
  expect(client.requests.map(({ after }) => after)).toEqual(["", "1"]);
  expect(client.requests.map(({ matchesPerFile }) => matchesPerFile)).toEqual([5, 5]);
  client.waiting[1]!.give(answer(["b"]));
  await until(() => !search.found.isLoadingMore);
  expect([names(search.found), search.found.hasMore]).toEqual([["a", "b"], false]);
});

test("a server without cursors is asked for more matches", async () => {
  const client = server();
  const search = startSearch(client, ASKED, () => {});
  client.waiting[0]!.give(answer(["a"]));
  await until(() => search.found.state === "done");
  expect(search.found.hasMore).toBe(true);
  search.more();
  client.waiting[1]!.give(answer(["a", "b"], { isSearchExhaustive: true }));
  await until(() => !search.found.isLoadingMore);
  expect([names(search.found), search.found.hasMore]).toEqual([["a", "b"], false]);
  expect(client.requests[1]!.matches).toBeGreaterThan(client.requests[0]!.matches);
});

test("a stopped search is aborted, and reports nothing more", async () => {
  const client = server();
  let changes = 0;
  const search = startSearch(client, ASKED, () => changes++);
  search.stop();
  client.waiting[0]!.give(answer(["a"]));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([changes, client.signals[0]!.aborted, search.found.state]).toEqual([0, true, "searching"]);
});

test("a rejection becomes the search's error", async () => {
  const client = server();
  const search = startSearch(client, ASKED, () => {});
  client.waiting[0]!.refuse(new Error("no"));
  await until(() => search.found.state === "failed");
  expect(search.found.error).toEqual(new Error("no"));
});
