/**
 * Requests that schemathesis makes from the OpenAPI document get the answers that the document describes. The test is
 * left out if Python's `venv` is not installed or the package cannot be fetched.
 */

import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { toNodeListener } from "../../src/http/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { testSeed } from "../engine/seed.ts";
import { isInTurn, RUNS } from "../runs.ts";
import { startService } from "./service.ts";

const PACKAGE = "schemathesis==4.32.5";
const run = promisify(execFile);

/** A query may be wrong in a way that no schema can describe, and an id may belong to nothing. */
const CONFIG = `
[phases.stateful]
enabled = false

[[operations]]
include-name = [
  "POST /api/search", "POST /api/stream_search", "POST /api/explain", "POST /api/find",
  "POST /api/find_definitions", "POST /api/find_references", "POST /api/ee/scoped_access_token",
]
[operations.checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404"]
`;

/** Resolves to the program, which is installed once, or to undefined if that is not possible. */
async function schemathesis(): Promise<string | undefined> {
  const folder = resolve("build/schemathesis");
  const program = join(folder, "bin/schemathesis");
  if (existsSync(program)) return program;
  try {
    await run("python3", ["-m", "venv", folder]);
    await run(join(folder, "bin/pip"), ["install", "-q", PACKAGE], { timeout: 120_000 });
    return program;
  } catch {
    console.log("schemathesis could not be installed: its test is left out");
    return undefined;
  }
}

test.runIf(isInTurn(3))(
  "random requests get the answers that the document describes",
  async ({ skip }) => {
    const program = await schemathesis();
    if (program === undefined) return skip();
    const { handler, keys } = await startService();
    const server = createServer(toNodeListener(handler)).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const folder = temporaryFolder();
    writeFileSync(join(folder, "schemathesis.toml"), CONFIG);
    const address = `http://127.0.0.1:${port}/api/openapi.json`;
    const header = `Authorization: Bearer ${keys.owner}`;
    const cases = ["--max-examples", String(5 * RUNS), "--seed", String(testSeed())];
    const args = ["run", address, "-H", header, "--workers", "1", ...cases];
    const { stdout } = await run(program, args, { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toContain("Selected: 28/28");
    expect(stdout).toMatch(/ (\d+) generated, \1 passed\n/);
  },
);
