/** Tests where a command looks for its index, and what it leaves behind. */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { pathWithin } from "../../src/base/paths.ts";
import { findDataDirectory, findDirectoryOfPaths } from "../../src/cli/data-directory.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { git as run } from "../ingest/listing.ts";
import { quern } from "./terminal.ts";

const home = process.cwd();
afterEach(() => process.chdir(home));

/** Makes a folder with a file to find, and makes it the current folder. */
function project(): string {
  const root = temporaryFolder();
  mkdirSync(join(root, "src/deep"), { recursive: true });
  writeFileSync(join(root, "src/a.txt"), "needle\n");
  process.chdir(root);
  return root;
}

test.each<[from: string, made: string[], found: string]>([
  [".", [], "./.quern"],
  [".", [".quern"], ".quern"],
  ["src/deep", [".quern"], "../../.quern"],
  ["src/deep", [".quern", "src/.quern"], "../.quern"],
])("from %j with %j, the data directory is %j", (from, made, found) => {
  const root = project();
  for (const folder of made) mkdirSync(join(root, folder));
  expect(findDataDirectory({}, undefined, join(root, from))).toBe(found);
});

describe("the index of a server that follows paths", () => {
  const cacheOf = (root: string): Record<string, string> =>
    process.platform === "win32"
      ? { LOCALAPPDATA: join(root, "cache") }
      : { XDG_CACHE_HOME: join(root, "cache") };

  test("is in its only path, from whatever folder it is started", () => {
    const root = project();
    process.chdir("/");
    expect(findDirectoryOfPaths([join(root, "src")], {})).toBe(join(root, "src/.quern"));
    expect(findDirectoryOfPaths([join(root, "src")], { QUERN_DB: "own" })).toBe("own");
    expect(findDirectoryOfPaths([join(root, "src")], {}, () => "configured")).toBe("configured");
  });

  test("is in the cache for several paths, and only the same paths share it", () => {
    const root = project();
    const env = cacheOf(root);
    const both = findDirectoryOfPaths(["src", root], env);
    expect(pathWithin(join(root, "cache"), both)).toBeDefined();
    expect(findDirectoryOfPaths([root, join(root, "src")], env)).toBe(both);
    expect(findDirectoryOfPaths([root, "src/deep"], env)).not.toBe(both);
  });

  test("is in the cache if nothing can be written to the path", () => {
    const root = project();
    writeFileSync(join(root, "src/.quern"), "");
    const found = findDirectoryOfPaths(["src"], cacheOf(root));
    expect(pathWithin(join(root, "cache"), found)).toBeDefined();
    expect(findDirectoryOfPaths(["nowhere"], cacheOf(root))).not.toBe(found);
  });

  test.runIf(process.platform === "linux")("is in the home directory without other rules", () => {
    project();
    const home = findDirectoryOfPaths(["src", "src/deep"], { HOME: "/home/ada" });
    expect(home).toMatch(/^\/home\/ada\/\.cache\/quern\/mcp-[0-9a-f]{32}$/);
  });

  test.skipIf(process.platform === "win32")("is not a symlink in somebody else's folder", () => {
    const root = project();
    symlinkSync(temporaryFolder(), join(root, "src/.quern"));
    expect(() => findDirectoryOfPaths(["src"], {})).toThrow(/is a symlink, .* type --db/);
  });
});

test("a file named .quern is not a data directory", () => {
  const root = project();
  mkdirSync(join(root, ".quern"));
  writeFileSync(join(root, "src/.quern"), "");
  expect(findDataDirectory({}, undefined, join(root, "src"))).toBe("../.quern");
});

test
  .skipIf(process.platform === "win32")
  .each<[what: string, make: (root: string, outside: string) => void]>([
    [".quern", (root, outside) => symlinkSync(outside, join(root, ".quern"))],
    [
      ".quern/quern.mdb-lock",
      (root, outside) => {
        mkdirSync(join(root, ".quern"));
        symlinkSync(join(outside, "file"), join(root, ".quern/quern.mdb-lock"));
      },
    ],
    [
      "data",
      (root, outside) => {
        symlinkSync(outside, join(root, "data"));
        writeFileSync(join(root, "quern.json"), `{ "db": "data" }`);
      },
    ],
    [
      "data, with a target that does not exist,",
      (root, outside) => {
        symlinkSync(join(outside, "new"), join(root, "data"));
        writeFileSync(join(root, "quern.json"), `{ "db": "data" }`);
      },
    ],
  ])("if %s is a link, nothing is written to its target", async (what, make) => {
  const root = project();
  const outside = temporaryFolder();
  writeFileSync(join(outside, "file"), "text");
  make(root, outside);
  for (const argv of [["index", "src"], ["search", "needle"], ["compact"]]) {
    const { code, stderr } = await quern(argv);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      what.startsWith("data") ? /db must be inside the folder/ : /is a symlink, .* type --db/,
    );
  }
  expect(readdirSync(outside)).toEqual(["file"]);
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("text");
  if (what === ".quern/quern.mdb-lock") return;
  expect(await quern(["index", "src", "--db", join(outside, "own")])).toMatchObject({ code: 0 });
});

test("QUERN_DB names the data directory, and --db overrides it", async () => {
  const root = project();
  const env = { QUERN_DB: join(root, "by-env") };
  expect(await quern(["index", "src"], { env })).toMatchObject({ code: 0 });
  expect(await quern(["search", "needle"], { env })).toMatchObject({ code: 0 });
  expect(existsSync(join(root, ".quern"))).toBe(false);
  expect(await quern(["search", "needle", "--db", "elsewhere"], { env })).toMatchObject({
    code: 2,
  });
});

test("an index is found and extended from a folder below", async () => {
  const root = project();
  expect(await quern(["index", "src"])).toMatchObject({ code: 0 });
  process.chdir(join(root, "src/deep"));
  expect(await quern(["search", "-c", "needle"])).toMatchObject({ code: 0, stdout: "1\n" });
  await quern(["index", ".."]);
  expect(existsSync(".quern")).toBe(false);
});

test("git and index runs ignore a new data directory", async () => {
  const root = project();
  await quern(["index", "."]);
  expect(readFileSync(join(root, ".quern/.gitignore"), "utf8")).toBe("*\n");
  expect(JSON.parse((await quern(["index", ".", "--json"])).stdout)).toMatchObject([{ added: 0 }]);
  run(root, "init", "-q");
  expect(run(root, "status", "--porcelain")).toBe("?? src/");
});

test.each<[string, string[]]>([
  ["a missing path", ["nowhere"]],
  ["an invalid name", ["src", "src/deep", "--name", "{parent}-x", "--name", "x{remote}{nope}"]],
  ["a missing revision", ["repository", "--rev", "nope"]],
  ["a source that fails", ["src", "--max-file-size", "0"]],
])("a run that fails because of %s leaves no directory behind", async (_, argv) => {
  const root = project();
  mkdirSync(join(root, "repository"));
  run(join(root, "repository"), "init", "-q");
  const db = join(root, "new/index");
  expect(await quern(["index", ...argv, "--db", db])).toMatchObject({ code: 2 });
  expect(existsSync(join(root, "new"))).toBe(false);
});

test("a failed run keeps an existing directory and its published content", async () => {
  const root = project();
  await quern(["index", "src"]);
  expect(await quern(["index", "src", "--max-file-size", "0"])).toMatchObject({ code: 2 });
  expect(await quern(["search", "needle"])).toMatchObject({ code: 0 });
  mkdirSync(join(root, "empty"));
  await quern(["index", "src", "--max-file-size", "0", "--db", "empty"]);
  expect(existsSync(join(root, "empty"))).toBe(true);
});

test("a search without an index says how to make one", async () => {
  project();
  const { code, stderr } = await quern(["search", "needle"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^quern: INDEX_NOT_FOUND: .*\.quern.*\n {2}quern index PATH makes an index/,
  );
});

test("with --wait, a command that writes waits for another one", async () => {
  project();
  await quern(["index", "src"]);
  const environment = openEnvironment(".quern", { readOnly: false });
  const lease = await acquireLease(environment, { timeoutMs: 0 });
  const locked = await quern(["index", "src"]);
  expect(locked).toMatchObject({ code: 2 });
  expect(locked.stderr).toMatch(/^quern: INDEX_LOCKED: process \d+ is writing .*--wait/);
  const waiting = quern(["index", "src", "--wait", "60000"]);
  await new Promise((done) => setTimeout(done, 50)); // long enough for the command to find that the lease is held
  await lease.release();
  await environment.close();
  expect(await waiting).toMatchObject({ code: 0 });
});
