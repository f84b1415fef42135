/** The page as a server delivers it: document, files, policy. test/page tests what it does in a browser. */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import express from "express";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { encodingFor } from "../../src/http/page.ts";
import { openEngine } from "./engine.ts";
import { listen } from "./mounts.ts";
import { clientOf, type Client } from "./service.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine([{ name: "a", files: { "a.txt": "a\n" } }]);
});
afterAll(() => engine.close());

const clientWith = (options: { page?: boolean; basePath?: string; serviceName?: string }): Client =>
  clientOf(createHandler(engine, { anonymous: "all", ...options }));

const { files } = JSON.parse(readFileSync("build/page/page.json", "utf8")) as {
  files: Record<string, string>;
};

test("the page is off unless the host enables it", async () => {
  const client = clientWith({});
  const paths = ["/", "/search", "/browse/a", `/assets/${Object.keys(files)[0]!}`];
  for (const path of paths) expect((await client(path)).status, path).toBe(404);
});

describe("the document", () => {
  test.each([
    ["/", "./"],
    ["/search?q=/a/b", "./"],
    ["/browse/a/-/blob/a.txt", "../../../../"],
    ["/browse/a/b@c%2Fd/-/tree/", "../../../../../"],
  ])("%s names its files as %s", async (path, root) => {
    for (const basePath of ["", "/code/search"]) {
      const response = await clientWith({ page: true, basePath })(basePath + path);
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain(`data-root="${root}"`);
      const names = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name]) => name!);
      expect(names.length).toBe(3);
      for (const name of names)
        expect(Object.keys(files).map((file) => `${root}assets/${file}`)).toContain(name);
    }
  });

  test("has a strict policy, and is revalidated each time", async () => {
    const { headers } = await clientWith({ page: true })("/");
    const policy = headers.get("content-security-policy")!;
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("has no inline script or style", async () => {
    const text = await (await clientWith({ page: true })("/")).text();
    expect(text).not.toMatch(/<style|style=|<script(?![^>]* src=)| on\w+=/);
  });

  test("contains the service's name, which is part of the name of the key's header", async () => {
    const text = await (await clientWith({ page: true, serviceName: "Acme" })("/")).text();
    expect(text).toContain('data-service="Acme"');
  });

  test("needs no credential", async () => {
    const handler = createHandler(engine, { authenticate: async () => undefined, page: true });
    const client = clientOf(handler);
    expect((await client("/")).status).toBe(200);
    expect((await client("/api/repos")).status).toBe(401);
  });

  test.each([
    ["/code", "./code/"],
    ["/code?q=1", "./code/"],
    ["/code/", "./"],
    ["/code/search", "./"],
    ["/code/browse/a/-/blob/b", "../../../../"],
  ])("at %s its addresses begin with %s", async (path, root) => {
    const response = await clientWith({ page: true, basePath: "/code" })(path);
    const text = await response.text();
    expect(text).toContain(`data-root="${root}"`);
    expect(text).toContain(`src="${root}assets/page-`);
  });

  test("at the mount of Express, its addresses begin the same way", async () => {
    const handler = createHandler(engine, { anonymous: "all", page: true });
    const app = express().use("/code", toNodeListener(handler));
    await using mounted = await listen(createServer(app));
    const rootAt = async (path: string) =>
      /data-root="([^"]*)"/.exec(await (await fetch(mounted.origin + path)).text())![1];
    expect([await rootAt("/code"), await rootAt("/code/")]).toEqual(["./code/", "./"]);
  });
});

describe("its files", () => {
  test("are not encoded for Next.js, which removes the header that says so", async () => {
    const handler = createHandler(engine, { anonymous: "all", page: true });
    const [name] = Object.keys(files);
    const ask = (more: object) => {
      const headers = { "Accept-Encoding": "br, gzip" };
      const request = new Request(`http://localhost/assets/${name}`, { headers });
      return handler(Object.assign(request, more));
    };
    expect((await ask({})).headers.get("content-encoding")).toBe("br");
    expect((await ask({ nextUrl: {} })).headers.get("content-encoding")).toBeNull();
  });

  const client: Client = (path, init) => clientWith({ page: true })(path, init);

  test.each(Object.entries(files))("%s is %s, in every encoding", async (name, type) => {
    const ask = async (encoding: string) => {
      const response = await client(`/assets/${name}`, {
        headers: { "Accept-Encoding": encoding },
      });
      expect(response.headers.get("content-type")).toBe(type);
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(response.headers.get("vary")).toContain("Accept-Encoding");
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(response.headers.get("content-length")).toBe(String(bytes.length));
      return { bytes, encoding: response.headers.get("content-encoding") };
    };
    const plain = await ask("identity");
    const gzip = await ask("gzip");
    const br = await ask("gzip, br");
    expect([plain.encoding, gzip.encoding, br.encoding]).toEqual([null, "gzip", "br"]);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true);
  });

  test.each([
    "/assets/nope.js",
    "/assets/..%2Fpage.json",
    "/assets/page.json",
    "/assets/constructor",
  ])("%s does not exist", async (path) => {
    const response = await client(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ errorCode: "NOT_FOUND" });
  });

  test("HEAD has no body", async () => {
    const response = await client("/", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test.each([
    [undefined, "identity"],
    ["gzip, deflate, br, zstd", "br"],
    ["GZIP;q=0.5", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["br;q=0.0,*", "identity"],
    ["deflate", "identity"],
  ])("to %j goes %s", (accept, encoding) => {
    expect(encodingFor(accept)).toBe(encoding);
  });
});

test("the first view takes at most 150 KB, and refers to no other host", async () => {
  const client = clientWith({ page: true });
  const document = await (await client("/")).text();
  const names = [...document.matchAll(/assets\/([^"]+)/g)].map(([, name]) => name!);
  let bytes = Buffer.byteLength(document);
  for (const name of names) {
    const response = await client(`/assets/${name}`, { headers: { "Accept-Encoding": "br" } });
    bytes += (await response.arrayBuffer()).byteLength;
  }
  expect(bytes).toBeLessThan(150_000);
  expect(bytes).toBeGreaterThan(10_000);
});
