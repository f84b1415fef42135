/** Questions to a cluster in which something fails, with the answers of one engine that has the same content. */

import { isDeepStrictEqual } from "node:util";
import {
  QuernError,
  type Engine,
  type SearchRequest,
  type SearchResponse,
} from "../../src/index.ts";
import { comparable } from "./comparable.ts";

/** How an answer compares with the right one. */
export type Verdict = "identical" | "partial" | "refused" | "wrong";

export interface Question {
  readonly name: string;
  readonly ask: (engine: Engine) => Promise<Verdict>;
}

/** Returns each match as one word. */
const matchesOf = ({ files }: Pick<SearchResponse, "files">): string[] =>
  files.flatMap(({ repository, fileName, chunks }) =>
    chunks.flatMap(({ matchRanges }) =>
      matchRanges.map(({ start }) => `${repository}/${fileName.text}:${start.byteOffset}`),
    ),
  );

const isWithin = (some: readonly string[], all: ReadonlySet<string>): boolean =>
  new Set(some).size === some.length && some.every((one) => all.has(one));

/**
 * Returns a question that searches. A partial answer must say that it is partial, and contain nothing that is wrong.
 */
async function searchQuestion(
  whole: Engine,
  request: SearchRequest,
  options: Parameters<Engine["search"]>[1] = {},
): Promise<Question> {
  const answer = await whole.search(request, options);
  const expected = comparable(answer);
  const everything = new Set(matchesOf(await whole.search({ ...request, matches: 1e6 }, options)));
  const ask = async (engine: Engine): Promise<Verdict> => {
    const given = await engine.search(request, options);
    if (isDeepStrictEqual(comparable(given), expected)) return "identical";
    const { stats, isSearchExhaustive } = given;
    const saysSo = !isSearchExhaustive && stats.crashes > 0;
    const isLess = stats.totalMatchCount <= answer.stats.totalMatchCount;
    return saysSo && isLess && isWithin(matchesOf(given), everything) ? "partial" : "wrong";
  };
  const whose = options.viewer ? " of a viewer" : "";
  return { name: `search ${request.query}${whose}`, ask };
}

/** Returns a question that reads all pages, which together must be the whole answer. */
async function pagesQuestion(whole: Engine, query: string): Promise<Question> {
  const pages = async (engine: Engine) => {
    const matches: string[] = [];
    let isWhole = true;
    for (let after: string | undefined = ""; after !== undefined;) {
      const page: SearchResponse = await engine.search({ query, matches: 40, after });
      matches.push(...matchesOf(page));
      isWhole &&= page.isSearchExhaustive || page.stats.crashes === 0;
      after = page.nextCursor;
    }
    return { matches, isWhole };
  };
  const expected = await pages(whole);
  const everything = new Set(expected.matches);
  const ask = async (engine: Engine): Promise<Verdict> => {
    const given = await pages(engine);
    if (isDeepStrictEqual(given, expected)) return "identical";
    return !given.isWhole && isWithin(given.matches, everything) ? "partial" : "wrong";
  };
  return { name: `pages of ${query}`, ask };
}

async function streamQuestion(whole: Engine, request: SearchRequest): Promise<Question> {
  const stream = async (engine: Engine) => {
    const matches: string[] = [];
    for await (const event of engine.stream(request)) {
      if (event.type === "chunk") matches.push(...matchesOf(event));
      if (event.type === "final") {
        const { accumulatedStats, isSearchExhaustive } = event;
        const { crashes, totalMatchCount } = accumulatedStats;
        return { matches: matches.sort(), isSearchExhaustive, crashes, totalMatchCount };
      }
    }
    throw new Error("a stream without an end");
  };
  const expected = await stream(whole);
  const everything = new Set(expected.matches);
  const ask = async (engine: Engine): Promise<Verdict> => {
    const given = await stream(engine);
    if (isDeepStrictEqual(given, expected)) return "identical";
    const saysSo = !given.isSearchExhaustive && given.crashes > 0;
    return saysSo && isWithin(given.matches, everything) ? "partial" : "wrong";
  };
  return { name: `stream ${request.query}`, ask };
}

/** Returns a question whose call must be answered in full or refused with OVERLOADED. */
async function callQuestion(
  whole: Engine,
  name: string,
  call: (engine: Engine) => Promise<unknown>,
): Promise<Question> {
  const expected = await call(whole);
  const ask = async (engine: Engine): Promise<Verdict> => {
    try {
      return isDeepStrictEqual(await call(engine), expected) ? "identical" : "wrong";
    } catch (error) {
      if (error instanceof QuernError && error.code === "OVERLOADED") return "refused";
      throw error;
    }
  };
  return { name, ask };
}

/** Returns the questions. REQUIRES: `whole` and the cluster have the content that filled() indexes. */
export async function questionsFor(whole: Engine): Promise<Question[]> {
  const [first, second] = await whole.repositories();
  const viewer = { repositoryIds: new Set([first!.id]) };
  const place = { repository: second!.name, path: "src/file0.txt" };
  return [
    await searchQuestion(whole, { query: "needle", matches: 1000 }),
    await searchQuestion(whole, { query: "n[e-f]+dle [0-9]", matches: 9, facets: 5 }),
    await searchQuestion(whole, { query: `repo:^${second!.name}$ word1 or needle`, matches: 50 }),
    await searchQuestion(whole, { query: "nowhere_at_all", matches: 10 }),
    await searchQuestion(whole, { query: "needle", matches: 1000 }, { viewer }),
    await pagesQuestion(whole, "needle"),
    await streamQuestion(whole, { query: "needle", matches: 1000 }),
    await callQuestion(whole, "read", (engine) => engine.read(place)),
    await callQuestion(whole, "list", (engine) => engine.list({ ...place, path: "src" })),
    await callQuestion(whole, "repositories", (engine) => engine.repositories()),
  ];
}
