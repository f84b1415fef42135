/** What happens to fields of a request that do not exist, or are called otherwise in this route. */

import { afterAll, describe, expect, test } from "vitest";
import { createHandler } from "../../src/http/handler.ts";
import { openEngine } from "./engine.ts";
import { clientOf, FIXTURES, post } from "./service.ts";

const engine = await openEngine(FIXTURES);
afterAll(() => engine.close());
const ask = clientOf(createHandler(engine, { anonymous: "all" }));

const search = { query: "needle", matches: 1 };
const symbol = { symbolName: "needle" };

describe("a field that is near a known one is refused", () => {
  test.each<[path: string, body: object, near: string]>([
    ["search", { ...search, isRegex: true }, "isRegexEnabled"],
    ["search", { ...search, regex: true }, "isRegexEnabled"],
    ["search", { ...search, caseSensitive: true }, "isCaseSensitivityEnabled"],
    ["search", { ...search, maxMatches: 3 }, "matches"],
    ["search", { ...search, contextLine: 3 }, "contextLines"],
    ["search", { Query: "needle", matches: 1 }, "query"],
    ["stream_search", { ...search, isRegex: true }, "isRegexEnabled"],
    ["explain", { ...search, isRegex: true }, "isRegexEnabled"],
    ["find", { text: "needle", place: 3 }, "places"],
    ["find_references", { ...symbol, repositoryName: "acme/open" }, "repoName"],
    ["find_references", { ...symbol, repository: "acme/open" }, "repoName"],
    ["find_definitions", { symbol: "needle" }, "symbolName"],
    ["tree", { repoName: "acme/open", revision: "main", paths: [""] }, "revisionName"],
  ])("/api/%s: %j", async (path, body, near) => {
    const response = await ask(`/api/${path}`, post(body));
    const { errorCode, message } = (await response.json()) as Record<string, string>;
    expect([response.status, errorCode]).toEqual([400, "INVALID_REQUEST_BODY"]);
    expect(message).toMatch(new RegExp(`unknown field "\\w+"; did you mean ${near}\\?`));
  });
});

describe("any other field is ignored, and a header lists it", () => {
  test.each<[path: string, body: object, header: string | null]>([
    ["search", search, null],
    ["search", { ...search, trace: 1, "é,": 2 }, "trace, %C3%A9%2C"],
    ["search", { ...search, source: "editor" }, "source"],
    ["stream_search", { ...search, limit: 1 }, "limit"],
    ["find", { text: "needle", __trace: 1 }, "__trace"],
    ["find_references", { ...symbol, colour: "red" }, "colour"],
    ["search", { ...search, ["x".repeat(5000)]: 1 }, ""],
  ])("/api/%s: %j", async (path, body, header) => {
    const response = await ask(`/api/${path}`, post(body));
    expect(response.status).toBe(200);
    expect(response.headers.get("x-quern-ignored-fields")).toBe(header);
    await response.text();
  });
});

describe("repo and repoName are the same field", () => {
  const json = async (path: string, init?: RequestInit) => {
    const response = await ask(path, init);
    return [response.status, (await response.json()) as { message?: string }] as const;
  };

  test("in bodies", async () => {
    const [status, found] = await json(
      "/api/find_references",
      post({ ...symbol, repo: "acme/open" }),
    );
    const [, expected] = await json(
      "/api/find_references",
      post({ ...symbol, repoName: "acme/open" }),
    );
    expect([status, found]).toEqual([200, expected]);
    const all = (await json("/api/find_references", post(symbol)))[1];
    expect(found).not.toEqual(all);
  });

  test("in addresses", async () => {
    const [status, found] = await json("/api/revisions?repoName=acme%2Fopen");
    expect([status, found]).toEqual(await json("/api/revisions?repo=acme%2Fopen"));
    expect(status).toBe(200);
  });

  test("and only one of them may be given", async () => {
    const both = { ...symbol, repo: "acme/open", repoName: "acme/open" };
    const [status, { message }] = await json("/api/find_references", post(both));
    expect([status, message]).toEqual([
      400,
      "repoName and repo are the same field; give one of them",
    ]);
    expect((await json("/api/revisions?repo=a&repoName=a"))[0]).toBe(400);
  });
});
