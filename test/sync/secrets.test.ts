/**
 * Places where a token must not appear: a process list, a file of the data directory, git's configuration, the output,
 * an error. It is searched in every form in which it is sent.
 */

import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundledPrograms } from "../programs.ts";
import { serveGitHub } from "./github-server.ts";
import { commandLines, filesWith, holds } from "./leaks.ts";
import { commit, serveRemotes } from "./remotes.ts";
import { openWorkplace } from "./workplace.ts";
import { serveHost } from "./host-servers.ts";
import { outcomes } from "./outcomes.ts";

test("a token is in no file, no process list and no output of a run", async () => {
  const remotes = await serveRemotes();
  const github = serveGitHub(remotes);
  const { folder } = await openWorkplace();
  commit(remotes.root, "acme/shop", { "a.ts": "needle\n" });
  github.repositories = [
    { id: 1, full_name: "acme/shop", private: true },
    { id: 2, full_name: "acme/lost", private: true },
  ];
  const file = join(folder, "quern.json");
  const token = { env: "GITHUB_TOKEN" };
  const work = { type: "github", url: remotes.url, orgs: ["acme", "nobody"], token };
  writeFileSync(file, JSON.stringify({ connections: { work } }));
  const seen: string[] = [];
  // git, its helper and their child processes are running during this request
  const { mayRead } = remotes;
  remotes.mayRead = (path, request) => {
    seen.push(commandLines());
    return mayRead(path, request);
  };
  const db = join(folder, "db");
  const [program] = await bundledPrograms(["src/cli/bin.ts"]);
  const args = [program!, "sync", file, "--db", db];
  const env = { ...process.env, GITHUB_TOKEN: github.token, GIT_TRACE: "0" };
  const ran = await promisify(execFile)(process.execPath, args, { env }).catch(
    (error: { stdout: string; stderr: string; code: number }) => error,
  );
  expect(ran.stdout).toBe("work: 2 repositories, 1 indexed, 1 failed\n");
  expect(ran.stderr.split("\n").length).toBe(3); // the missing organization and the missing repository
  expect(ran).toMatchObject({ code: 1 });
  expect(seen.length).toBeGreaterThan(3);
  expect(seen.some((lines) => lines.includes("git-remote-http"))).toBe(true);
  expect(seen.filter((lines) => holds(lines, github.token))).toEqual([]);
  expect(filesWith(db, github.token)).toEqual([]);
  expect(holds(ran.stdout + ran.stderr, github.token)).toBe(false);
  const config = join(db, ".sync/1/1/clone.git/config");
  expect(readFileSync(config, "utf8")).toContain(`url = ${remotes.url}/acme/shop.git`);
});

test("a host that repeats the token in its answer does not get it into an error", async () => {
  const remotes = await serveRemotes();
  const github = serveGitHub(remotes);
  const { sync } = await openWorkplace();
  github.before = ({ headers }, response) => {
    response.writeHead(422).end(JSON.stringify({ message: `bad: ${headers.authorization}\n!` }));
    return true;
  };
  const connection = { type: "github" as const, url: remotes.url, orgs: ["acme"] };
  const report = await sync({ ...connection, token: { env: "T" } }, { env: { T: github.token } });
  expect(outcomes(report)).toEqual([
    `orgs: acme: ${remotes.url}/api/v3/orgs/acme/repos returned status 422 (bad: Bearer *** !)`,
  ]);
});

test("a redirect to another host is reported, and gets no token", async () => {
  const remotes = await serveRemotes();
  const elsewhere = await serveRemotes();
  const asked: (string | undefined)[] = [];
  elsewhere.interface = ({ headers }) => (asked.push(headers.authorization), false);
  const github = serveGitHub(remotes);
  const { sync } = await openWorkplace();
  github.before = (_, response) => {
    response.writeHead(302, { location: `${elsewhere.url}/api/v3/x` }).end();
    return true;
  };
  const connection = { type: "github" as const, url: remotes.url, orgs: ["acme"] };
  const report = await sync({ ...connection, token: { env: "T" } }, { env: { T: github.token } });
  expect(outcomes(report)).toEqual([
    `orgs: acme: ${remotes.url}/api/v3/orgs/acme/repos redirects to ${elsewhere.url}/api/v3/x, where the token must not be sent; use the new address in the configuration`,
  ]);
  expect(asked).toEqual([]);
});

test("git does not follow a redirect to another host", async () => {
  const remotes = await serveRemotes();
  const elsewhere = await serveRemotes();
  const passwords: (string | undefined)[] = [];
  elsewhere.mayRead = (_, { headers }) => (passwords.push(headers.authorization), false);
  const hosted = serveHost(remotes, "gitea");
  hosted.repositories = [{ id: 1, path: "acme/shop" }];
  const { sync } = await openWorkplace();
  commit(remotes.root, "acme/shop", { "a.ts": "needle\n" });
  remotes.redirect = (path) => `${elsewhere.url}/${path}.git`;
  const connection = { type: "gitea" as const, url: remotes.url, orgs: ["acme"] };
  const report = await sync({ ...connection, token: { env: "T" } }, { env: { T: hosted.token } });
  expect(outcomes(report)).toEqual([
    expect.stringMatching(
      /^127\.0\.0\.1\/acme\/shop: failed: git ls-remote: .*; it redirects, and redirects are not followed/,
    ),
  ]);
  expect(passwords).toEqual([]);
});

test.each([
  [{}, "the connection work: the environment variable T is not set; set it to the secret"],
  [{ T: "" }, "the connection work: the environment variable T is not set; set it to the secret"],
  [
    { T: "two words" },
    "the connection work: T must contain only visible ASCII characters, without spaces",
  ],
  [
    { T: "x\ny" },
    "the connection work: T must contain only visible ASCII characters, without spaces",
  ],
])("the environment %j is rejected before any request", async (env, message) => {
  const { sync } = await openWorkplace();
  const connection = { type: "github" as const, orgs: ["acme"], token: { env: "T" } };
  await expect(sync(connection, { env })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message,
  });
});
