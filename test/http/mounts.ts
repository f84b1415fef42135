/** The ways in which a host serves a handler, each with a client that calls it. */

import express from "express";
import { fastify } from "fastify";
import { Hono } from "hono";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Handler } from "../../src/http/handler.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { clientOf, type Client } from "./service.ts";

export interface Mounted extends AsyncDisposable {
  client: Client;
}

export const MOUNTS: Record<string, (handler: Handler) => Promise<Mounted>> = {
  "the handler itself": async (handler) => ({
    client: clientOf(handler),
    [Symbol.asyncDispose]: async () => {},
  }),

  "node:http": (handler) => listen(createServer(toNodeListener(handler))),

  "a route of Hono": (handler) => {
    const app = new Hono();
    app.all("/*", (context) => handler(context.req.raw));
    return listen(createServer(toNodeListener(async (request) => app.fetch(request))));
  },

  Express: (handler) => listen(createServer(express().use(toNodeListener(handler)))),

  "Express under a path": async (handler) => {
    const app = express().use("/code", toNodeListener(handler));
    const { client, ...rest } = await listen(createServer(app));
    return { client: (path, init) => client(`/code${path}`, init), ...rest };
  },

  Fastify: async (handler) => {
    const app = fastify({ forceCloseConnections: true });
    const listener = toNodeListener(handler);
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _body, done) => done(null));
    app.all("/*", (request, reply) => {
      reply.hijack();
      listener(request.raw, reply.raw);
    });
    const origin = await app.listen({ port: 0 });
    return { client: clientAt(origin), [Symbol.asyncDispose]: () => app.close() };
  },
};

export async function listen(server: Server): Promise<Mounted & { origin: string }> {
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    client: clientAt(origin),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const clientAt =
  (origin: string): Client =>
  (path, init) =>
    fetch(origin + path, { redirect: "error", ...init });
