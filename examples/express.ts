/**
 * An Express server with code search under /code, for whoever is signed in.
 *
 *     PORT=3000 npx tsx examples/express.ts
 *     curl localhost:3000/code/api/search -H "Cookie: user=ada" -d '{"query":"todo","matches":10}'
 */

import express from "express";
import { open } from "quern";
import { createHandler, toNodeListener, type Principal } from "quern/http";

const engine = await open(process.env["QUERN_DB"] ?? "./.quern", { readOnly: true });

/** Here a host looks its session up. undefined: no session; then quern answers 401. */
async function authenticate(request: Request): Promise<Principal | undefined> {
  const user = /\buser=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
  if (user === undefined) return undefined;
  return { kind: "session", repositoryIds: user === "ada" ? "all" : "public" };
}

const app = express();
app.get("/", (_, response) => void response.send("The host's own page"));
app.use("/code", toNodeListener(createHandler(engine, { authenticate })));

const server = app.listen(Number(process.env["PORT"] ?? 3000), () => {
  const address = server.address();
  console.log(`http://localhost:${typeof address === "object" ? address?.port : address}`);
});

process.once("SIGTERM", () => server.close(() => void engine.close()));
