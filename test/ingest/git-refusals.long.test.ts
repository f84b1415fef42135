import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../../src/ingest/sources/git.ts";
import { git as run, read, readLines, repository, tempFolder } from "./listing.ts";

const isWindows = process.platform === "win32";

const message = (pattern: RegExp) => expect.stringMatching(pattern) as string;

test.each<[string, () => string, string, RegExp]>([
  [
    "a path that does not exist",
    () => join(tempFolder(), "no"),
    "SOURCE_NOT_FOUND",
    /there is no folder .*check the path/,
  ],
  ["a plain folder", () => tempFolder({ a: "" }), "NOT_A_GIT_REPOSITORY", /directory\(\)/],
  ["a file", () => join(tempFolder({ a: "" }), "a"), "NOT_A_GIT_REPOSITORY", /is a file/],
  [
    "a folder inside a repository",
    () => join(repository({ "x/a": "" }), "x"),
    "NOT_A_GIT_REPOSITORY",
    /top folder/,
  ],
])("%s is rejected", async (_, make, code, text) => {
  await expect(read(git(make()))).rejects.toMatchObject({ code, message: message(text) });
});

test.each([
  "nope",
  "--output=x",
  "-h",
  "--",
  "main^{tree}",
  "main:a",
  "@{u}",
  "HEAD~1",
  "1".repeat(40),
])("there is no revision %j", async (name) => {
  const folder = repository({ a: "" });
  await expect(read(git(folder, { revisions: ["main", name] }))).rejects.toMatchObject({
    code: "REVISION_NOT_FOUND",
    message: expect.stringContaining(`commit ${JSON.stringify(name)}; git branch`) as string,
  });
});

test("a repository without a commit is REVISION_NOT_FOUND", async () => {
  const folder = tempFolder();
  run(folder, "init", "-q", "-b", "trunk");
  await expect(read(git(folder))).rejects.toMatchObject({
    code: "REVISION_NOT_FOUND",
    message: message(/has no commit on "trunk"/),
  });
});

test.each<[what: string, damage: (object: string, bytes: Buffer) => void]>([
  ["missing", () => {}],
  ["empty", (object) => writeFileSync(object, "")],
  ["cut off", (object, bytes) => writeFileSync(object, bytes.subarray(0, 40))],
  ["no object", (object) => writeFileSync(object, "what is this")],
])("a commit that is %s is SOURCE_UNREADABLE", async (_, damage) => {
  const folder = repository({ a: "1" });
  run(folder, "tag", "-a", "-m", "t", "v1");
  run(folder, "tag", "of-a-tree", "HEAD^{tree}");
  const id = run(folder, "rev-parse", "HEAD");
  const object = join(folder, ".git/objects", id.slice(0, 2), id.slice(2));
  const bytes = readFileSync(object);
  rmSync(object);
  damage(object, bytes);
  for (const revisions of [undefined, ["main"], ["v1"], ["HEAD"]])
    await expect(read(git(folder, revisions && { revisions }))).rejects.toMatchObject({
      code: "SOURCE_UNREADABLE",
      message: `the commit of "${revisions?.[0] ?? "main"}" in the repository ${folder} is damaged or missing; run git fsck for details`,
    });
  await expect(read(git(folder, { revisions: ["of-a-tree"] }))).rejects.toMatchObject({
    code: "REVISION_NOT_FOUND",
  });
});

test.each<[unknown, RegExp]>([
  [[], /at least one name/],
  ["main", /must be an array/],
  [["a", ""], /revisions\[1\] must be the name/],
  [["a\nb"], /revisions\[0\] must be the name of .* not "a\\nb"/],
  [["a\0"], /revisions\[0\]/],
  [[7], /revisions\[0\] .* not 7/],
  [["a".repeat(513)], /revisions\[0\]/],
  [["a", "b", "a"], /revisions names "a" twice/],
])("revisions %j are rejected", (revisions, text) => {
  expect(() => git(".", { revisions: revisions as string[] })).toThrow(text);
});

test("a folder whose name begins with '-' is treated only as a folder", async () => {
  const folder = join(tempFolder(), "--upload-pack=x");
  renameSync(repository({ "-a": "1", "--b/c": "2" }), folder);
  expect(await readLines(git(folder))).toEqual(['--b/c @0 "2"', '-a @0 "1"']);
});

test.skipIf(isWindows)("no git command is GIT_MISSING", async () => {
  const folder = repository({});
  const path = process.env["PATH"];
  process.env["PATH"] = tempFolder();
  try {
    await expect(read(git(folder))).rejects.toMatchObject({
      code: "GIT_MISSING",
      message: message(/install git/),
    });
  } finally {
    process.env["PATH"] = path;
  }
});

test("the caller's environment variables about other repositories are ignored", async () => {
  const folder = repository({ a: "1" });
  process.env["GIT_DIR"] = join(repository({ b: "2" }), ".git");
  process.env["GIT_INDEX_FILE"] = "/nowhere";
  try {
    expect(await readLines(git(folder))).toEqual(['a @0 "1"']);
  } finally {
    delete process.env["GIT_DIR"];
    delete process.env["GIT_INDEX_FILE"];
  }
});

test.skipIf(isWindows || process.getuid?.() !== 0)(
  "a repository of another user is SOURCE_UNREADABLE",
  async () => {
    const folder = repository({ a: "1" });
    run(folder, "-c", "alias.give=!chown -R 12345 .", "give");
    await expect(read(git(folder))).rejects.toMatchObject({
      code: "SOURCE_UNREADABLE",
      message: message(/safe.directory/),
    });
  },
);

test("an aborted signal ends the listing, before and in the middle", async () => {
  const folder = repository(
    Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, `${i}`])),
  );
  await expect(read(git(folder), { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "ABORTED",
  });
  const controller = new AbortController();
  const listing = await git(folder).open(
    { revisions: [] },
    { signal: controller.signal, maxFileSize: 1e6 },
  );
  const iterator = listing.entries()[Symbol.asyncIterator]();
  const { value } = (await iterator.next()) as {
    value: readonly { content: { read(): Promise<unknown> } }[];
  };
  const reading = value[0]!.content.read();
  controller.abort();
  await expect(reading).rejects.toMatchObject({ code: "ABORTED" });
  await expect(value[1]!.content.read()).rejects.toMatchObject({ code: "ABORTED" });
  const rest = async () => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next());
  };
  await expect(rest()).rejects.toMatchObject({ code: "ABORTED" });
  await listing.close();
});
