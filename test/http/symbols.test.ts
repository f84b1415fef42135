/** Definitions and references: what the routes ask the engine, and what they make of its answer. */

import { afterAll, expect, test } from "vitest";
import { createHandler } from "../../src/http/handler.ts";
import type { SearchOptions, SearchRequest } from "../../src/search/messages/request.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { documents, open } from "../../src/index.ts";
import { temporaryFolder } from "../cluster/temporary-folder.ts";
import { openEngine } from "./engine.ts";
import { emptyResponse, scriptedEngine } from "./scripted.ts";
import { clientOf, FIXTURES, post, startService, bearer } from "./service.ts";

interface Body {
  stats: { matchCount: number };
  files: { fileName: string; repository: string; matches: { lineContent: string }[] }[];
}

const engine = await openEngine(FIXTURES);
afterAll(() => engine.close());
const client = clientOf(createHandler(engine, { anonymous: "all" }));
const definitions = async (body: object) => {
  const response = await client("/api/find_definitions", post(body));
  const { stats, files } = (await response.json()) as Body;
  const shown = files.flatMap(({ repository, fileName, matches }) =>
    matches.map(({ lineContent }) => `${repository} ${fileName}: ${lineContent}`),
  );
  expect(stats.matchCount).toBe(shown.length);
  return shown.sort();
};

test.each([
  ["find_definitions", false],
  ["find_references", true], // of words, which need no symbols
])("without symbols %s is exhaustive: %s", async (route, whole) => {
  using folder = temporaryFolder();
  const fresh = await open(folder.path, { workers: 0 });
  try {
    const asks = clientOf(createHandler(fresh, { anonymous: "all" }));
    const ask = async () => {
      const response = await asks(`/api/${route}`, post({ symbolName: "needle" }));
      return ((await response.json()) as { isSearchExhaustive: boolean }).isSearchExhaustive;
    };
    const files = [{ path: "a.ts", content: "export function needle() {}\n" }];
    await fresh.index(documents({ name: "r", files }), { symbols: "skip" });
    expect(await ask()).toBe(whole);
    await fresh.index(documents({ name: "r", files }));
    expect(await ask()).toBe(true);
  } finally {
    await fresh.close();
  }
});

const OPEN = "acme/open src/a.ts: export function needle(): number {";
const SECRET = "acme/secret src/a.ts: function needle() {}";

test.each<[object, string[]]>([
  [{ symbolName: "needle", language: "JavaScript" }, [OPEN, SECRET]],
  [{ symbolName: "needle", repoName: "acme/secret" }, [SECRET]],
  [{ symbolName: "needle", language: "tsx", repoName: "acme/open", revisionName: "HEAD" }, [OPEN]],
  [{ symbolName: "needle", repoName: "acme/open", revisionName: "" }, [OPEN]],
  [{ symbolName: "needle", revisionName: "" }, [OPEN, SECRET]],
  [{ symbolName: "needl" }, []],
  [{ symbolName: "Needle" }, []],
  [{ symbolName: "needle|x" }, []],
  [{ symbolName: "needle", language: "go" }, []],
])("the definitions of %j", async (body, want) => {
  expect(await definitions(body)).toEqual(want);
});

test("a repository is searched alone, its revision by the commit, and HEAD by that name", async () => {
  const asked: [query: string, ids: number[]][] = [];
  const scripted = scriptedEngine({});
  scripted.search = async (request: SearchRequest, options: SearchOptions = {}) => {
    asked.push([request.query, [...(options.viewer?.repositoryIds ?? [])].sort((a, b) => a - b)]);
    return emptyResponse();
  };
  const plain = scriptedEngine({});
  scripted.repositories = async (options) => {
    const revision = { name: "v1", commit: "c0ffee", files: 1, isDefault: false };
    const all = await plain.repositories(options);
    return all.map((one) => ({ ...one, revisions: [...one.revisions, revision] }));
  };
  const service = await startService({}, scripted);
  service.visible.set("ada", new Set([1, 2]));
  const ask = async (fields: object) => {
    const init = post({ symbolName: "x", ...fields }, bearer(service.keys.ada));
    return (await clientOf(service.handler)("/api/find_references", init)).status;
  };
  expect(await ask({ repoName: "r2", revisionName: "v1" })).toBe(200);
  expect(await ask({ repoName: "r2", revisionName: "HEAD" })).toBe(200);
  expect(await ask({ revisionName: "v1" })).toBe(200);
  expect(await ask({ repoName: "r3" })).toBe(404);
  expect(asked).toEqual([
    ['content:"\\\\bx\\\\b" rev:"c0ffee"', [2]],
    ['content:"\\\\bx\\\\b" rev:"HEAD"', [2]],
    ['content:"\\\\bx\\\\b" rev:"v1"', [1, 2]],
  ]);
});

test("each match has the line on which it begins", async () => {
  const at = (lineNumber: number) => ({ byteOffset: 0, lineNumber, column: 1 });
  const file: FileResult = {
    fileName: { text: "a.txt", matchRanges: [] },
    webUrl: "/a",
    repository: "r1",
    repositoryId: 1,
    language: "",
    chunks: [
      {
        content: "one\r\ntwo\nthree",
        contentStart: at(7),
        matchRanges: [7, 8, 9].map((line) => ({ start: at(line), end: at(9) })),
      },
    ],
  };
  const search = async () => ({ ...emptyResponse(), files: [file] });
  const handler = createHandler(scriptedEngine({ search }), { anonymous: "all" });
  const response = await clientOf(handler)("/api/find_references", post({ symbolName: "x" }));
  const { files } = (await response.json()) as Body;
  expect(files[0]!.matches.map(({ lineContent }) => lineContent)).toEqual([
    "one\r",
    "two",
    "three",
  ]);
});
