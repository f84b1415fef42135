/** Hostile requests: headers of any size, JSON that tries to change prototypes. */

import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeAll, expect, test } from "vitest";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "../engine/opened.ts";
import { bearer, clientOf, post, startService, type Service } from "../http/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});

// ── headers ──

test.each([1e3, 1e5, 1e6])("a credential of %i bytes is rejected immediately", async (length) => {
  const client = clientOf(service.handler);
  for (const letter of ["a", "0", " ", ",", "\t"]) {
    const headers = { Authorization: `Bearer qrn_${letter.repeat(length)}x` };
    const start = performance.now();
    expect((await client("/api/repos", { headers })).status).toBe(401);
    expect(
      (await client("/api/repos", { headers: { "x-quern-api-key": letter.repeat(length) + "x" } }))
        .status,
    ).toBe(401);
    // a quadratic algorithm would take minutes
    expect(performance.now() - start).toBeLessThan(2000);
  }
});

test("content types, encodings and forwarded hosts of a megabyte have no effect", async () => {
  const client = clientOf(service.handler);
  for (const name of [
    "content-type",
    "content-encoding",
    "origin",
    "x-forwarded-host",
    "cookie",
    "range",
  ])
    for (const text of [
      "a".repeat(1e6),
      "application/json;".repeat(6e4),
      "application/" + "a+".repeat(5e5),
    ]) {
      const start = performance.now();
      const init = post(
        { query: "needle", matches: 1 },
        { ...bearer(service.keys.ada), [name]: text },
      );
      expect([200, 400, 415], name).toContain((await client("/api/search", init)).status);
      expect(performance.now() - start).toBeLessThan(2000);
    }
});

test("a server rejects headers beyond Node's limit, and continues", async () => {
  const server: Server = createServer(toNodeListener(service.handler));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const ask = (headers: Record<string, string>) =>
    new Promise<number>((done, fail) => {
      const request = httpRequest({
        port,
        host: "127.0.0.1",
        path: "/api/version",
        headers,
        agent: false,
      });
      request.on("response", (response) => (response.resume(), done(response.statusCode!)));
      request.on("error", fail);
      request.end();
    });
  try {
    expect(await ask({ "x-large": "a".repeat(100_000) })).toBe(431);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-${i}`, "1"]));
    expect(await ask(many)).toBe(200);
    expect(await ask({})).toBe(200);
  } finally {
    server.close();
  }
});

// ── prototypes ──

const prototypeKeys = () => JSON.stringify(Object.getOwnPropertyNames(Object.prototype).sort());
const before = prototypeKeys();
afterEach(() => {
  expect(prototypeKeys()).toBe(before);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

const POLLUTION = [
  '"__proto__":{"polluted":1,"matches":1,"query":"x","toString":1}',
  '"constructor":{"prototype":{"polluted":1}}',
  '"__proto__":null',
  '"toString":null,"valueOf":1,"hasOwnProperty":0',
  '"then":"x","toJSON":"y"',
];
/**
 * The only route that rejects unknown fields, because the token that it makes would otherwise be wider than the caller
 * meant.
 */
const MINT = "/api/ee/scoped_access_token";
const BODIES: [path: string, fields: string][] = [
  ["/api/search", '"query":"needle","matches":5'],
  ["/api/stream_search", '"query":"needle","matches":5'],
  ["/api/explain", '"query":"needle","matches":5'],
  ["/api/find", '"text":"needle"'],
  ["/api/tree", '"repoName":"acme/open","revisionName":"HEAD","paths":["src"]'],
  ["/api/find_definitions", '"symbolName":"needle"'],
  ["/api/find_references", '"symbolName":"needle"'],
  [MINT, '"repoIds":[1]'],
];
// values that are never the same twice: times, and a new token
const FRESH =
  /"(?:(?:duration|durationMs|wait|matchTree\w+)":[\d.]+|(?:id|token|createdAt|expiresAt)":"[^"]+")/g;

test.each(BODIES)("%s: unknown keys have no effect", async (path, fields) => {
  const ask = async (body: string) => {
    const response = await clientOf(service.handler)(path, post(body, bearer(service.keys.ada)));
    const text = (await response.text()).replace(FRESH, "");
    return `${response.status} ${text}`;
  };
  const plain = await ask(`{${fields}}`);
  expect(plain).toMatch(/^20[01] /);
  for (const more of POLLUTION) {
    const answer = await ask(`{${more},${fields}}`);
    if (path === MINT) expect(answer, more).toMatch(/^400 .*unknown field/);
    else expect(answer, more).toBe(plain);
  }
});

test.each(BODIES)("%s: inherited properties of a prototype do not exist", async (path) => {
  for (const [, fields] of BODIES)
    for (const wrap of [`{"__proto__":{${fields}}}`, `{"constructor":{"prototype":{${fields}}}}`]) {
      const response = await clientOf(service.handler)(path, post(wrap, bearer(service.keys.ada)));
      expect(response.status, wrap).toBe(400);
    }
});

const INHERITED = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

test.each(INHERITED)("%s as a value names nothing that is inherited", async (name) => {
  const client = clientOf(service.handler);
  const headers = bearer(service.keys.ada);
  for (const url of [
    `/api/source?repo=${name}&path=README.md`,
    `/api/source?repo=acme/open&path=${name}`,
    `/api/source?repo=acme/open&path=README.md&ref=${name}`,
    `/api/ee/${name}`,
    `/${name}`,
  ])
    expect((await client(url, { headers })).status, url).toBe(404);
  for (const url of [`/api/repos?sort=${name}`, `/api/repos?direction=${name}`])
    expect((await client(url, { headers })).status, url).toBe(400);
  const found = await client(
    "/api/find_definitions",
    post({ symbolName: name, language: name }, headers),
  );
  expect([200, 400]).toContain(found.status);
});

test.each(INHERITED)("%s in a query, a name and a file is text", async (name) => {
  const engine = await openEngine({ contexts: () => undefined });
  const file = { path: `src/${name}.${name}`, content: `${name} = 1\n` };
  await engine.index(documents({ name, files: [file] }));
  const count = async (query: string) =>
    (await engine.search({ query, matches: 10 })).stats.fileCount;
  expect(await count(name)).toBe(1);
  expect(await count(`repo:${name} file:${name}`)).toBe(1);
  expect(await count(`lang:${name}`)).toBe(0);
  expect(await count(`sym:${name} lang:${name} rev:${name}`)).toBe(0);
  await expect(count(`context:${name}`)).rejects.toMatchObject({ code: "CONTEXT_NOT_FOUND" });
  expect(await engine.remove("not there")).toBe(false);
  expect((await engine.repositories()).map((one) => one.name)).toEqual([name]);
});
