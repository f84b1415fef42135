/** The questions to a damaged index, and the answers that are allowed. */

import { createHash } from "node:crypto";
import type { Engine } from "../../../src/engine.ts";
import type { SearchRequest } from "../../../src/search/messages/request.ts";

export interface Answer {
  readonly name: string;
  /** The code of a failure. */
  readonly code?: string;
  readonly message?: string;
  /** Everything that was found, one result per line. */
  readonly found?: readonly string[];
  /** The crashes of a partial search. */
  readonly crashes?: number;
  readonly warned: readonly string[];
}

const digest = (text: string): string => createHash("md5").update(text).digest("hex").slice(0, 8);

interface Question {
  readonly name: string;
  /**
   * Set for questions about one place, which may be rejected if that place cannot be read. A search skips the segment
   * instead.
   */
  readonly mayRefuse?: true;
  readonly ask: (engine: Engine) => Promise<Pick<Answer, "found" | "crashes">>;
}

const search = (name: string, request: Omit<SearchRequest, "matches">): Question => ({
  name,
  async ask(engine) {
    const response = await engine.search({ ...request, matches: 1e6, whole: true });
    const { files, stats, isSearchExhaustive } = response;
    const found = files.map(({ repository, fileName, chunks, content }) => {
      const ranges = chunks.flatMap(({ matchRanges }) => matchRanges);
      const places = ranges.map(({ start, end }) => `${start.byteOffset}-${end.byteOffset}`);
      return [
        repository,
        fileName.text,
        digest(content!),
        places.length,
        digest(places.join()),
      ].join(" ");
    });
    if (isSearchExhaustive && stats.totalMatchCount < found.length)
      found.push(`${stats.totalMatchCount} matches`);
    return { found: found.sort(), ...(isSearchExhaustive ? {} : { crashes: stats.crashes }) };
  },
});

export const QUESTIONS: readonly Question[] = [
  search("a word", { query: "marker" }),
  search("a rare word", { query: '"line of 6 in 8"' }),
  search("an expression", { query: "def [a-z]+_\\d+", isRegexEnabled: true }),
  search("a symbol", { query: "sym:marker_" }),
  search("a language", { query: "lang:python return" }),
  search("paths of a repository", { query: "repo:tools file:src" }),
  {
    name: "repositories",
    mayRefuse: true,
    async ask(engine) {
      const listed = await engine.repositories();
      const found = listed.map(({ name, revisions, skipped, symbols, contentBytes }) =>
        JSON.stringify([name, revisions, skipped, symbols, contentBytes]),
      );
      return { found };
    },
  },
  {
    name: "a file and a folder",
    mayRefuse: true,
    async ask(engine) {
      const file = await engine.read({ repository: "api", path: "src/7.txt" });
      const folder = await engine.list({ repository: "api", path: "src" });
      return { found: [digest(file?.content ?? "none"), JSON.stringify(folder ?? "none")] };
    },
  },
];

/**
 * - right: everything that was found before.
 * - partial: a segment's answers are missing, and the search says so and warns of INDEX_CORRUPT.
 * - refused: INDEX_CORRUPT.
 * - wrong: anything else.
 */
export type Verdict = "right" | "partial" | "refused" | "wrong";

export function judge(answer: Answer, right: readonly Answer[]): Verdict {
  if (answer.code !== undefined) return answer.code === "INDEX_CORRUPT" ? "refused" : "wrong";
  const expected = right.find(({ name }) => name === answer.name)!.found!;
  const found = answer.found!;
  const isHonest = found.every((line) => expected.includes(line));
  if (answer.crashes === undefined)
    return isHonest && found.length === expected.length ? "right" : "wrong";
  const isTold = answer.crashes > 0 && answer.warned.join() === "INDEX_CORRUPT";
  return isHonest && isTold ? "partial" : "wrong";
}

/** Returns the differences, for people who examine a wrong answer. */
export function difference(
  { name, found = [], ...rest }: Answer,
  right: readonly Answer[],
): string {
  const expected = right.find((other) => other.name === name)?.found ?? [];
  const lost = expected.filter((line) => !found.includes(line)).length;
  const extra = found.filter((line) => !expected.includes(line));
  return `${name}: lost ${lost}, extra ${extra.join("; ")}, ${JSON.stringify(rest)}`;
}
