/** Tests that messages about invalid values are in quern's own words, wherever the value is given. */

import { expect, test } from "vitest";
import { z } from "zod";
import { createHandler } from "../../src/http/handler.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import { checked } from "../../src/validation/complaint.ts";
import { openEngine } from "../engine/opened.ts";
import { bearer, clientOf, post, startService } from "../http/service.ts";
import { callTool, connected } from "../mcp/connected.ts";

const complaint = (schema: z.ZodType, value: unknown): string | undefined => {
  const result = checked(schema, value, "it");
  return "data" in result ? undefined : result.complaint;
};

test.each<[schema: z.ZodType, value: unknown, says: string | undefined]>([
  [z.string(), "a", undefined],
  [z.string(), 1, "it must be a string, not 1"],
  [z.string().min(1), "", 'it must be a non-empty string, not ""'],
  [z.boolean(), "yes", 'it must be true or false, not "yes"'],
  [z.int(), 1.5, "it must be a whole number, not 1.5"],
  [z.int(), NaN, "it must be a whole number, not NaN"],
  [z.int(), Infinity, "it must be a whole number, not Infinity"],
  [z.int().min(0), -1, "it must be a whole number of 0 or more, not -1"],
  [z.int().min(1).max(9), 10, "it must be a whole number from 1 to 9, not 10"],
  [z.int().min(1).max(9), 0, "it must be a whole number from 1 to 9, not 0"],
  [z.int().min(1).max(9), "5", 'it must be a whole number from 1 to 9, not "5"'],
  [z.number(), null, "it must be a number, not null"],
  [z.array(z.int()), "x", 'it must be a list, each a whole number, not "x"'],
  [z.array(z.string()).min(1), [], "it must be a non-empty list, each a string, not []"],
  [z.array(z.string()), ["a", 1], "[1] must be a string, not 1"],
  [z.object({ a: z.string() }), [], "it must be an object, not []"],
  [z.object({ a: z.string() }), {}, "a is missing; it must be a string"],
  [
    z.object({ a: z.object({ b: z.boolean() }) }),
    { a: { b: 1 } },
    "a.b must be true or false, not 1",
  ],
  [
    z.object({ a: z.array(z.object({ b: z.int() })) }),
    { a: [{}] },
    "a[0].b is missing; it must be a whole number",
  ],
  [
    z.enum(["name", "pushed"]),
    "nam",
    'it must be one of name, pushed, not "nam"; did you mean name?',
  ],
  [z.enum(["name", "pushed"]), 7, "it must be one of name, pushed, not 7"],
  [z.literal("yes"), "no", 'it must be "yes", not "no"'],
  [z.union([z.string(), z.int()]), true, "it must be a string or a whole number, not true"],
  [z.string().nullable(), 1, "it must be a string or null, not 1"],
  [
    z.strictObject({ paths: z.string() }),
    { paths: "", path: 1 },
    'it: unknown field "path"; did you mean paths?',
  ],
  [
    z.strictObject({ paths: z.string() }),
    { paths: "", ttl: 1 },
    'it: unknown field "ttl"; there are paths',
  ],
  [z.string().regex(/^\d+$/, "must be digits"), "x", 'it must be digits, not "x"'],
  [z.object({ a: z.string("must be digits") }), {}, "a is missing; it must be a string"],
  [
    z.string(),
    "long".repeat(50).split(""),
    `it must be a string, not ${JSON.stringify("long".repeat(50).split("")).slice(0, 60)}…`,
  ],
  [z.string(), () => 1, "it must be a string, not a function"],
  [z.string(), 1n, "it must be a string, not 1"],
])("the message of row %# is right", (schema, value, says) =>
  expect(complaint(schema, value)).toBe(says),
);

test("a value that contains itself is described, too", () => {
  const value: unknown[] = [];
  value.push(value);
  expect(complaint(z.string(), value)).toBe("it must be a string, not an object");
});

// ── the same message for every way to search ──

test.each<[wrong: object, says: string]>([
  [{ matches: -1 }, "matches must be a whole number of 0 or more, not -1"],
  [{ matches: 0.5 }, "matches must be a whole number of 0 or more, not 0.5"],
  [{ matches: "9" }, 'matches must be a whole number of 0 or more, not "9"'],
  [{ matches: undefined }, "matches is missing; it must be a whole number of 0 or more"],
  [{ matchesPerFile: 0 }, "matchesPerFile must be a whole number of 1 or more, not 0"],
  [{ facets: 1001 }, "facets must be a whole number from 1 to 1000, not 1001"],
  [{ contextLines: 1001 }, "contextLines must be a whole number from 0 to 1000, not 1001"],
  [{ query: 7 }, "query must be a string, not 7"],
  [{ query: undefined }, "query is missing; it must be a string"],
  [{ query: null }, "query must be a string, not null"],
  [{ whole: "yes" }, 'whole must be true or false, not "yes"'],
  [{ isRegexEnabled: 1 }, "isRegexEnabled must be true or false, not 1"],
])("the library and HTTP reject a search with %j with the same message", async (wrong, says) => {
  const engine = await openEngine();
  const request = { query: "a", matches: 1, ...wrong } as SearchRequest;
  await expect(engine.search(request)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: says,
  });
  const options = { anonymous: "all", maxMatches: Number.MAX_SAFE_INTEGER } as const;
  const client = clientOf(createHandler(engine, options));
  for (const route of ["search", "stream_search", "explain"])
    expect(await (await client(`/api/${route}`, post(request))).json()).toEqual({
      statusCode: 400,
      errorCode: "INVALID_REQUEST_BODY",
      message: says,
    });
});

test.each<[method: "GET" | "POST", path: string, body: unknown, says: string]>([
  ["POST", "search", [], "body must be an object, not []"],
  [
    "POST",
    "search",
    { query: "a", matches: 1e6 },
    "matches must be a whole number from 0 to 100000, not 1000000",
  ],
  [
    "POST",
    "tree",
    { repoName: "r", revisionName: "HEAD" },
    "paths is missing; it must be a list, each a string",
  ],
  [
    "POST",
    "tree",
    { repoName: "r", revisionName: "HEAD", paths: [1] },
    "paths[0] must be a string, not 1",
  ],
  ["POST", "find_references", { symbolName: "" }, 'symbolName must be a non-empty string, not ""'],
  [
    "POST",
    "ee/scoped_access_token",
    { repoIds: [] },
    "repoIds must be a non-empty list, each a whole number of 0 or more, not []",
  ],
  [
    "POST",
    "ee/scoped_access_token",
    { repoIds: [1], ttl: 1 },
    'body: unknown field "ttl"; there are repoIds',
  ],
  [
    "POST",
    "ee/scoped_access_token",
    { repoId: [1], repoIds: [1] },
    'body: unknown field "repoId"; did you mean repoIds?',
  ],
  [
    "GET",
    "repos?sort=nam",
    undefined,
    'sort must be one of name, pushed, indexed, not "nam"; did you mean name?',
  ],
  ["GET", "repos?page=0", undefined, 'page must be a whole number from 1 to 999999999, not "0"'],
  [
    "GET",
    "repos?perPage=101",
    undefined,
    'perPage must be a whole number from 1 to 100, not "101"',
  ],
  ["GET", "repos?connectionId=x", undefined, 'connectionId must be a whole number, not "x"'],
  ["GET", "source?repo=r", undefined, "path is missing; it must be a string"],
  [
    "GET",
    "ee/audit?since=yesterday",
    undefined,
    'since must be an ISO 8601 date, such as 2025-01-31, not "yesterday"',
  ],
])("%s %s with %j is rejected with a clear message", async (method, path, body, says) => {
  const { handler, keys } = await startService();
  const init = method === "GET" ? { headers: bearer(keys.owner) } : post(body, bearer(keys.owner));
  const response = await clientOf(handler)(`/api/${path}`, init);
  expect(await response.json()).toMatchObject({
    errorCode: "INVALID_REQUEST_BODY",
    message: says,
  });
});

test.each<[tool: string, args: Record<string, unknown>, says: string]>([
  ["search", { query: 7 }, "query must be a string, not 7"],
  [
    "search",
    { query: "a", maxTokens: 1 },
    "maxTokens must be a whole number from 200 to 25000, not 1",
  ],
  ["search", { query: "a", regex: "yes" }, 'regex must be true or false, not "yes"'],
  ["read", { repository: "r" }, "file is missing; it must be a string"],
])("the tool %s with %j is rejected with a clear message", async (tool, args, says) => {
  const client = await connected(createMcpHandler(await openEngine()));
  const { text, isError } = await callTool(client, tool, args);
  expect([isError, text]).toEqual([true, expect.stringContaining(says)]);
  expect(text).not.toMatch(/expected|Invalid input|>=|<=/);
});
