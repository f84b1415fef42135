/**
 * A host that keeps API keys in its own place: see file-token-store.ts, which `tokenStoreSuite` of
 * quern/testing holds to the contract.
 *
 *     KEYS=keys.json PORT=3000 npx tsx examples/own-tokens.ts
 */

import { createServer } from "node:http";
import { open } from "quern";
import { createApiKey, createHandler, toNodeListener } from "quern/http";
import { fileTokenStore } from "./file-token-store.ts";

const tokens = fileTokenStore(process.env["KEYS"] ?? "keys.json");
const { secret } = await createApiKey(tokens, { ownerId: "ada" });
console.log(`Authorization: Bearer ${secret}`);

const engine = await open(process.env["QUERN_DB"] ?? "./.quern", { readOnly: true });
const server = createServer(toNodeListener(createHandler(engine, { tokens })));
server.listen(Number(process.env["PORT"] ?? 3000), () => {
  const address = server.address();
  console.log(`http://localhost:${typeof address === "object" ? address?.port : address}`);
});

process.once("SIGTERM", () => server.close(() => void engine.close()));
