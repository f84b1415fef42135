/**
 * Runs the protocol's own conformance suite against a server that has the tools and prompts that the suite calls by
 * name, too.
 */

import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { UNGUARDED } from "../../src/mcp/guard.ts";
import { refuseHost, refuseOrigin, serveEach } from "../../src/mcp/handler.ts";
import { addTool, createServer as createMcpServer } from "../../src/mcp/server.ts";
import { openEngine } from "../http/engine.ts";
import { FIXTURES } from "../http/service.ts";
import { addFixtures } from "./conformance-fixtures.ts";
import { toolContext } from "./tool-context.ts";
import { someOf } from "../runs.ts";

const SUITE = "../../node_modules/@modelcontextprotocol/conformance/dist/index.js";
const RUN = fileURLToPath(new URL(SUITE, import.meta.url));
const { href: HOOKS } = new URL("conformance-hooks.mjs", import.meta.url);
const TIMEOUT_MS = 120_000;

/** Scenarios of features that this server does not have, by the beginning of their names. */
const NOT_SERVED: readonly (readonly [begin: string, why: string])[] = [
  ["input-required-result-", "no tool asks the client for anything"],
  ["elicitation-", "no tool asks the client for anything"],
  ["tools-call-elicitation", "no tool asks the client for anything"],
  ["tools-call-sampling", "no tool asks the client for anything"],
  ["tools-call-with-logging", "nothing is logged to a client"],
  ["logging-", "nothing is logged to a client"],
  ["resources-subscribe", "files are read when they are asked for"],
  ["resources-unsubscribe", "files are read when they are asked for"],
  ["tasks-", "an extension of the protocol"],
  ["json-schema-2020-12", "schemas of tools are plain; the suite's own server fails it"],
  ["http-custom-header-", "no argument of a tool is a header; the suite's own server fails it"],
];

async function served(): Promise<string> {
  const engine = await openEngine(FIXTURES);
  const context = toolContext(engine);
  const answer = serveEach(({ left }) => {
    const contextOf = (call: AbortSignal) => ({
      ...context,
      signal: AbortSignal.any([call, left]),
    });
    const own = createMcpServer(contextOf, { hidesSecrets: false });
    addFixtures(own, (one) => addTool(own, one, { contextOf, guard: UNGUARDED }));
    return own;
  });
  const listener = toNodeListener(async (request) => {
    const refusal = refuseHost(request, []) ?? refuseOrigin(request, []);
    if (refusal) return new Response(refusal, { status: 403 });
    return answer(request, { viewer: undefined });
  });
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/mcp`;
}

/** Resolves to one line for each scenario, `✓ name: 3 passed, 0 failed`, whatever the suite's overall result is. */
async function summaryOf(revision: string): Promise<string[]> {
  const args = ["--import", HOOKS, RUN, "server", "--url", await served()];
  const options = { timeout: TIMEOUT_MS, maxBuffer: 2 ** 26 };
  const run = promisify(execFile)(process.execPath, [...args, "--requirements", revision], options);
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return stdout.split("\n").filter((line) => /^[✓✗] \S+: \d+ passed/.test(line));
}

const isServed = (line: string): boolean =>
  !NOT_SERVED.some(([begin]) => line.slice(2).startsWith(begin));

test.each(
  someOf(
    [
      ["2025-11-25", 24],
      ["2026-07-28", 24],
    ],
    2,
  ),
)("every scenario of %s that asks for what is served passes", async (revision, count) => {
  const lines = (await summaryOf(revision)).filter(isServed);
  expect(lines.filter((line) => !/^✓ .* 0 failed$/.test(line))).toEqual([]);
  expect(lines).toHaveLength(count);
});
