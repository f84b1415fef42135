/** Runs the examples from the sources, each in a separate process. */

import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { CORPUS } from "../scripts/build-corpus.ts";
import { directory, open, type SearchResponse } from "../src/index.ts";
import type { TokenStore } from "../src/http/index.ts";
import { tokenStoreSuite } from "../src/testing.ts";
import { bundledPrograms } from "./programs.ts";
import { SHORT_LIVED } from "./short-lived.ts";
import { isInTurn } from "./runs.ts";

const folder = mkdtempSync(join(tmpdir(), "quern-examples-"));
const db = join(folder, "index");

beforeAll(async () => {
  const engine = await open(db);
  await engine.index([
    directory(join(CORPUS, "duration"), { public: true }),
    directory(join(CORPUS, "ledger")),
  ]);
  await engine.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Where the program of each example is, by the example's name. */
let programs: ReadonlyMap<string, string>;
beforeAll(async () => {
  const names = readdirSync("examples").filter((name) => name.endsWith(".ts"));
  const made = await bundledPrograms(names.map((name) => join("examples", name)));
  programs = new Map(names.map((name, n) => [name, made[n]!]));
});

const command = (name: string, ...args: string[]): string[] => [
  ...SHORT_LIVED,
  programs.get(name)!,
  ...args,
];

/** Runs an example in a folder of its own. */
function run(name: string, ...args: string[]) {
  const cwd = join(folder, name.replace(".ts", ""));
  mkdirSync(cwd, { recursive: true });
  return promisify(execFile)(process.execPath, command(name, ...args), { cwd });
}

/** Starts an example that is a server. Returns a function that reads the next line it prints. */
function start(name: string, env: Record<string, string> = {}): () => Promise<string> {
  const child = spawn(process.execPath, command(name), {
    cwd: folder,
    env: { ...process.env, PORT: "0", QUERN_DB: db, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGTERM"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => String((await lines.next()).value);
}

async function search(url: string, headers: Record<string, string>) {
  const body = JSON.stringify({ query: "parse", matches: 0 });
  const response = await fetch(url, { method: "POST", headers, body });
  const answer = (await response.json()) as Partial<SearchResponse>;
  return { status: response.status, files: answer.stats?.fileCount };
}

test.runIf(isInTurn(2))("search.ts indexes a folder and searches it", async () => {
  const first = await run("search.ts", join(CORPUS, "duration"), "parseDuration lang:go");
  expect(first.stdout).toMatch(/^duration\/\S+\.go:\d+: /m);
  expect(first.stderr).toMatch(/^\d+ new files, 0 as they were\n\d+ matches in \d+ files\n$/);
  const second = await run("search.ts", join(CORPUS, "duration"), "parseDuration lang:go");
  expect(second.stderr).toMatch(/^0 new files, /);
  expect(second.stdout).toBe(first.stdout);
});

test.runIf(isInTurn(2, 1))("editor.ts searches unsaved and saved text", async () => {
  const tree = join(folder, "edited");
  mkdirSync(tree);
  writeFileSync(join(tree, "cart.ts"), "const total = 1;\n");
  writeFileSync(join(tree, "price.ts"), "const discount = 2;\n");
  const child = spawn(process.execPath, command("editor.ts", tree, "discount"), {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGTERM"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => String((await lines.next()).value);
  const does = async (line: string) => {
    child.stdin.write(`${line}\n`);
    return answer();
  };
  expect(await answer()).toBe("1 matches in price.ts");
  expect(await does("open cart.ts")).toBe("cart.ts: 17 characters");
  expect(await does("type // discoun")).toBe("1 matches in price.ts");
  expect(await does("type t")).toBe("2 matches in cart.ts, price.ts");
  expect(readFileSync(join(tree, "cart.ts"), "utf8")).toBe("const total = 1;\n");
  expect(await does("save")).toBe("2 matches in cart.ts, price.ts");
  expect(readFileSync(join(tree, "cart.ts"), "utf8")).toMatch(/discount$/);
  expect(await does("type  and discount")).toBe("3 matches in cart.ts, price.ts");
  writeFileSync(join(tree, "other.ts"), "discount, of another program\n");
  expect(await does("close")).toBe("3 matches in cart.ts, other.ts, price.ts");
  child.stdin.end();
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
});

test.runIf(isInTurn(2))("agent-session.ts gets answers that match the disk", async () => {
  const tree = mkdtempSync(join(tmpdir(), "quern-agent-")); // enclosing folders are not indexed
  onTestFinished(() => rmSync(tree, { recursive: true, force: true }));
  writeFileSync(join(tree, "cart.ts"), "const total = 1;\n");
  writeFileSync(join(tree, "price.ts"), "const discount = 2;\n");
  const [quern] = await bundledPrograms(["src/cli/bin.ts"]);
  const program = command("agent-session.ts", tree, "discount", process.execPath, quern!);
  const child = spawn(process.execPath, program, { cwd: tree, stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGTERM"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => String((await lines.next()).value);
  const does = async (line: string) => {
    child.stdin.write(`${line}\n`);
    return answer();
  };
  expect(await answer()).toBe("1 matches");
  expect(await does("open cart.ts")).toBe("cart.ts: 17 characters");
  expect(await does("type // discoun")).toBe("1 matches");
  expect(await does("type t")).toBe("2 matches");
  writeFileSync(join(tree, "other.ts"), "discount, of another program\n");
  expect(await does("type s")).toBe("3 matches");
  expect(await does("close")).toBe("2 matches");
  expect(readFileSync(join(tree, "cart.ts"), "utf8")).toBe("const total = 1;\n");
  child.stdin.end();
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
});

test.runIf(isInTurn(2, 1))("express.ts checks the host's sessions", async () => {
  const url = await start("express.ts")();
  expect(await (await fetch(url)).text()).toBe("The host's own page");
  const at = `${url}/code/api/search`;
  expect(await search(at, {})).toEqual({ status: 401, files: undefined });
  const all = await search(at, { cookie: "user=ada" });
  const some = await search(at, { cookie: "user=bob" });
  expect([all.status, some.status]).toEqual([200, 200]);
  expect(some.files).toBeGreaterThan(0);
  expect(all.files).toBeGreaterThan(some.files ?? Infinity);
});

test.runIf(isInTurn(2))("hono.ts answers everyone", async () => {
  const url = await start("hono.ts")();
  expect(await (await fetch(url)).text()).toBe("The host's own page");
  const { status, files } = await search(`${url}/api/search`, {});
  expect(status).toBe(200);
  expect(files).toBeGreaterThan(0);
});

test.runIf(isInTurn(2, 1))("own-tokens.ts creates a key that works", async () => {
  const line = start("own-tokens.ts", { KEYS: join(folder, "keys.json") });
  const authorization = (await line()).replace("Authorization: ", "");
  const url = await line();
  expect((await search(`${url}/api/search`, {})).status).toBe(401);
  expect((await search(`${url}/api/search`, { authorization })).status).toBe(200);
});

test.runIf(isInTurn(2))("next-route.ts answers as a route of Next.js does", async () => {
  vi.stubEnv("QUERN_DB", db);
  onTestFinished(() => void vi.unstubAllEnvs());
  // not imported by its name: see below
  const route: string = resolve("examples/next-route.ts");
  const { POST } = (await import(route)) as { POST: (request: Request) => Promise<Response> };
  const body = JSON.stringify({ query: "parse", matches: 0 });
  const response = await POST(new Request("http://host/api/search", { method: "POST", body }));
  expect(response.status).toBe(200);
  expect(((await response.json()) as SearchResponse).stats.fileCount).toBeGreaterThan(0);
});

test.runIf(isInTurn(2, 1))("nightly.ts follows the remotes of a folder's clones", async () => {
  const home = join(folder, "nightly");
  mkdirSync(join(home, "clones"), { recursive: true });
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: home });
  const commit = async (repository: string, name: string) => {
    writeFileSync(join(home, repository, name), `the text of ${name}\n`);
    await git("-C", repository, "add", ".");
    const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    await git("-C", repository, ...who, "commit", "--quiet", "-m", `Add ${name}`);
  };
  const night = async () => {
    const { stdout, stderr } = await run("nightly.ts", "clones");
    return {
      stdout: stdout
        .replace(/, \d+ ms/g, "")
        .trim()
        .split("\n")
        .sort(),
      stderr,
    };
  };
  for (const repository of ["upstream", "clones/alone"]) {
    await git("init", "--quiet", "--initial-branch=main", repository);
    await commit(repository, "first.txt");
  }
  for (const kind of [["ordinary"], ["bare", "--bare"], ["mirror", "--mirror"]])
    await git("clone", "--quiet", ...kind.slice(1), "upstream", join("clones", kind[0]!));

  const clones = (what: string) => ["bare", "mirror", "ordinary"].map((name) => `${name}: ${what}`);
  const first = await night();
  expect(first.stdout).toEqual(["alone: +1 -0, 0 skipped", ...clones("+1 -0, 0 skipped")]);
  expect(first.stderr).toMatch(/^alone is indexed as it is: /);
  await commit("upstream", "second.txt");
  const second = await night();
  expect(second.stdout).toEqual(["alone: +0 -0, 0 skipped", ...clones("+1 -0, 0 skipped")]);
  expect((await git("-C", "clones/ordinary", "status", "--porcelain")).stdout).toBe("");

  rmSync(join(home, "upstream"), { recursive: true });
  rmSync(join(home, "clones/bare"), { recursive: true });
  const last = await night();
  expect(last.stdout).toEqual([
    "alone: +0 -0, 0 skipped",
    "bare: removed",
    "mirror: +0 -0, 0 skipped",
    "ordinary: +0 -0, 0 skipped",
  ]);
  expect(last.stderr).toMatch(/^ordinary is indexed as it is: /m);
});

// not imported by its name, because the examples have types of their own, which examples/tsconfig.json knows
const module: string = resolve("examples/file-token-store.ts");
const { fileTokenStore } = (await import(module)) as {
  fileTokenStore: (path: string) => TokenStore;
};

describe("file-token-store.ts", () => {
  tokenStoreSuite({ test }, async () => fileTokenStore(join(folder, "suite.json")));
});
