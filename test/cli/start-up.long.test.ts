/** Tests which code a command loads, so that nobody waits for code that the command does not need. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { build, type Metafile } from "esbuild";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { forOneSearch } from "../../src/cli/engine-session.ts";
import { grouped } from "../../src/cli/style.ts";
import { packageFile } from "../../src/base/package-file.ts";
import { VERSION } from "../../src/base/version.ts";
import { grouped as groupedForAgents } from "../../src/mcp/plural.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "../engine/opened.ts";

// a folder within the project, so that packages are found
const folder = mkdtempSync(join(process.cwd(), "node_modules/.quern-start-"));
let outputs: Metafile["outputs"];

beforeAll(async () => {
  const { metafile } = await build({
    entryPoints: { cli: "src/cli/bin.ts" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    outdir: folder,
    metafile: true,
  });
  ({ outputs } = metafile);
  for (const name of ["worker.js", "check.js"]) writeFileSync(join(folder, name), ""); // no thread is started
  copyFileSync(packageFile("token-table.br"), join(folder, "token-table.br"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (source: string): string =>
  Object.keys(outputs).find((name) => source in outputs[name]!.inputs)!;

/** Returns the packages that are loaded with a file, without those that it loads later. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const now = outputs[file]!.imports.filter(({ kind }) => kind === "import-statement");
  return new Set(
    now.flatMap(({ path, external }) => (external ? [path] : [...packagesOf(path, seen)])),
  );
}

const foreign = (file: string): string[] =>
  [...packagesOf(file)].filter((name) => !name.startsWith("node:")).toSorted();

test("--version loads no packages, and --help only the parser of arguments", () => {
  expect(foreign(fileOf("src/cli/bin.ts"))).toEqual([]);
  expect(foreign(fileOf("src/cli/main.ts"))).toEqual(["commander"]);
});

/** Returns the files that are loaded with this one, at once or as soon as a command asks for them by name. */
function filesOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { path, kind, external } of outputs[file]!.imports)
    if (kind === "import-statement" && !external) filesOf(path, seen);
  return seen;
}

test("a search loads no syntax queries of languages", () => {
  const queries = fileOf("src/ingest/symbols/queries/typescript.ts");
  expect(filesOf(fileOf("src/opened-engine.ts")).has(queries)).toBe(false);
  expect(filesOf(fileOf("src/ingest/symbols/symbol-task.ts")).has(queries)).toBe(true);
});

/** Returns how much code a command loads: all its own modules and those of packages, in kilobytes. */
function loadedBy(...argv: string[]): number {
  const told = mkdtempSync(join(folder, "coverage-"));
  const env = { ...process.env, NODE_V8_COVERAGE: told };
  execFileSync(process.execPath, [join(folder, "cli.js"), ...argv], { env });
  const scripts = readdirSync(told).flatMap(
    (name): { url: string }[] => JSON.parse(readFileSync(join(told, name), "utf8")).result,
  );
  const files = new Set(scripts.map(({ url }) => url).filter((url) => url.startsWith("file:")));
  return [...files].reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0) / 1000;
}

// what a start takes is mostly what it loads, and a size does not depend on what else the machine does
test("the version loads next to nothing, and a search not what other commands need", async () => {
  const { path, engine } = await smallIndex();
  await engine.close();
  expect(loadedBy("--version")).toBeLessThan(MOST_LOADED.version);
  expect(loadedBy("search", "needle", "--count", "--db", path)).toBeLessThan(MOST_LOADED.search);
});

/** In kilobytes, somewhat above what was measured: 5 and 1 640, which take 40 and 150 ms with Node 20. */
const MOST_LOADED = { version: 8, search: 1_750 };

async function smallIndex() {
  const engine = await openEngine();
  await engine.index(documents({ name: "r", files: [{ path: "a.txt", content: "needle\n" }] }));
  return { path: engine.path, engine };
}

test("the command prints its version", () => {
  const told = execFileSync(process.execPath, [join(folder, "cli.js"), "--version"]);
  expect(String(told)).toBe(`${VERSION}\n`);
});

/** Starts a command that indexes for some seconds. Resolves when it has begun to write. */
async function indexing(name: string) {
  const db = join(folder, name);
  const source = join(process.cwd(), "node_modules/typescript/lib");
  const argv = ["index", source, "--name", "ts", "--no-ignore", "--workers", "0", "--db", db];
  const child = spawn(process.execPath, [join(folder, "cli.js"), ...argv]);
  let stderr = "";
  child.stderr.on("data", (text: Buffer) => (stderr += String(text)));
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, stderr }));
  while (!existsSync(join(db, "quern.mdb-lock"))) await sleep(5);
  return { child, ended };
}

test("Ctrl-C ends an index run with exit code 130 and a message", async () => {
  const { child, ended } = await indexing("stopped");
  child.kill("SIGINT");
  expect(await ended).toEqual({
    code: 130,
    signal: null,
    stderr: "quern: stopped; everything published before is unchanged\n",
  });
});

test("a second Ctrl-C ends an index run at once, by the signal", async () => {
  const { child, ended } = await indexing("stopped-at-once");
  process.kill(child.pid!, "SIGSTOP"); // so that both signals wait for the process
  child.kill("SIGINT");
  process.kill(child.pid!, "SIGCONT");
  const again = setInterval(() => child.kill("SIGINT"), 1);
  const { code, signal, stderr } = await ended;
  clearInterval(again);
  // a run that was fast enough to stop by itself has printed a message
  expect([code, signal]).toEqual(stderr === "" ? [null, "SIGINT"] : [130, null]);
});

test("a single search of a small index starts no thread, but one of a large index does", async () => {
  const { path } = await openEngine();
  expect(forOneSearch(path)).toEqual({ db: path, readOnly: true, workers: 0 });
  const large = join(folder, "quern.mdb");
  writeFileSync(large, new Uint8Array(17 * 2 ** 20));
  expect(statSync(large).size).toBeGreaterThan(16 * 2 ** 20);
  expect(forOneSearch(folder)).toEqual({ db: folder, readOnly: true });
});

test("the first answer of an agent's server without an index starts no thread", async () => {
  const argv = ["mcp", folder, "--db", join(folder, "none")];
  const child = spawn(process.execPath, [join(folder, "cli.js"), ...argv]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  send({ id: 1, method: "initialize", params: hello });
  send({ method: "notifications/initialized" });
  const asked = { name: "search", arguments: { query: "needle" } };
  send({ id: 2, method: "tools/call", params: asked });
  const answers: string[] = [];
  for await (const line of createInterface({ input: child.stdout }))
    if (answers.push(line) === 2) break;
  // a thread of this folder's empty worker.js ends before it answers
  expect(answers[1]).toContain("Nothing found.");
  expect(answers[1]).toContain("is still being indexed");
});

test.each([0, 1, 12, 123, 1234, 12_345, 123_456, 1_234_567])(
  "%i is printed with groups of digits",
  (n) => {
    expect(grouped(n)).toBe(n.toLocaleString("en-US"));
    expect(groupedForAgents(n)).toBe(n.toLocaleString("en-US").replaceAll(",", " "));
  },
);
