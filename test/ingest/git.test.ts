import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../../src/ingest/sources/git.ts";
import type { Indexed } from "../../src/ingest/sources/source.ts";
import {
  commit,
  git as run,
  read,
  readLines,
  repository,
  tempFolder,
  writeFiles,
} from "./listing.ts";

const isWindows = process.platform === "win32";

const at = (name: string, id: string): Indexed => ({ revisions: [{ name, commit: id }] });

test("lists the branch of HEAD, in the order of paths, with object ids as versions", async () => {
  const folder = repository({ "b/x": "1", "b.c": "2", 'é"\t\\ü': "3", empty: "" });
  writeFiles(folder, { uncommitted: "x" });
  const { revisions, entries } = await read(git(folder));
  const id = run(folder, "rev-parse", "HEAD");
  expect(revisions).toEqual([
    { name: "main", commit: id, committedAt: new Date("2024-01-02T03:04:05Z") },
  ]);
  expect(entries.map((entry) => entry.kind === "file" && entry.version)).toEqual(
    entries.map((entry) => run(folder, "rev-parse", `HEAD:${entry.path}`)),
  );
  expect(await readLines(git(folder))).toEqual([
    'b.c @0 "2"',
    'b/x @0 "1"',
    'empty @0 ""',
    'é"\t\\ü @0 "3"',
  ]);
});

test.each<[string, (folder: string) => string]>([
  [
    "a bare clone",
    (folder) => (
      run(folder, "clone", "-q", "--bare", ".", "../bare.git"),
      join(folder, "../bare.git")
    ),
  ],
  [".git itself", (folder) => join(folder, ".git")],
  [
    "a linked work tree",
    (folder) => (
      run(folder, "worktree", "add", "-q", "-f", "../linked", "main"),
      join(folder, "../linked")
    ),
  ],
])("%s is a repository", async (_, make) => {
  const folder = join(tempFolder(), "r");
  mkdirSync(folder);
  renameSync(repository({ a: "1" }), folder);
  expect(await readLines(git(make(folder)))).toEqual(['a @0 "1"']);
});

test.each([
  ["/x/repo", "repo"],
  ["/x/repo.git", "repo"],
  ["/x/repo/.git", "repo"],
  ["/x/repo/", "repo"],
])("%s is named %s", (path, want) => {
  expect(git(path).name).toBe(want);
});

test("sha256", async () => {
  const folder = repository({ a: "1" }, "--object-format=sha256");
  const { revisions } = await read(git(folder));
  expect(revisions[0]!.commit).toMatch(/^[0-9a-f]{64}$/);
  expect(await readLines(git(folder))).toEqual(['a @0 "1"']);
  const next = at("main", revisions[0]!.commit!);
  commit(folder, { a: "2" });
  expect(await readLines(git(folder), { indexed: next })).toEqual(['a @0 "2"']);
});

test("several revisions are merged, with one entry for the same object under the same path", async () => {
  const folder = repository({ same: "s", changed: "1", "x/old": "o" });
  run(folder, "tag", "-a", "-m", "t", "v1");
  run(folder, "checkout", "-q", "-b", "next");
  rmSync(join(folder, "x"), { recursive: true });
  const next = commit(folder, { changed: "2", x: "file now", "y/new": "n" });
  const revisions = ["main", "next", "v1", next];
  const { revisions: listed } = await read(git(folder, { revisions }));
  expect(listed.map(({ name }) => name)).toEqual(revisions);
  expect(listed[2]!.commit).toBe(listed[0]!.commit);
  expect(await readLines(git(folder, { revisions }))).toEqual([
    'changed @0,2 "1"',
    'changed @1,3 "2"',
    'same @0,1,2,3 "s"',
    'x @1,3 "file now"',
    'x/old @0,2 "o"',
    'y/new @1,3 "n"',
  ]);
});

test("a tag is not hidden by a branch whose name ends in the tag's name", async () => {
  const folder = repository({ a: "1" });
  run(folder, "update-ref", "refs/heads/refs/heads/v1", "HEAD");
  const next = commit(folder, { a: "2" });
  run(folder, "tag", "v1");
  const { revisions } = await read(git(folder, { revisions: ["v1"] }));
  expect(revisions.map(({ commit: id }) => id)).toEqual([next]);
});

test("accepts more revisions than are merged at once", async () => {
  const folder = repository({ a: "1" });
  const revisions = Array.from({ length: 20 }, (_, i) => `b${i}`);
  for (const name of revisions) run(folder, "branch", name);
  const { entries } = await read(git(folder, { revisions }));
  expect(entries.flatMap((entry) => entry.revisions)).toEqual(revisions.map((_, i) => i));
});

test("a branch comes before a tag of the same name", async () => {
  const folder = repository({ a: "1" });
  run(folder, "tag", "main");
  const id = commit(folder, { a: "2" });
  expect((await read(git(folder))).revisions[0]).toMatchObject({ name: "main", commit: id });
});

test("a detached HEAD is called HEAD", async () => {
  const folder = repository({ a: "1" });
  run(folder, "checkout", "-q", "--detach");
  expect((await read(git(folder))).revisions[0]!.name).toBe("HEAD");
});

test("lists the changes since the indexed commit", async () => {
  const folder = repository({
    same: "s",
    changed: "1",
    gone: "g",
    moved: "m",
    mode: "x",
    "d/f": "f",
    swap: "w",
  });
  const base = run(folder, "rev-parse", "HEAD");
  for (const path of ["gone", "d", "swap"]) rmSync(join(folder, path), { recursive: true });
  renameSync(join(folder, "moved"), join(folder, "to"));
  chmodSync(join(folder, "mode"), 0o755);
  if (!isWindows) symlinkSync("same", join(folder, "swap"));
  const id = commit(folder, { changed: "2", new: "n", d: "file now", large: "x".repeat(20) });
  const options = { indexed: at("main", base), maxFileSize: 10 };
  expect((await read(git(folder), options)).revisions).toMatchObject([
    { name: "main", commit: id, base: "main" },
  ]);
  expect((await readLines(git(folder), options)).toSorted()).toEqual(
    [
      'changed @0 "2"',
      'd @0 "file now"',
      "d/f @0 removed",
      "gone @0 removed",
      "large @0 too-large",
      "moved @0 removed",
      'new @0 "n"',
      isWindows ? "swap @0 removed" : "swap @0 symlink",
      'to @0 "m"',
    ].toSorted(),
  );
});

test("the base is the same commit, otherwise the same name, and otherwise any commit that still exists", async () => {
  const folder = repository({ a: "1" });
  const first = run(folder, "rev-parse", "HEAD");
  const second = commit(folder, { a: "2" });
  const bases = async (...revisions: Indexed["revisions"]) => {
    const result = await read(git(folder), { indexed: { revisions } });
    return [result.revisions[0]!.base, result.entries.map(({ path }) => path).join()];
  };
  const lost = "1".repeat(40);
  expect(await bases({ name: "main", commit: second })).toEqual(["main", ""]);
  expect(await bases({ name: "main", commit: first }, { name: "x", commit: second })).toEqual([
    "x",
    "",
  ]);
  expect(await bases({ name: "x", commit: first }, { name: "main", commit: first })).toEqual([
    "main",
    "a",
  ]);
  expect(await bases({ name: "main", commit: lost }, { name: "x", commit: first })).toEqual([
    "x",
    "a",
  ]);
  expect(await bases({ name: "main", commit: lost })).toEqual([undefined, "a"]);
  expect(await bases({ name: "main" })).toEqual([undefined, "a"]);
  expect(await bases({ name: "main", commit: "--all" })).toEqual([undefined, "a"]);
});

test("rewritten history is also compared with the indexed commit", async () => {
  const folder = repository({ a: "1", b: "1" });
  const old = commit(folder, { a: "2" });
  run(folder, "reset", "-q", "--hard", "HEAD~1");
  commit(folder, { b: "2" });
  expect(await readLines(git(folder), { indexed: at("main", old) })).toEqual([
    'a @0 "1"',
    'b @0 "2"',
  ]);
});

test.skipIf(isWindows)(
  "symlinks, submodules, large files and invalid paths are listed",
  async () => {
    const inner = repository({ x: "1" });
    const folder = repository({ a: "1", large: "x".repeat(11) });
    symlinkSync("/etc/passwd", join(folder, "link"));
    run(folder, "submodule", "--quiet", "add", inner, "sub");
    rmSync(join(folder, ".gitmodules"));
    commit(folder);
    addRaw(folder, [Buffer.from("lat\xedn", "latin1"), Buffer.from("real\ufffd")]);
    const want = [
      'a @0 "1"',
      "large @0 too-large",
      "lat\ufffdn @0 invalid-path",
      "link @0 symlink",
      'real\ufffd @0 "1"',
      "sub @0 submodule",
    ];
    expect(await readLines(git(folder), { maxFileSize: 10 })).toEqual(want);
    const base = run(folder, "rev-parse", "HEAD~2");
    const changes = await readLines(git(folder), { maxFileSize: 10, indexed: at("main", base) });
    expect(changes).toEqual(want.slice(2));
  },
);

/** Commits the file 'a' under names of any bytes, without writing them to the disk. */
function addRaw(folder: string, names: readonly Buffer[]): void {
  const id = run(folder, "hash-object", "a");
  const lines = names.map((name) =>
    Buffer.concat([Buffer.from(`100644 ${id}\t`), name, Buffer.from([0])]),
  );
  writeFileSync(join(folder, ".git/lines"), Buffer.concat(lines));
  run(folder, "-c", "alias.add-lines=!git update-index -z --index-info < .git/lines", "add-lines");
  run(folder, "commit", "-q", "-m", "raw");
}

test("a path that leads out of the tree, as in a forged tree, is listed and not read", async () => {
  const folder = repository({ a: "1" });
  const blob = Buffer.from(run(folder, "hash-object", "a"), "hex");
  const tree = Buffer.concat([Buffer.from("100644 ..\0"), blob]);
  writeFileSync(join(folder, ".git/tree"), tree);
  const inner = run(folder, "hash-object", "--literally", "-t", "tree", "-w", ".git/tree");
  const outer = run(
    folder,
    "-c",
    `alias.forge=!printf '040000 tree ${inner}\\tup\\n' | git mktree`,
    "forge",
  );
  const id = run(folder, "commit-tree", "-m", "forged", outer);
  expect(await readLines(git(folder, { revisions: [id] }))).toEqual(["up/.. @0 invalid-path"]);
});

test("a missing object is unreadable", async () => {
  const folder = repository({ a: "1", b: "2" });
  const id = run(folder, "rev-parse", "HEAD:a");
  rmSync(join(folder, ".git/objects", id.slice(0, 2), id.slice(2)));
  expect(await readLines(git(folder))).toEqual(["a @0 unreadable", 'b @0 "2"']);
});

test("a damaged object is unreadable, and the others are read", async () => {
  const folder = repository({ a: "1".repeat(5000), b: "2", c: "3" });
  const id = run(folder, "rev-parse", "HEAD:a");
  const file = join(folder, ".git/objects", id.slice(0, 2), id.slice(2));
  chmodSync(file, 0o600);
  const { entries } = await read(git(folder));
  expect(entries.length).toBe(3);
  const listing = await git(folder).open(
    { revisions: [] },
    { signal: new AbortController().signal, maxFileSize: 1e6 },
  );
  const lines: string[] = [];
  for await (const batch of listing.entries()) {
    appendFileSync(file, "");
    writeFileSync(file, Buffer.from("damaged"));
    const reads = batch.map(async (entry) => {
      if (entry.kind !== "file" || !("read" in entry.content)) return "?";
      const { read: readContent } = entry.content;
      return Buffer.from(await readContent()).toString();
    });
    for (const result of await Promise.allSettled(reads)) {
      lines.push(
        result.status === "fulfilled" ? result.value : (result.reason as { code: string }).code,
      );
    }
  }
  await listing.close();
  expect(lines).toEqual(["SOURCE_UNREADABLE", "2", "3"]);
});
