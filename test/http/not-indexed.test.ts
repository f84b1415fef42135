/** The header that distinguishes a repository that does not exist from one without a match. */

import { afterAll, expect, test } from "vitest";
import { coreOf } from "../../src/core-of.ts";
import { EngineFacade } from "../../src/engine-facade.ts";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { openEngine } from "./engine.ts";
import { scriptedEngine, emptyResponse } from "./scripted.ts";
import { bearer, clientOf, FIXTURES, post, startService } from "./service.ts";

const engine = await openEngine(FIXTURES);
afterAll(() => engine.close());

const ROUTES = ["/api/search", "/api/stream_search"];

async function headerOf(handler: Parameters<typeof clientOf>[0], path: string, query: string) {
  const response = await clientOf(handler)(path, post({ query, matches: 1 }));
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get("x-quern-not-indexed");
}

const ROWS: [query: string, header: string | null][] = [
  ["needle", null],
  ["repo:acme/open needle", null],
  ["repo:acme/open nothing-of-the-kind", null],
  ["repo:acme needle", null],
  ["repo:acme/opem needle", "acme/opem"],
  ["r:^acme/opem$ needle", "acme/opem"],
  ["r:acme/op.n needle", null], // matches acme/open
  ["r:acme/(a|b) needle", null], // contains no complete name
  ["reposet:acme/open,a,b needle", "a, b"],
  ["repo:x repo:y needle", "x, y"],
  ["repo:x or repo:y", "x, y"],
  ["(repo:acme/open or repo:y) needle", "y"],
  ["-repo:x needle", null],
  ["(repo:x needle)", "x"],
  ['reposet:"été 100%" needle', "%C3%A9t%C3%A9 100%25"],
];

test.each(ROWS)("%s", async (query, header) => {
  const handler = createHandler(engine, { anonymous: "all" });
  for (const path of ROUTES) expect(await headerOf(handler, path, query), path).toBe(header);
});

test("the header names as many repositories as fit into it", async () => {
  const names = [1, 2, 3, 4, 5].map((n) => "n".repeat(1000) + n);
  const handler = createHandler(engine, { anonymous: "all" });
  const header = await headerOf(handler, "/api/search", `reposet:${names.join(",")} x`);
  expect(header).toBe(names.slice(0, 4).join(", "));
});

test("no search runs for it, and explain() is not called", async () => {
  const core = coreOf(engine);
  const explain = () => {
    throw new Error("explained");
  };
  const silent = new EngineFacade({
    ...core,
    view: (options) => ({ ...core.view(options), explain }),
  });
  const handler = createHandler(silent, { anonymous: "all" });
  for (const path of ROUTES) expect(await headerOf(handler, path, "repo:no x")).toBe("no");
});

test("an engine that a host has wrapped is asked to explain", async () => {
  const wrapped: Engine = {
    ...scriptedEngine({ search: async () => emptyResponse() }),
    explain: (request, options) => engine.explain(request, options),
  };
  const handler = createHandler(wrapped, { anonymous: "all" });
  expect(await headerOf(handler, "/api/search", "repo:no x")).toBe("no");
});

test("a hidden repository is treated like one that does not exist", async () => {
  const service = await startService({}, engine);
  service.visible.set("ada", new Set([service.ids["acme/open"]!]));
  for (const path of ROUTES) {
    const init = post(
      { query: "reposet:acme/open,acme/secret,no/such x", matches: 1 },
      bearer(service.keys.ada),
    );
    const response = await clientOf(service.handler)(path, init);
    await response.text();
    expect(response.headers.get("x-quern-not-indexed")).toBe("acme/secret, no/such");
  }
});
