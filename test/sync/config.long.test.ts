/**
 * Tests which configuration files are accepted, how others are rejected, and that the published schema agrees.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { expect, onTestFinished, test } from "vitest";
import { readSyncConfig, syncConfigSchema, type SyncConfig } from "../../src/sync/index.ts";

function written(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "quern-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "quern.json"), text);
  return join(folder, "quern.json");
}

const agrees = new Ajv({ strict: false }).compile(syncConfigSchema());

async function complaint(text: string): Promise<string> {
  const file = written(text);
  try {
    await readSyncConfig(file);
    return "taken";
  } catch (error) {
    return (error as Error).message.replace(file, "FILE");
  }
}

const withConnection = (connection: string): string => `{ "connections": { "a": ${connection} } }`;
const github = (more: string): string =>
  withConnection(`{ "type": "github", "orgs": ["acme"]${more === "" ? "" : `, ${more}`} }`);

test.each([
  [github(""), "taken"],
  [`\uFEFF${github("")}`, "taken"],
  [`// all of it\n{ "connections": { /* none */ }, }`, "taken"],
  [github(`"token": { "env": "GITHUB_TOKEN" }, "name": "{name}", "tags": ["v*"]`), "taken"],
  [
    withConnection(`{ "type": "git", "urls": ["git@host.example:a/b.git", "ssh://git@h/a"] }`),
    "taken",
  ],
  [withConnection(`{ "type": "git", "urls": ["file:///srv/a.git"] }`), "taken"],
  [withConnection(`{ "type": "gerrit", "url": "https://g.example" }`), "taken"],
  [withConnection(`{ "type": "gitlab", "all": true }`), "taken"],

  ["{", "FILE is not JSON with comments: CloseBraceExpected at line 1, column 2"],
  [
    `{\n  "connections": {}\n  "sync": {}\n}`,
    "FILE is not JSON with comments: CommaExpected at line 3, column 3",
  ],
  ["", "FILE is not JSON with comments: ValueExpected at line 1, column 1"],
  ["[]", "FILE: the configuration must be an object"],
  ["{}", "FILE: connections is missing"],
  [
    `{ "conections": {} }`,
    `FILE: connections is missing; the configuration: unknown field "conections"; did you mean connections?`,
  ],
  [
    `{ "connections": { "a b": { "type": "git", "urls": ["https://h/a"] } } }`,
    "FILE: connections.a b: a name must be up to 64 letters, digits, dots, dashes, underscores",
  ],
  [
    withConnection("{}"),
    "FILE: connections.a.type is missing; it must be one of github, gitlab, gitea, bitbucket, azuredevops, gerrit, git, folder",
  ],
  [
    withConnection(`{ "type": "svn" }`),
    "FILE: connections.a.type must be one of github, gitlab, gitea, bitbucket, azuredevops, gerrit, git, folder",
  ],
  [
    withConnection(`{ "type": "github" }`),
    "FILE: connections.a: must have at least one entry in orgs, users, repos",
  ],
  [
    withConnection(`{ "type": "gitlab", "groups": [] }`),
    "FILE: connections.a: must have at least one entry in users, groups, repos, or all: true",
  ],
  [withConnection(`{ "type": "gitea", "orgs": ["a"] }`), "FILE: connections.a.url is missing"],
  [github(`"exlude": {}`), `FILE: connections.a: unknown field "exlude"; did you mean exclude?`],
  [github(`"depth": 2`), `FILE: connections.a: unknown field "depth", which belongs elsewhere`],
  [
    github(`"token": "ghp_secret"`),
    'FILE: connections.a.token: must be { "env": "NAME" }, with the name of an environment variable; the secret itself must not be in the file',
  ],
  [
    github(`"token": { "env": "ghp_secret" }`),
    "FILE: connections.a.token.env: must be the name of an environment variable; the secret itself must not be in the file",
  ],
  [
    github(`"token": { "env": "github_pat_11A" }`),
    "FILE: connections.a.token.env: must be the name of an environment variable; the secret itself must not be in the file",
  ],
  [github(`"token": { "env": "GHP_TOKEN" }`), "taken"],
  [
    github(`"token": { "env": "ghp-secret" }`),
    "FILE: connections.a.token.env: must be the name of an environment variable; the secret itself must not be in the file",
  ],
  [
    github(`"url": "https://ada:secret@github.com"`),
    "FILE: connections.a.url: must be an http or https address without user name, password, query or fragment",
  ],
  [
    github(`"url": "ftp://github.com"`),
    "FILE: connections.a.url: must be an http or https address without user name, password, query or fragment",
  ],
  [github(`"repos": ["shop"]`), "FILE: connections.a.repos.0: must look like 'acme/shop'"],
  [github(`"repos": ["../shop"]`), "FILE: connections.a.repos.0: must look like 'acme/shop'"],
  [
    github(`"name": "shop"`),
    "FILE: connections.a.name: must contain {path} or {name}, and no other braces except {host}",
  ],
  [
    github(`"name": "{path}{owner}"`),
    "FILE: connections.a.name: must contain {path} or {name}, and no other braces except {host}",
  ],
  [
    withConnection(`{ "type": "git", "urls": ["ext::sh -c x"] }`),
    "FILE: connections.a.urls.0: must be an address that git can fetch from, without a password in it",
  ],
  [
    withConnection(`{ "type": "git", "urls": ["--upload-pack=x"] }`),
    "FILE: connections.a.urls.0: must be an address that git can fetch from, without a password in it",
  ],
  [
    withConnection(`{ "type": "git", "urls": ["https://ada:secret@h/a"] }`),
    "FILE: connections.a.urls.0: must be an address that git can fetch from, without a password in it",
  ],
  [
    withConnection(`{ "type": "gerrit", "url": "https://g", "token": { "env": "T" } }`),
    "FILE: connections.a: a token of Gerrit needs a username",
  ],
  [
    `{ "connections": {}, "sync": { "every": "10", "parallel": 0 } }`,
    "FILE: sync.every: must be a number with s, m, h or d, such as '10m'; sync.parallel: must be from 1 to 64",
  ],
  [
    `{ "connections": {}, "sync": { "parallel": 1.5 } }`,
    "FILE: sync.parallel must be a whole number",
  ],
  [
    `{ "connections": {}, "command": { "search": { "limit": { "env": "X" } } } }`,
    "FILE: command.search.limit: must be a string, a number, true, false, or a list of strings and numbers",
  ],
  [`{ "connections": {}, "sync": { "every": "0s" } }`, "FILE: sync.every: must be more than 0"],
])("the configuration is accepted or rejected with a clear message: %s", async (text, expected) => {
  expect(await complaint(text)).toBe(expected);
});

const MEGABYTE = 1 << 20;
const each = (count: number, of: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => of(i)).join();

test.each<[what: string, text: string, told: RegExp]>([
  ["nested lists", "[".repeat(MEGABYTE), /: lists and objects are nested too deeply$/],
  ["nested objects", '{"a":'.repeat(MEGABYTE / 5), /: lists and objects are nested too/],
  ["comments that never end", "/*".repeat(MEGABYTE / 2), /InvalidSymbol at line 1, column 6$/],
  [
    "connections",
    `{"connections":{${each(9_000, (i) => `"c${i}":{"type":"git","urls":["https://h/${i}"]}`)}}}`,
    /^taken$/,
  ],
  [
    "unknown kinds",
    `{"connections":{${each(30_000, (i) => `"c${i}":{"type":"x"}`)}}}`,
    /; and 29980 more$/,
  ],
  [
    "unknown fields",
    `{"connections":{},${each(60_000, (i) => `"conectio${i}":1`)}}`,
    /; and 59980 more$/,
  ],
  [
    "invalid addresses",
    withConnection(`{ "type": "git", "urls": [${each(60_000, (i) => `"-x${i}"`)}] }`),
    /; and 59980 more$/,
  ],
  ["one name", `{"connections":{"${"a".repeat(MEGABYTE)}":{}}}`, /^FILE: connections\.a{100}…/],
  ["one field", `{"connections":{},"${"a".repeat(MEGABYTE)}":1}`, /unknown field "a{100}…"$/],
  ["a template", github(`"name": "${"{path}".repeat(MEGABYTE / 6)}"`), /^taken$/],
  ["patterns", github(`"tags": ["${"**/".repeat(MEGABYTE / 3)}"]`), /^taken$/],
])("a megabyte of %s is read quickly", async (_, text, told) => {
  const before = process.cpuUsage();
  const message = await complaint(text);
  const { user, system } = process.cpuUsage(before);
  expect(message).toMatch(told);
  expect(message.length).toBeLessThan(4_000);
  expect((user + system) / 1_000).toBeLessThan(1_500); // ms; without a limit, unknown fields took 2 600
});

test("a missing file is reported", async () => {
  await expect(readSyncConfig("/nowhere/quern.json")).rejects.toMatchObject({
    code: "SOURCE_NOT_FOUND",
    message: "there is no file /nowhere/quern.json; give the configuration's path",
  });
});

test("a folder's path is relative to the folder of the file", async () => {
  const file = written(withConnection(`{ "type": "folder", "path": "clones" }`));
  const { connections } = await readSyncConfig(file);
  expect(connections["a"]).toMatchObject({ path: join(file, "../clones") });
});

const PAGE = readFileSync("docs/sync.md", "utf8");
const examples = [...PAGE.matchAll(/^```jsonc\n(.*?)^```$/gms)].map(([, text]) => text!);

test.each(examples)(
  "an example of docs/sync.md is accepted, and also by the schema: %s",
  async (text) => {
    const config: SyncConfig = await readSyncConfig(written(text));
    expect(agrees(config), JSON.stringify(agrees.errors)).toBe(true);
  },
);

test.each([
  [{ connections: { a: { type: "github", orgs: ["acme"], token: "ghp" } } }],
  [{ connections: { a: { type: "github", orgs: ["acme"], exlude: {} } } }],
  [{ connections: { a: { type: "svn" } } }],
  [{ connections: { "a b": { type: "git", urls: ["https://h/a"] } } }],
  [{}],
])("the schema rejects %j", (config) => {
  expect(agrees(config)).toBe(false);
});
