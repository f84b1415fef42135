/** Tests in a browser that the page finds its files and routes, however a host mounts it. */

import { createServer, request as httpRequest, type Server } from "node:http";
import express from "express";
import { fastify } from "fastify";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { openEngine } from "../http/engine.ts";
import { listen } from "../http/mounts.ts";
import { FIXTURES } from "../http/service.ts";
import { inBrowser } from "./browser.ts";
import { visit } from "./site.ts";
import { someOf } from "../runs.ts";

interface Mounted extends AsyncDisposable {
  origin: string;
}

/** The mounts, each with the path at which a browser finds the page. */
const MOUNTS: [name: string, path: string, mount: (engine: Engine) => Promise<Mounted>][] = [
  ["node:http", "/", (engine) => listen(createServer(toNodeListener(handlerOf(engine))))],
  [
    "node:http below a path",
    "/code/search",
    (engine) => listen(createServer(toNodeListener(handlerOf(engine, "/code/search")))),
  ],
  [
    "Express below a path",
    "/code",
    (engine) => listen(createServer(express().use("/code", toNodeListener(handlerOf(engine))))),
  ],
  [
    "Hono below a path",
    "/code",
    (engine) => {
      const handler = handlerOf(engine, "/code");
      const app = new Hono();
      app.all("/code/*", (context) => handler(context.req.raw));
      return listen(createServer(toNodeListener(async (request) => app.fetch(request))));
    },
  ],
  [
    // as a route file of Next.js exports it: app/code/[[...path]]/route.ts with GET and POST
    "an exported route handler, as in Next.js",
    "/code",
    (engine) => {
      const handler = handlerOf(engine, "/code");
      const route: Record<string, (request: Request) => Promise<Response>> = {
        GET: handler,
        POST: handler,
      };
      return listen(
        createServer(toNodeListener(async (request) => route[request.method]!(request))),
      );
    },
  ],
  [
    "Fastify",
    "/",
    async (engine) => {
      const app = fastify({ forceCloseConnections: true });
      const listener = toNodeListener(handlerOf(engine));
      app.removeAllContentTypeParsers();
      app.addContentTypeParser("*", (_request, _body, done) => done(null));
      app.all("/*", (request, reply) => {
        reply.hijack();
        listener(request.raw, reply.raw);
      });
      const origin = await app.listen({ port: 0, host: "127.0.0.1" });
      return { origin, [Symbol.asyncDispose]: () => app.close() };
    },
  ],
  [
    "a proxy that strips a prefix",
    "/tools/code/",
    async (engine) => {
      const inner = await listen(createServer(toNodeListener(handlerOf(engine))));
      const outer = await listen(stripping("/tools/code", inner.origin));
      return {
        origin: outer.origin,
        async [Symbol.asyncDispose]() {
          await outer[Symbol.asyncDispose]();
          await inner[Symbol.asyncDispose]();
        },
      };
    },
  ],
];

const handlerOf = (engine: Engine, basePath = "") =>
  createHandler(engine, { anonymous: "all", page: true, basePath });

function stripping(prefix: string, target: string): Server {
  return createServer((req, res) => {
    if (!req.url!.startsWith(`${prefix}/`)) return void res.writeHead(404).end();
    const options = { method: req.method!, headers: req.headers };
    const onward = httpRequest(target + req.url!.slice(prefix.length), options, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    });
    onward.on("error", () => res.destroy()); // the mount has ended
    req.pipe(onward);
  });
}

inBrowser("mounts", (browser) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(FIXTURES);
  });
  afterAll(() => engine.close());

  test.each(someOf(MOUNTS, 3))("the page works behind %s", async (_name, path, mount) => {
    await using mounted = await mount(engine);
    const page = await visit(browser, mounted.origin + path);
    await page.getByRole("textbox", { name: "Search code" }).fill("needle");
    const root = new URL(`${path.replace(/\/$/, "")}/`, mounted.origin).href;
    await page.getByRole("link", { name: /src\/deep\/b\.ts$/ }).click();
    await page.locator(".cm-line").first().waitFor();
    expect(page.url()).toBe(`${root}browse/acme/open/-/blob/src/deep/b.ts#L1`);
    await page.reload();
    await page.locator(".cm-line").first().waitFor();
    await page.goto("about:blank"); // ends the page's requests before the mount ends
  });
});
