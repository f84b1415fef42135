/** Every row of the tables of routes and errors, through every way a host serves them. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import type { Engine } from "../../src/engine.ts";
import { STATUS } from "../../src/http/refusal.ts";
import { openEngine } from "./engine.ts";
import { readInterface, type Document, type Interface } from "./interface.ts";
import { MOUNTS, type Mounted } from "./mounts.ts";
import { REPOSITORY_ROWS } from "./repository-rows.ts";
import { SEARCH_ROWS } from "./search-rows.ts";
import { FIXTURES, startService, type Service } from "./service.ts";
import { SERVICE_ROWS } from "./service-rows.ts";

const ROWS = [...SEARCH_ROWS, ...REPOSITORY_ROWS, ...SERVICE_ROWS];

/** An engine that fails where a query says so. */
function failing(engine: Engine): Engine {
  const search: Engine["search"] = async (request, options) => {
    if (request.query === "boom") throw new Error("cannot read /srv/secret/data.mdb");
    if (request.query === "closing") throw new QuernError("ENGINE_CLOSED", "closed");
    return engine.search(request, options);
  };
  async function* stream(...[request, options]: Parameters<Engine["stream"]>) {
    if (request.query !== "later") return yield* engine.stream(request, options);
    for await (const event of engine.stream({ ...request, query: "needle" }, options)) {
      yield event;
      throw new QuernError("INDEX_CORRUPT", "cannot read /srv/secret/data.mdb");
    }
  }
  return new Proxy(engine, {
    get(target, name) {
      if (name === "search") return search;
      if (name === "stream") return stream;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

const seen = { codes: new Set<string>(), operations: new Set<string>() };
let engine: Engine;
let described: Interface;
beforeAll(async () => {
  engine = await openEngine(FIXTURES);
});
afterAll(async () => engine.close());

describe.each(Object.entries(MOUNTS))("%s", (_name, mount) => {
  let service: Service;
  let mounted: Mounted;
  beforeAll(async () => {
    service = await startService({}, failing(engine));
    mounted = await mount(service.handler);
    const response = await mounted.client("/api/openapi.json");
    described = readInterface((await response.json()) as Document);
  });
  afterAll(() => mounted[Symbol.asyncDispose]());

  test.each(ROWS)("$name", async ({ request, operation, status, code, check }) => {
    const [path, init] = await request(service);
    const response = await mounted.client(path, init);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    const isJson = response.headers.get("content-type") === "application/json" && text !== "";
    const body: unknown = isJson ? JSON.parse(text) : text;
    if (code !== undefined) {
      expect(body).toEqual({ statusCode: status, errorCode: code, message: expect.any(String) });
      expect(STATUS[code]).toBe(status);
      seen.codes.add(code);
    }
    check?.(body as never, response.headers, service);
    if (operation === undefined) return;
    expect(described.problem(...operation, response, text)).toBe(undefined);
    if (status < 300) seen.operations.add(operation.join(" "));
  });
});

/** Said before a handler sees a request: bad-input.test.ts. */
const OF_NODE = ["EXPECTATION_FAILED", "HEADERS_TOO_LARGE", "REQUEST_TIMEOUT"];

test("every code and every operation had its row", () => {
  expect([...seen.codes, ...OF_NODE].sort()).toEqual(Object.keys(STATUS).sort());
  const operations = Object.entries(described.document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect([...seen.operations].sort()).toEqual(operations.sort());
});
