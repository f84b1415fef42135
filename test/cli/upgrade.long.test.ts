/** `quern upgrade` indexes anew what an index of another format version contains, and loses nothing before. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { documents, open } from "../../src/index.ts";
import { engineKey, FORMAT_VERSION } from "../../src/store/format/format.ts";
import { openUnderLock } from "../../src/store/lmdb/environment.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { quern } from "./terminal.ts";

const OLD = FORMAT_VERSION - 1;
let root: string;
let db: string;
const at = (...argv: string[]) => quern([...argv, "--db", db]);

/** Gives the index another format version. */
async function makeOld(version = OLD): Promise<void> {
  const environment = await openUnderLock(db, { readOnly: false });
  const value = Buffer.alloc(4);
  value.writeUInt32LE(version);
  await environment.write((writer) => writer.put(engineKey("format"), value));
  await environment.close();
}

beforeEach(async () => {
  root = temporaryFolder();
  db = join(root, "db");
  for (const name of ["notes", "shop"]) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "a.txt"), `needle of ${name}\n`);
  }
  const git = (...args: string[]) => execFileSync("git", ["-C", join(root, "shop"), ...args]);
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first");
  git("branch", "next");
  writeFileSync(join(root, "shop", "b.txt"), "needle, not committed\n");
  await at("index", join(root, "notes"), "--public");
  await at("index", join(root, "shop"), "--rev", "main", "--rev", "next", "--history");
  await at("users", "add", "ada");
  expect(await at("keys", "create", "--owner", "ada")).toMatchObject({ code: 0 });
});

/** The repositories of the index, without times and ids. */
async function contents() {
  await using engine = await open(db, { workers: 0, readOnly: true });
  const repositories = await engine.repositories();
  const { files } = await engine.search({ query: "needle", matches: 50 });
  return {
    repositories: repositories.map(({ name, revisions, public: isPublic, history }) => [
      name,
      revisions.map((revision) => revision.name),
      isPublic,
      history,
    ]),
    found: files.map(({ repository, fileName }) => [repository, fileName.text]),
  };
}

test("the same folders are indexed anew, with their options, and keys stay", async () => {
  const before = await contents();
  expect(before.found).toHaveLength(2);
  await makeOld();
  const refused = await at("search", "needle");
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/INDEX_VERSION: .* version 8, .*: run quern upgrade/),
  ]);
  const { code, stdout } = await at("upgrade");
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(
      /^format version 8 became 9: 2 repositories indexed again, [\d.]+ m?s\n$/,
    ),
  ]);
  expect(await contents()).toEqual(before);
  expect(readdirSync(db).filter((name) => name.startsWith(".format"))).toEqual([]);
  expect(JSON.parse((await at("keys", "list", "--json")).stdout)).toHaveLength(1);
  expect(await at("upgrade")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/has format version 9 already\n$/),
  });
});

test("what cannot be indexed is named, and the old index stays until it can", async () => {
  {
    await using engine = await open(db, { workers: 0 });
    await engine.index(documents({ name: "host", files: [{ path: "a", content: "a" }] }));
  }
  rmSync(join(root, "notes"), { recursive: true });
  await makeOld();
  const { code, stdout } = await at("upgrade");
  expect(code).toBe(1);
  expect(stdout).toContain(`not indexed: notes: ${join(root, "notes")} no longer exists\n`);
  expect(stdout).toContain("not indexed: host: its host passed the files");
  expect(stdout).toContain(`the old index is kept in ${join(db, `.format-${OLD}`)}`);
  expect((await contents()).found).toHaveLength(1);

  mkdirSync(join(root, "notes"));
  writeFileSync(join(root, "notes", "a.txt"), "needle again\n");
  const again = JSON.parse((await at("upgrade", "--json")).stdout) as Record<string, unknown>;
  expect(again).toMatchObject({ from: OLD, to: FORMAT_VERSION, left: [{ repository: "host" }] });
  expect((await contents()).found).toHaveLength(2);
});

test("a move that was interrupted continues", async () => {
  const before = await contents();
  await makeOld();
  mkdirSync(join(db, `.format-${OLD}`, "text"), { recursive: true });
  expect(await at("upgrade")).toMatchObject({ code: 0 });
  expect(await contents()).toEqual(before);
});

test("repositories of quern sync are left to it", async () => {
  const clone = join(db, ".sync", "shop.git");
  execFileSync("git", ["clone", "-q", "--bare", join(root, "shop"), clone]);
  await at("index", clone, "--name", "synced");
  await makeOld();
  expect(await at("upgrade")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("quern sync indexes 1 repository again: run it\n"),
  });
  expect((await contents()).repositories.map(([name]) => name)).not.toContain("synced");
});

test("a newer version and a missing index are refused, and nothing is moved", async () => {
  await makeOld(FORMAT_VERSION + 1);
  const newer = await at("upgrade");
  expect([newer.code, newer.stderr]).toEqual([
    2,
    expect.stringMatching(/INDEX_VERSION: .*newer than version 9 of this quern/),
  ]);
  expect(existsSync(join(db, "quern.mdb"))).toBe(true);
  const missing = await quern(["upgrade", "--db", join(root, "none")]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/INDEX_NOT_FOUND/)]);
  expect(existsSync(join(root, "none"))).toBe(false);
});
