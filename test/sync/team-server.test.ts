/**
 * Takes the steps of docs/sync.md from an empty directory to a team's server as a reader would, with a local code host.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { SearchResponse } from "../../src/index.ts";
import { bundledPrograms } from "../programs.ts";
import { serveGitHub } from "./github-server.ts";
import { commit, serveRemotes } from "./remotes.ts";

const [, section] = /^## A team's server\n(.*?)^## /ms.exec(readFileSync("docs/sync.md", "utf8"))!;
const [, config] = /^```jsonc\n(.*?)^```$/ms.exec(section!)!;
const [, shell] = /^```sh\n(.*?)^```$/ms.exec(section!)!;
const lines = shell!.trimEnd().split("\n");

const bin = await bundledPrograms(["src/cli/bin.ts"]);
/** Returns the command of a line, without its comment, `NAME=$( )` and '&'. */
const commandOf = (line: string): string =>
  line
    .replace(/\s+#.*$/, "")
    .replace(/\s*&$/, "")
    .replace(/^\w+=\$\((.*)\)$/, "$1");
const wordsOf = (line: string): string[] =>
  [...commandOf(line).matchAll(/'[^']*'|"[^"]*"|\S+/g)].map(([word]) =>
    word.replace(/^['"]|['"]$/g, ""),
  );

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

test("five commands lead to an answer", async () => {
  expect(lines).toHaveLength(5);
  const remotes = await serveRemotes();
  const github = serveGitHub(remotes);
  commit(remotes.root, "acme/shop", { "cart.ts": "// todo: round to cents\n" });
  github.repositories = [{ id: 1, full_name: "acme/shop", private: true }];
  const folder = mkdtempSync(join(tmpdir(), "quern-readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const here = config!.replace(`"type": "github",`, `"type": "github", "url": "${remotes.url}",`);
  expect(here).not.toBe(config);
  writeFileSync(join(folder, "quern.json"), here);
  const env = { ...process.env, GITHUB_TOKEN: github.token, HOME: folder };
  const port = String(await freePort());
  const args = (line: string): string[] =>
    wordsOf(line.replaceAll("3000", port).replaceAll("~/", "")).slice(1);

  const [install, sync, keys, serve, curl] = lines as [string, string, string, string, string];
  expect(install).toMatch(/^npm install -g \/path\/to\/quern-/); // the package has its own tests
  expect(keys).toMatch(/^SECRET=\$\(/);
  expect(serve).toMatch(/&\s+#/);
  const quern = (line: string) =>
    promisify(execFile)(process.execPath, [...bin, ...args(line)], { cwd: folder, env });
  const synced = await quern(sync);
  expect(synced).toEqual({ stdout: "acme: 1 repository, 1 indexed\n", stderr: "" });
  const secret = (await quern(keys)).stdout.trim();
  expect(secret).toMatch(/^qrn_/);
  const server: ChildProcess = spawn(process.execPath, [...bin, ...args(serve)], {
    cwd: folder,
    env,
  });
  const ended = new Promise((done) => server.once("close", done));
  onTestFinished(async () => {
    server.kill();
    await ended;
  });
  const said = await new Promise<string>((done) =>
    server.stdout!.once("data", (text) => done(String(text))),
  );
  expect(said).toContain(`:${port}/`);
  const answer = await fetchAs(args(curl), secret);
  expect(answer.files.map(({ repository, fileName }) => [repository, fileName.text])).toEqual([
    ["127.0.0.1/acme/shop", "cart.ts"],
  ]);
});

/** Does what curl would do with the options -s, -H and -d. */
async function fetchAs(words: readonly string[], secret: string): Promise<SearchResponse> {
  const after = (flag: string): string => words[words.indexOf(flag) + 1]!;
  const [name, value] = after("-H").replace("$SECRET", secret).split(": ") as [string, string];
  const url = words
    .find((word) => word.startsWith("localhost:"))!
    .replace("localhost", "127.0.0.1");
  const init = { method: "POST", headers: { [name]: value }, body: after("-d") };
  const response = await fetch(`http://${url}`, init);
  return (await response.json()) as SearchResponse;
}
