/** Every row of the tables of routes and errors, through every way in which a host serves them. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { STATUS } from "../../src/http/refusal.ts";
import { openEngine, sourceOf } from "./engine.ts";
import {
  failing,
  failingTokens,
  FAILURE_ROWS,
  MAX_CONCURRENT,
  openDamaged,
} from "./failure-rows.ts";
import { readInterface, type Document, type Interface } from "./interface.ts";
import { makeAwkwardClone } from "./git-clone.ts";
import { HISTORY_ROWS } from "./history-rows.ts";
import { MEMBER_ROWS } from "./member-rows.ts";
import { MOUNTS, type Mounted } from "./mounts.ts";
import { REPOSITORY_ROWS } from "./repository-rows.ts";
import { SEARCH_ROWS } from "./search-rows.ts";
import { FIXTURES, startService, type Service } from "./service.ts";
import { SERVICE_ROWS } from "./service-rows.ts";
import { startDeliveries, WEBHOOK_ROWS } from "./webhook-rows.ts";
import { someOf } from "../runs.ts";

const ROWS = [
  ...SEARCH_ROWS,
  ...REPOSITORY_ROWS,
  ...HISTORY_ROWS,
  ...SERVICE_ROWS,
  ...MEMBER_ROWS,
  ...WEBHOOK_ROWS,
  ...FAILURE_ROWS,
];

/** The repositories that are indexed once more, in this order, which differs from the order of their names. */
const LAST_INDEXED = ["acme/other", "acme/open"].map((name) =>
  FIXTURES.find((fixture) => fixture.name === name)!,
);

const seen = { codes: new Set<string>(), answers: new Set<string>() };
let engine: Engine;
let damaged: Awaited<ReturnType<typeof openDamaged>>;
let deliveries: Awaited<ReturnType<typeof startDeliveries>>;
let described: Interface;
beforeAll(async () => {
  deliveries = await startDeliveries();
  engine = await openEngine(FIXTURES);
  for (const fixture of LAST_INDEXED) {
    await sleep(2); // of the clock that measures the time
    const clone = fixture.name === "acme/open" ? makeAwkwardClone(fixture.files) : undefined;
    await engine.index(sourceOf({ ...fixture, ...(clone !== undefined && { gitFolder: clone }) }));
  }
  damaged = await openDamaged();
});
afterAll(async () => {
  await engine.close();
  await damaged[Symbol.asyncDispose]();
  await deliveries[Symbol.asyncDispose]();
});

/**
 * One row for each answer of each operation, and one for each error. The handler makes errors in the same way for all
 * operations, so a way to serve treats them alike.
 */
const ANSWERS = [
  ...new Map(
    ROWS.map((row) => {
      const { operation, status, code } = row;
      return [[code ?? operation, status].join(" "), row] as const;
    }),
  ).values(),
];

/** Returns the rows for a way to serve: all for the handler itself, and many for Node's own server. */
const rowsFor = (name: string) =>
  name === "the handler itself" ? ROWS : someOf(name === "node:http" ? ROWS : ANSWERS, 3);

describe.each(Object.entries(MOUNTS))("%s", (name, mount) => {
  let service: Service;
  let mounted: Mounted;
  beforeAll(async () => {
    const { webhook } = deliveries;
    const options = {
      maxConcurrent: MAX_CONCURRENT,
      maxWaiting: 0,
      tokens: failingTokens(),
      webhook,
    };
    service = await startService(options, failing(engine, damaged));
    mounted = await mount(service.handler);
    const response = await mounted.client("/api/openapi.json");
    described = readInterface((await response.json()) as Document);
  });
  afterAll(() => mounted[Symbol.asyncDispose]());

  test.each(rowsFor(name))("$name", async ({ request, operation, status, code, check }) => {
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
    seen.answers.add([...operation, status].join(" "));
  });
});

/** Codes that Node's server answers before a handler sees the request: bad-input.long.test.ts tests them. */
const OF_NODE = ["EXPECTATION_FAILED", "HEADERS_TOO_LARGE", "REQUEST_TIMEOUT"];

/** What only `quern serve` answers: it refuses requests under a name that is not its own. */
const OF_COMMAND = ["post /api/stream_search 403"];

test("every error code has a row, and so has every documented answer of every operation", () => {
  expect([...seen.codes, ...OF_NODE].sort()).toEqual(Object.keys(STATUS).sort());
  const answers = Object.entries(described.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method} ${path} ${status}`),
    ),
  );
  expect([...seen.answers, ...OF_COMMAND].sort()).toEqual(answers.sort());
});

// ── what docs/http.md promises ──

const page = readFileSync("docs/http.md", "utf8");

test("the page lists the routes that are served", () => {
  const told = [...page.matchAll(/`(GET|POST|DELETE) (\/api\/[^`?]*)[^`]*`/g)];
  const rows = told.map(([, method, path]) => `${method!.toLowerCase()} ${path}`);
  const served = Object.entries(described.document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect([...new Set(rows)].sort()).toEqual(served.sort());
});

test("the page lists the error codes of the table", () => {
  const rows = [...page.matchAll(/^- (\d{3}) ((?:`[A-Z_]+`(?:,\s+)?)+):/gm)];
  const told = rows.flatMap(([, status, codes]) =>
    codes!.split(/,\s+/).map((code) => [code.replaceAll("`", ""), Number(status)] as const),
  );
  expect(Object.fromEntries(told)).toEqual(STATUS);
});
