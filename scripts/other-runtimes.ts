/**
 * Tries a tarball of the package on Bun and Deno: `npx tsx scripts/other-runtimes.ts quern.tgz`. Installs all three into
 * an empty project, and runs there the tests' host program, a program that indexes a folder, and the commands index,
 * search, serve and mcp. If the registry cannot be reached, it says so and tries nothing; with QUERN_CI=1 that is an
 * error.
 */

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { FOUND, hostScript } from "../test/package/host.ts";
import { installIn, isNoNetwork } from "./installing.ts";
import { isStrict } from "./nodes.ts";

const run = promisify(execFile);

const PROGRAM = `
import { directory, git, open } from "quern";
const engine = await open("./found");
await engine.index([directory("./shop"), git("./cloned", { name: "cloned" })]);
const { stats } = await engine.search({ query: "class or total", matches: 20 });
const symbols = await engine.search({ query: "sym:Cart", matches: 20 });
await engine.close();
console.log(stats.totalMatchCount, symbols.stats.totalMatchCount);
`;

/** Two files with the same text, one in a folder and one committed. */
async function writeSources(cwd: string): Promise<void> {
  for (const name of ["shop", "cloned"]) {
    mkdirSync(join(cwd, name, "src"), { recursive: true });
    const text = "class Cart:\n    def total(self):\n        return 0\n";
    writeFileSync(join(cwd, name, "src/cart.py"), text);
  }
  const inClone = { cwd: join(cwd, "cloned") };
  await run("git", ["init", "--quiet"], inClone);
  await run("git", ["add", "."], inClone);
  const author = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
  await run("git", [...author, "commit", "--quiet", "-m", "first"], inClone);
  const { text } = hostScript("module");
  writeFileSync(join(cwd, "host.mjs"), text);
  writeFileSync(join(cwd, "program.mjs"), PROGRAM);
}

/** A runtime, by the words before the file that it runs. */
interface Runtime {
  readonly cwd: string;
  readonly argv: readonly [string, ...string[]];
}

const CLI = "node_modules/quern/dist/cli.js";

async function output({ cwd, argv: [file, ...before] }: Runtime, ...args: string[]) {
  const { stdout } = await run(file, [...before, ...args], { cwd, timeout: 60_000 });
  return stdout.trim();
}

function mustBe(what: string, is: unknown, expected: unknown): void {
  if (is !== expected)
    throw new Error(`${what}: ${JSON.stringify(is)} in place of ${JSON.stringify(expected)}`);
}

function start({ cwd, argv: [file, ...before] }: Runtime, ...args: string[]): ChildProcess {
  const stdio = ["pipe", "pipe", "inherit"] as const;
  return spawn(file, [...before, CLI, ...args], { cwd, stdio: [...stdio] });
}

async function serves(runtime: Runtime): Promise<void> {
  const args = "serve --anonymous all --port 0 --json --db index-of-command".split(" ");
  const child = start(runtime, ...args);
  try {
    const [first] = (await once(createInterface({ input: child.stdout! }), "line")) as [string];
    const { url } = JSON.parse(first) as { url: string };
    const body = JSON.stringify({ query: "total", matches: 1 });
    const answer = await fetch(`${url}/api/search`, { method: "POST", body });
    const { stats } = (await answer.json()) as { stats: { totalMatchCount: number } };
    mustBe("serve", stats.totalMatchCount, 2);
  } finally {
    child.kill("SIGKILL");
  }
}

async function answersAgents(runtime: Runtime): Promise<void> {
  const child = start(runtime, "mcp", "shop", "--db", "index-of-agent");
  const send = (message: object) =>
    child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "trial", version: "1" };
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const search = { name: "search", arguments: { query: "total" } };
  const ask = () => send({ id: 2, method: "tools/call", params: search });
  try {
    send({ id: 1, method: "initialize", params: hello });
    send({ method: "notifications/initialized" });
    ask();
    for await (const line of createInterface({ input: child.stdout! })) {
      const { id, result } = JSON.parse(line) as {
        id: number;
        result?: { structuredContent?: { matches: number } };
      };
      if (id !== 2) continue;
      if (result?.structuredContent?.matches === 1) return;
      setTimeout(ask, 100); // not read yet
    }
    throw new Error("mcp: the server ended");
  } finally {
    child.kill("SIGKILL");
  }
}

async function tryOn(name: string, runtime: Runtime): Promise<void> {
  for (const made of ["index", "found", "index-of-command", "index-of-agent"])
    rmSync(join(runtime.cwd, made), { recursive: true, force: true });
  mustBe("host", await output(runtime, "host.mjs"), JSON.stringify(FOUND));
  mustBe("program", await output(runtime, "program.mjs"), "4 2");
  const db = ["--db", "index-of-command"];
  await output(runtime, CLI, "index", "shop", "cloned", ...db);
  mustBe("search", await output(runtime, CLI, "search", "total", "--count", ...db), "2");
  await serves(runtime);
  await answersAgents(runtime);
  console.log(`   works on ${name} ${(await output(runtime, "--version")).split("\n")[0]}`);
}

const [, , path] = process.argv;
if (path === undefined) throw new Error("which tarball?");
const cwd = mkdtempSync(join(tmpdir(), "quern-runtimes-"));
const bin = (name: string): string => join(cwd, "node_modules/.bin", name);
try {
  await installIn(cwd, resolve(path), "bun", "deno");
  // these copy a binary from another package, and download nothing
  await run(process.execPath, ["install.js"], { cwd: join(cwd, "node_modules/bun") });
  await run(process.execPath, ["install.cjs"], { cwd: join(cwd, "node_modules/deno") });
  await writeSources(cwd);
  await tryOn("Bun", { cwd, argv: [bin("bun")] });
  await tryOn("Deno", { cwd, argv: [bin("deno"), "run", "--allow-all"] });
} catch (error) {
  if (isStrict || !isNoNetwork(error)) throw error;
  console.log(`   the registry cannot be reached, so it is not tried: ${String(error)}`);
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
