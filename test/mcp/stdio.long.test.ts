/** `quern mcp` as a client starts it, with the official client on its standard input and output. */

import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { bundledPrograms } from "../programs.ts";
import { callTool, type ToolAnswer } from "./connected.ts";
import { SHORT_LIVED } from "../short-lived.ts";
import { someOf } from "../runs.ts";

const [command] = await bundledPrograms(["src/cli/bin.ts"]);

const started = (
  paths: readonly string[],
  era = "2026",
  db = join(temporaryFolder(), "index"),
): Promise<Client> => startedIn(process.cwd(), [...paths, "--db", db], era);

async function startedIn(cwd: string, argv: readonly string[], era = "2026"): Promise<Client> {
  const options = era === "2026" ? { versionNegotiation: { mode: "auto" as const } } : {};
  const client = new Client({ name: "test", version: "1" }, options);
  const args = [...SHORT_LIVED, command!, "mcp", ...argv];
  const server = { command: process.execPath, args, cwd, stderr: "ignore" as const };
  await client.connect(new StdioClientTransport(server));
  onTestFinished(() => client.close());
  return client;
}

/** Repeats a call until the answer no longer says that something is being read or is not indexed yet. */
async function whenRead(client: Client, name: string, args: object): Promise<ToolAnswer> {
  for (;;) {
    const answer = await callTool(client, name, { ...args });
    if (!/still being indexed|not indexed yet/.test(answer.text)) return answer;
    expect(answer.facts.complete).toBe(false);
    await sleep(20); // each question takes processor time from the indexing
  }
}

function shop(): { folder: string; git: (...args: string[]) => void } {
  const folder = join(temporaryFolder(), "shop");
  mkdirSync(join(folder, "src"), { recursive: true });
  const git = (...args: string[]) =>
    void execFileSync("git", [
      "-C",
      folder,
      "-c",
      "user.name=Ada",
      "-c",
      "user.email=a@b.c",
      ...args,
    ]);
  git("init", "-q", "-b", "main");
  writeFileSync(join(folder, "src/cart.ts"), "export function totalOf() {\n  return 1;\n}\n");
  git("add", ".");
  git("commit", "-qm", "Begin the shop");
  return { folder, git };
}

test("servers started in / keep their indexes in their paths, where git does not see them", async () => {
  const [one, other] = [shop(), shop()];
  writeFileSync(join(other.folder, "src/cart.ts"), "export const needle = 1;\n");
  for (const { folder } of [one, other]) {
    const client = await startedIn("/", [folder]);
    const { facts } = await whenRead(client, "search", { query: "needle or totalOf" });
    expect(facts.matches).toBe(1);
    const seen = execFileSync("git", ["-C", folder, "status", "--porcelain"], { encoding: "utf8" });
    expect(seen).toBe(folder === one.folder ? "" : " M src/cart.ts\n");
  }
});

test.each(someOf(["2025", "2026"], 2))(
  "era %s: what is on the disk is in the next answer",
  async (era) => {
    const { folder } = shop();
    const client = await started([folder], era);
    const first = await whenRead(client, "definitions", { symbol: "totalOf" });
    expect(first.text).toContain("shop:src/cart.ts:1 function totalOf");
    const found = async (query: string) =>
      (await callTool(client, "search", { query })).facts.matches;
    for (let i = 0; i < 5; i++) {
      writeFileSync(join(folder, "src/new.ts"), `export const needle${i} = ${i};\n`);
      expect(await found(`needle${i}`)).toBe(1);
      expect(await found(`needle${i - 1}`)).toBe(0);
    }
    // while the index catches up, symbols follow the content, and the answer says so
    const defined = async () => (await callTool(client, "definitions", { symbol: "needle4" })).text;
    await expect.poll(defined).toContain("shop:src/new.ts:1 constant");
    const body = await callTool(client, "read", { file: "src/new.ts" });
    expect(body.text).toContain("1: export const needle4 = 4;");
    renameSync(join(folder, "src/new.ts"), join(folder, "src/moved.ts"));
    const tree = await callTool(client, "tree", { repository: "shop" });
    expect(tree.text).toContain("moved.ts");
    expect(tree.text).not.toContain("new.ts");
    rmSync(join(folder, "src/moved.ts"));
    expect(await found("needle4")).toBe(0);
    const log = await callTool(client, "history", {});
    expect(log.text).toMatch(/Ada: Begin the shop/);
  },
);

test("uncommitted lines are reported in blame", async () => {
  const { folder } = shop();
  const client = await started([folder]);
  await whenRead(client, "repositories", {});
  const asked = { path: "src/cart.ts", blame: "1" };
  const clean = await callTool(client, "history", asked);
  writeFileSync(join(folder, "src/cart.ts"), "// new\nexport function totalOf() {}\n");
  const edited = await callTool(client, "history", asked);
  const WORDS = "The file differs from what was committed";
  expect(clean.text).not.toContain(WORDS);
  expect(edited.text).toContain(WORDS);
});

test("a bare repository says that only its commits are searched", async () => {
  const { folder } = shop();
  const bare = join(temporaryFolder(), "shop.git");
  execFileSync("git", ["clone", "-q", "--bare", folder, bare]);
  const client = await started([bare]);
  const { text } = await whenRead(client, "search", { query: "totalOf" });
  expect(text).toMatch(/only commits are searched \(main\)/);
  expect(text).toContain("1: export function totalOf()");
});

test("a missing path is reported in the answers", async () => {
  const client = await started([join(temporaryFolder(), "nowhere")]);
  const { text, facts } = await whenRead(client, "search", { query: "x" });
  expect(text).toMatch(/INCOMPLETE: .*nowhere could not be indexed: .*nowhere does not exist/);
  expect(facts.complete).toBe(false);
});

test("without paths, a missing index is an error", async () => {
  await expect(started([])).rejects.toThrow();
});

test("a path that waits for another writing process is reported", async () => {
  const { folder } = shop();
  const db = join(temporaryFolder(), "index");
  const other = await open(db, { workers: 0 });
  let end = () => {};
  const begun = new Promise<void>((resolve) => {
    const blocked: Source = {
      ...documents({ name: "acme/other", files: [] }),
      open: () =>
        new Promise((_, reject) => {
          end = () => reject(new Error("ended"));
          resolve();
        }),
    };
    void other.index(blocked).catch(() => undefined);
  });
  await begun;
  const client = await started([folder], "2026", db);
  const found = async () => callTool(client, "search", { query: "totalOf" });
  const waits =
    /INCOMPLETE: another process writes the index, and .*shop waits for it: none of its/;
  await expect.poll(async () => (await found()).text).toMatch(waits);
  expect((await found()).facts.complete).toBe(false);
  end();
  await other.close();
  await expect
    .poll(async () => (await found()).facts)
    .toMatchObject({ matches: 1, complete: true });
});
