/** Files of any revision, and repositories that have no history. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directory, documents, git as source, type History } from "../../src/index.ts";
import { openEngine } from "../engine/opened.ts";
import { git, repository } from "../ingest/listing.ts";
import { codeOf, openHistory } from "./opened.ts";

const HUGE_BYTES = 16 * 2 ** 20 + 1;

/** A link, a submodule, and files of every kind. */
function awkward(): string {
  const folder = repository({ a: "1", "big.txt": "0123456789".repeat(1000), "bin.dat": "a\0b" });
  git(folder, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},module`);
  writeFileSync(join(folder, "utf16.txt"), Buffer.from("\ufeffhallo\n", "utf16le"));
  writeFileSync(join(folder, "huge.txt"), "x".repeat(HUGE_BYTES));
  const target = git(folder, "hash-object", "-w", "--", "a");
  git(folder, "update-index", "--add", "--cacheinfo", `120000,${target},link`);
  git(folder, "add", "utf16.txt", "huge.txt");
  git(folder, "commit", "-q", "-m", "more");
  return folder;
}

async function textOf(history: History, path: string): Promise<unknown> {
  const told = await codeOf(history.read({ path }));
  return typeof told === "object" ? (told as { content: string }).content : told;
}

test("returns links, binary files, large files, submodules and UTF-16", async () => {
  const { history } = await openHistory(awkward(), { maxFileSize: 1000 });
  expect(await textOf(history, "a")).toBe("1");
  expect(await textOf(history, "link")).toBe("1"); // the target's path
  expect(await textOf(history, "big.txt")).toHaveLength(10_000);
  expect(await textOf(history, "utf16.txt")).toBe("hallo\n");
  expect(await textOf(history, "bin.dat")).toBe("BINARY_FILE");
  expect(await textOf(history, "huge.txt")).toBe("FILE_TOO_LARGE");
  expect(await codeOf(history.blame({ path: "huge.txt" }))).toBe("FILE_TOO_LARGE");
  expect(await textOf(history, "module")).toBe(undefined);
  const root = (await history.folders({ paths: [] }))?.get("") ?? [];
  const links = "symlink link,submodule module,file utf16.txt";
  expect(root.map(({ name, type }) => `${type} ${name}`).join()).toBe(
    `file a,file big.txt,file bin.dat,file huge.txt,${links}`,
  );
  const shown = { repository: "r", revision: "main", webUrl: "/browse/r@main/-/blob/a" };
  expect(await history.read({ path: "a" })).toMatchObject(shown);
});

test.each(["../../etc/passwd", "/etc/passwd", "a/../a", "", "a\0", "./a", "a/", "src", "no"])(
  "the file %j is nobody's",
  async (path) => {
    const { history } = await openHistory(repository({ a: "1", "src/b": "2" }));
    expect(await history.read({ path })).toBe(undefined);
    expect(await history.blame({ path })).toBe(undefined);
  },
);

test("folders, documents, hidden repositories and missing clones have no history", async () => {
  const engine = await openEngine();
  const folder = repository({ a: "1" });
  await engine.index([
    source(folder, { name: "r" }),
    directory(folder, { name: "folder" }),
    documents({ name: "documents", files: [] }),
  ]);
  for (const name of ["folder", "documents", "nope"])
    expect(await engine.history(name)).toBe(undefined);
  const viewer = { repositoryIds: new Set([99]) };
  expect(await engine.history("r", { viewer })).toBe(undefined);
  const history = (await engine.history("r"))!;
  rmSync(folder, { recursive: true });
  expect(await engine.history("r")).toBe(undefined);
  await expect(history.commits()).rejects.toMatchObject({
    code: "HISTORY_NOT_AVAILABLE",
    message: "r has no history here: the clone that was indexed is gone",
  });
});

test("a host's own source may say where its repository is, but the place must be right", async () => {
  const engine = await openEngine();
  const folder = repository({ a: "1" });
  const own = (gitFolder: unknown) => ({
    ...documents({ name: "own", files: [] }),
    open: async () => ({
      revisions: [{ name: "HEAD" }],
      entries: async function* () {},
      close: async () => {},
      gitFolder: gitFolder as string,
    }),
  });
  for (const wrong of ["relative/path", "", 7, `${folder}\0`])
    await expect(engine.index(own(wrong))).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await engine.index(own(folder));
  expect((await (await engine.history("own"))?.commits())?.total).toBe(1);
});
