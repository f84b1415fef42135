/** Tests the command's help, its version, and its answers to mistyped lines. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { describeError } from "../../src/cli/errors.ts";
import { damaged } from "../../src/cluster/objects/bundle.ts";
import { cannotStart } from "../../src/git/git-process.ts";
import { corrupt } from "../../src/store/format/sealed.ts";
import { translate } from "../../src/store/lmdb/failures.ts";
import { QuernError } from "../../src/base/errors.ts";
import { unreadableFolder } from "../../src/base/folder-errors.ts";
import { VERSION } from "../../src/base/version.ts";
import { quern } from "./terminal.ts";

const COMMANDS = [
  "index",
  "search",
  "find",
  "uses",
  "serve",
  "repos",
  "read",
  "explain",
  "remove",
  "check",
  "compact",
];
const KEYS = ["create", "list", "revoke"].map((name) => ["keys", name]);
const USERS = ["add", "list", "suspend", "remove"].map((name) => ["users", name]);
const ALL = [...COMMANDS.map((name) => [name]), ...KEYS, ...USERS];
const folder = mkdtempSync(join(tmpdir(), "quern-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(ALL)("%s %s has help, --db and --json", async (...names) => {
  const words = names.filter((name) => name !== undefined);
  const { code, stdout, stderr } = await quern([...words, "--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`Usage: quern ${words.join(" ")}`);
  expect(stdout).toContain("--db <dir>");
  expect(stdout).toContain("--json");
});

test("help lists every command", async () => {
  const { code, stdout } = await quern(["--help"]);
  expect(code).toBe(0);
  for (const name of [...COMMANDS, "keys", "users"])
    expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
});

test("docs/command.md names every command, and no option that does not exist", async () => {
  const page = readFileSync("docs/command.md", "utf8");
  let helps = "";
  for (const words of ALL) helps += (await quern([...words, "--help"])).stdout;
  for (const name of [...COMMANDS, "keys create", "users add"])
    expect(page).toContain(`\`quern ${name}`);
  for (const [option] of page.matchAll(/(?<=[\s`])--[a-z][\w-]*/g)) expect(helps).toContain(option);
});

test("the version is the package's", async () => {
  expect(await quern(["--version"])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
});

test.each<[string[], RegExp]>([
  [["serch", "x"], /unknown command 'serch'\n\(Did you mean search\?\)/],
  [["search"], /give a query/],
  [["search", "x", "--contxt", "3"], /unknown option '--contxt'\n\(Did you mean --context\?\)/],
  [
    ["search", "x", "--limt", "3"],
    /^quern: INVALID_REQUEST: --limt is not .*; use -m, --matches N /,
  ],
  [["serve", "--without-tool", "x"], /quern serve: --without-tool: there is no tool "x"/],
  [
    ["mcp", "--without-tool", "histroy"],
    /quern mcp: --without-tool: there is no tool "histroy"; there are search/,
  ],
  [
    ["search", "x", "--max-count=3"],
    /--max-count is not an option of quern search; use -m, --matches N /,
  ],
  [["search", "--lang", "go", "x"], /-t, --type LANGUAGE .*write -- before it/],
  [["explain", "x", "--exclude", "*.md"], /-g '!GLOB' /],
  [["search", "x", "-C", "many"], /must be a whole number/],
  [["search", "x", "-m", "-1"], /must be a whole number/],
  [["index"], /missing required argument 'path'/],
  [["index", "a", "--code-host", "sourceforge"], /must be one of github, gitlab/],
  [
    ["index", "a", "b", "--name", "x"],
    /^quern: INVALID_REQUEST: --name "x" gives 2 paths the same name/,
  ],
  [["index", "src", "--rev", "main"], /^quern: INVALID_REQUEST: --rev, .* are for git repos/],
  [["index", "README.md"], /^quern: INVALID_REQUEST: README.md is a file.*--ignore '!\/README.md'/],
  [["index", "nowhere"], /^quern: SOURCE_NOT_FOUND: .*nowhere does not exist/],
  [["index", ".", "--ignore", "x"], /^quern: INVALID_REQUEST: --ignore is for folders/],
  [["serve", "--port", "65536"], /at most 65535/],
  [["serve", "--anonymous", "some"], /must be one of public, all/],
  [["keys", "create", "--expires", "soon"], /must be a date/],
])("the arguments %j are an error", async (argv, message) => {
  const { code, stdout, stderr } = await quern(argv);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
});

test("the bare command shows its help, and is an error", async () => {
  const { code, stderr } = await quern([]);
  expect(code).toBe(2);
  expect(stderr).toContain("Usage: quern");
});

test.each<[unknown, string]>([
  [
    new QuernError("QUERY_SYNTAX", "the query is empty"),
    "quern: QUERY_SYNTAX: the query is empty\n",
  ],
  [
    new QuernError("CONTEXT_NOT_FOUND", "no x"),
    "quern: CONTEXT_NOT_FOUND: no x\n  only a host can define saved sets of repositories; use repo: or reposet:\n",
  ],
  [
    damaged("v1/seg/a"),
    "quern: INDEX_CORRUPT: the object v1/seg/a is damaged: its bytes do not match its key; restore it from a backup\n",
  ],
  [
    corrupt("it has no manifest"),
    "quern: INDEX_CORRUPT: the index is damaged: it has no manifest; run check(), then index the repositories again into a new directory; on a machine of a cluster, delete the folder, and the machine fetches everything again\n",
  ],
  [
    new TypeError("x is not a function"),
    "quern: INTERNAL: x is not a function\n  this is a bug in quern, unless a worker died\n",
  ],
  [
    Object.assign(new Error("address in use"), { code: "EADDRINUSE", syscall: "listen" }),
    "quern: EADDRINUSE: address in use\n" +
      "  another program uses this port: end it, or choose another port with --port (0 is any free one)\n",
  ],
  ["thrown text", "quern: INTERNAL: thrown text\n  this is a bug in quern, unless a worker died\n"],
])("%s is described in one message", (error, told) => expect(describeError(error)).toBe(told));

const systemError = (code: string): Error => Object.assign(new Error(`${code}: open`), { code });

test.each<[error: unknown, advice: RegExp]>([
  [cannotStart(systemError("ENOENT")), /install git/g],
  [unreadableFolder("/srv/shop", systemError("EACCES")), /permissions/g],
  [translate(systemError("ENOSPC")), /make room/g],
  [translate(systemError("EACCES")), /owner or mode|permissions/g],
  [translate(systemError("EROFS")), /readOnly|only be read/g],
  [translate(new Error("MDB_VERSION_MISMATCH")), /index again into a new directory/g],
  [translate(new Error("MDB_INVALID")), /index again into a new directory/g],
])("the message of %s says once what to do", (error, advice) => {
  expect(describeError(error).match(advice)).toHaveLength(1);
});

describe("keys", () => {
  const db = join(folder, "keyed");

  test("are made, listed and revoked", async () => {
    const made = await quern(["keys", "create", "--db", db, "--name", "laptop"]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toMatch(/^qrn_[0-9a-f]{64}\n$/);
    const json = await quern(["keys", "create", "--db", db, "--expires", "2001-02-03", "--json"]);
    const { id, secret } = JSON.parse(json.stdout) as { id: string; secret: string };
    const listed = await quern(["keys", "list", "--db", db]);
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/ valid +never used {2}laptop\n/);
    expect(listed.stdout).toContain("expired 2001-02-03");
    expect(await quern(["keys", "revoke", id, "--db", db])).toMatchObject({ code: 0, stderr: "" });
    expect(await quern(["keys", "revoke", id, "--db", db])).toMatchObject({ code: 1, stdout: "" });
    const after = await quern(["keys", "list", "--db", db, "--json"]);
    const revokedAt: unknown = expect.any(String);
    expect(JSON.parse(after.stdout)).toMatchObject([{ name: "laptop" }, { id, revokedAt }]);
    expect(listed.stdout + after.stdout).not.toContain(secret.slice(4));
    expect(after.stdout).not.toContain("hash");
  });

  test("are listed by owner", async () => {
    await quern(["keys", "create", "--db", db, "--owner", "ada"]);
    const { stdout } = await quern(["keys", "list", "--db", db, "--owner", "ada", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject([{ ownerId: "ada" }]);
    await quern(["users", "add", "ada", "--db", db]);
    const all = await quern(["keys", "list", "--db", db, "--json"]);
    const owners = (JSON.parse(all.stdout) as { ownerId: string }[]).map(({ ownerId }) => ownerId);
    expect(owners).toEqual(["local", "local", "ada"]);
    expect(await quern(["keys", "list", "--db", db, "--owner", "bob"])).toMatchObject({
      code: 1,
      stdout: "",
    });
  });

  test("are not found in a directory where none was made", async () => {
    const { code, stderr } = await quern(["keys", "list", "--db", join(folder, "nowhere")]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^quern: INDEX_NOT_FOUND: there is no key and no member in /);
  });
});

test("the error for a missing data directory says what to do", async () => {
  writeFileSync(join(folder, "file"), "");
  const argv = ["search", "x", "--db", join(folder, "none")];
  const { code, stderr } = await quern(argv);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^quern: INDEX_NOT_FOUND: .*\n {2}quern index PATH .*--db DIR/);
});
