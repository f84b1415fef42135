/**
 * A Hono app in which everyone may search everything: for a machine of one's own.
 *
 *     PORT=3000 npx tsx examples/hono.ts
 *     curl localhost:3000/api/search -d '{"query":"todo","matches":10}'
 *
 * On Bun, Deno or an edge runtime that has Node's modules, export `app` instead of the last lines.
 */

import { createServer } from "node:http";
import { Hono } from "hono";
import { open } from "quern";
import { createHandler, toNodeListener } from "quern/http";

const engine = await open(process.env["QUERN_DB"] ?? "./.quern", { readOnly: true });
const search = createHandler(engine, { anonymous: "all" });

const app = new Hono();
app.get("/", (context) => context.text("The host's own page"));
app.all("/api/*", (context) => search(context.req.raw));

const server = createServer(toNodeListener(async (request) => app.fetch(request)));
server.listen(Number(process.env["PORT"] ?? 3000), () => {
  const address = server.address();
  console.log(`http://localhost:${typeof address === "object" ? address?.port : address}`);
});

process.once("SIGTERM", () => server.close(() => void engine.close()));
