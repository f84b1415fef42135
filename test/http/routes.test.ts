/** Every row of the tables of routes and errors, through every way a host serves them. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { STATUS } from "../../src/http/refusal.ts";
import { openEngine } from "./engine.ts";
import { failing, FAILURE_ROWS, MAX_CONCURRENT, openDamaged } from "./failure-rows.ts";
import { readInterface, type Document, type Interface } from "./interface.ts";
import { MOUNTS, type Mounted } from "./mounts.ts";
import { REPOSITORY_ROWS } from "./repository-rows.ts";
import { SEARCH_ROWS } from "./search-rows.ts";
import { FIXTURES, startService, type Service } from "./service.ts";
import { SERVICE_ROWS } from "./service-rows.ts";

const ROWS = [...SEARCH_ROWS, ...REPOSITORY_ROWS, ...SERVICE_ROWS, ...FAILURE_ROWS];

const seen = { codes: new Set<string>(), operations: new Set<string>() };
let engine: Engine;
let damaged: Awaited<ReturnType<typeof openDamaged>>;
let described: Interface;
beforeAll(async () => {
  engine = await openEngine(FIXTURES);
  damaged = await openDamaged();
});
afterAll(async () => {
  await engine.close();
  await damaged[Symbol.asyncDispose]();
});

describe.each(Object.entries(MOUNTS))("%s", (_name, mount) => {
  let service: Service;
  let mounted: Mounted;
  beforeAll(async () => {
    const options = { maxConcurrent: MAX_CONCURRENT };
    service = await startService(options, failing(engine, damaged));
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
    await check?.(body as never, response.headers, service);
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
