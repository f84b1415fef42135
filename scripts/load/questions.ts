/** Defines the requests of a load test, and how their answers are compared. */

/** The kind of a request. Requests of one kind are reported together. */
export type Kind = "search" | "stream" | "explain" | "definitions" | "references" | "read" | "list";

export interface Question {
  readonly kind: Kind;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  /** How often it is chosen, relative to the sum of all weights. */
  readonly weight: number;
}

const posts = (kind: Kind, path: string) => (weight: number, body: object) => ({
  kind,
  method: "POST" as const,
  path,
  body: JSON.stringify(body),
  weight,
});
const gets = (kind: Kind, path: string, weight: number): Question => ({
  kind,
  method: "GET",
  path,
  weight,
});

const search = posts("search", "/api/search");
const stream = posts("stream", "/api/stream_search");
const explain = posts("explain", "/explain"); // not a route of quern; the test's server calls its engine
const definitions = posts("definitions", "/api/find_definitions");
const references = posts("references", "/api/find_references");
const tree = posts("list", "/api/tree");

/**
 * Returns the requests for a corpus with these repositories and files. Their right answers are determined at the start.
 */
export function questionsAbout(file: { repository: string; path: string }): Question[] {
  const { repository, path } = file;
  const repo = encodeURIComponent(repository);
  return [
    search(20, { query: "error", matches: 50 }),
    search(10, { query: "return", matches: 500, contextLines: 3 }),
    search(10, { query: "parse lang:go or lang:c or lang:python", matches: 50 }),
    search(10, { query: "file:test assert", matches: 100, whole: true }),
    search(10, { query: `repo:${repository} the`, matches: 20 }),
    search(5, { query: "repo:no/such/thing x", matches: 20 }),
    search(10, { query: "class\\s+\\w+Error\\b", matches: 50, isRegexEnabled: true }),
    search(5, { query: "[a-z]{5}_[a-z]{5}", matches: 100, isRegexEnabled: true }),
    search(5, { query: "sym:^parse", matches: 100 }),
    search(2, { query: "e", matches: 10_000 }),
    search(5, { query: "no such words anywhere", matches: 10 }),
    stream(20, { query: "function", matches: 100, contextLines: 1 }),
    stream(5, { query: "t", matches: 2000 }),
    stream(5, { query: "(get|set)_?[a-z]+", matches: 500, isRegexEnabled: true }),
    explain(5, { query: "error lang:go", matches: 0 }),
    definitions(10, { symbolName: "parse" }),
    references(10, { symbolName: "main" }),
    gets("read", `/api/source?repo=${repo}&path=${encodeURIComponent(path)}`, 20),
    gets("list", "/api/repos?perPage=100", 10),
    tree(10, { repoName: repository, revisionName: "HEAD", paths: ["src"] }),
  ];
}

/** Returns what is the same in every answer to a request: the number of matches, or the length. */
export function gistOf({ kind }: Question, answer: string): string {
  if (kind === "explain") return /"totalMatchCount":\d+/.exec(answer)?.[0] ?? answer.slice(0, 200);
  const counts = answer.match(/"(?:totalMatchCount|matchCount)":\d+/g);
  const isCut = kind === "stream" && !answer.endsWith("data: [DONE]\n\n");
  return isCut ? `cut: ${answer.slice(-200)}` : (counts?.at(-1) ?? `${answer.length} characters`);
}
