/** The document: a linter finds no fault, and it agrees with the options and the package. */

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { HandlerOptions } from "../../src/http/options.ts";
import { VERSION } from "../../src/base/version.ts";
import { clientOf, startService } from "./service.ts";

async function documentOf(options: Partial<HandlerOptions> = {}) {
  const { handler } = await startService(options);
  const path = `${options.basePath ?? ""}/api/openapi.json`;
  return (await (await clientOf(handler)(path)).json()) as {
    openapi: string;
    "x-quern-version": string;
    servers: object[];
    security: object[];
    paths: Record<string, object>;
    components: { securitySchemes: object; schemas: Record<string, { properties: object }> };
  };
}

test.each<[string, Partial<HandlerOptions>]>([
  ["no options", {}],
  ["fewer matches than the example asks for", { maxMatches: 7, basePath: "/code" }],
  ["no matches", { maxMatches: 0, serviceName: "Acme", anonymous: "all" }],
])("the linter's recommended rules find nothing: %s", async (_name, options) => {
  const source = JSON.stringify(await documentOf(options));
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, config, absoluteRef: "openapi.json" });
  const shown = problems.map(({ ruleId, message, location }) => [
    ruleId,
    message,
    location[0]?.pointer,
  ]);
  expect(shown).toEqual([]);
});

test("the linter would report an error", async () => {
  const document = await documentOf();
  document.security = [{ nope: [] }];
  const config = await createConfig({ extends: ["recommended-strict"] });
  const source = JSON.stringify(document);
  const problems = await lintFromString({ source, config, absoluteRef: "openapi.json" });
  expect(problems.map(({ ruleId }) => ruleId)).toContain("security-defined");
});

test("the versions equal those of the interface and the package", async () => {
  const document = await documentOf();
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(VERSION).toBe(manifest.version);
  expect(document["x-quern-version"]).toBe(VERSION);
  expect(document.openapi).toBe("3.1.0");
  expect(document).toMatchObject({ info: { version: "v5.1.7" } });
});

test("options are visible in the document", async () => {
  const document = await documentOf({ serviceName: "Acme", basePath: "/code", maxMatches: 7 });
  expect(document.servers).toEqual([{ url: "/code" }]);
  expect(document.components.securitySchemes).toMatchObject({ apiKey: { name: "X-Acme-Api-Key" } });
  expect(document.components.schemas["SearchRequest"]!.properties).toMatchObject({
    matches: { type: "integer", minimum: 0, maximum: 7 },
  });
  expect(document.security).toEqual([{ bearer: [] }, { apiKey: [] }, {}]);
});

test("exactly the operations that read the index accept a generation", async () => {
  const { paths, components } = await documentOf();
  expect(components).toMatchObject({
    parameters: { Generation: { name: "X-Quern-Generation", in: "header", required: false } },
  });
  const takes = (path: string, method: string): boolean =>
    JSON.stringify((paths[path] as Record<string, object>)[method]).includes(
      '{"$ref":"#/components/parameters/Generation"}',
    );
  expect(takes("/api/search", "post")).toBe(true);
  expect(takes("/api/repos", "get")).toBe(true);
  expect(takes("/api/health", "get")).toBe(false);
});

test("the fields of the specification exist, each required as specified", async () => {
  const { components } = await documentOf();
  const required = (name: string) =>
    [...((components.schemas[name] as { required?: string[] }).required ?? [])].sort();
  expect(required("SearchRequest")).toEqual(["matches", "query"]);
  expect(required("SearchResponse")).toEqual([
    "files",
    "isSearchExhaustive",
    "repositoryInfo",
    "stats",
  ]);
  expect(required("FileResult")).toEqual([
    "chunks",
    "fileName",
    "language",
    "repository",
    "repositoryId",
    "webUrl",
  ]);
  expect(required("Chunk")).toEqual(["content", "contentStart", "matchRanges"]);
  expect(required("RepositoryInfo")).toEqual(["codeHostType", "id", "name"]);
  expect(required("Error")).toEqual(["errorCode", "message", "statusCode"]);
  expect(required("SearchStats").length).toBe(21);
  expect(required("User").length).toBe(8);
});
