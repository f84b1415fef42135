/** Tests a followed folder: whatever happens on the disk, the next answer shows it. */

import { cpSync, renameSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import type { Workspace, WorkspaceOptions } from "../../src/workspace/workspace.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import type { MakeNotices } from "../../src/workspace/notices.ts";
import { EVENTS, FILES, follow, holding, put } from "./followed-folder.ts";

test.each(EVENTS)("the next answer is right if %s", async (_, happens, expected) => {
  const { root, tree } = await follow(FILES);
  happens(root);
  expect(await holding(tree, "needle")).toEqual(expected);
  await tree.settled();
  expect(tree.state()).toMatchObject({ pending: 0 });
  expect(await holding(tree, "needle")).toEqual(expected);
});

test("a data directory in the folder is not part of it, and starts no runs", async () => {
  const root = temporaryFolder();
  put(root, "a.txt", "needle");
  const engine = await openEngine({ workers: 1 }, join(root, "index"));
  let runs = 0;
  await using tree = await engine.workspace(root, { onIndexed: () => void runs++ });
  expect(await holding(tree, "file:.")).toEqual(["a.txt"]);
  await tree.settled();
  const before = runs;
  await new Promise((resolve) => setTimeout(resolve, 1_000)); // four times as long as the wait for more changes
  expect(runs).toBe(before);
});

test("removing rules brings files back", async () => {
  const { root, tree } = await follow({ ...FILES, ".gitignore": "lib\n" });
  expect(await holding(tree, "needle")).toEqual(["a.txt"]);
  unlinkSync(join(root, ".gitignore"));
  expect(await holding(tree, "needle")).toEqual(["a.txt", "lib/c.txt"]);
});

test("rules that exclude nearly everything are reported once", async () => {
  const warnings: unknown[] = [];
  const onWarning = (warning: unknown) => void warnings.push(warning);
  const ruled = await follow(
    { "a.txt": "needle", "b.txt": "hay", ".gitignore": "*\n" },
    { onWarning },
  );
  put(ruled.root, "c.txt", "needle");
  expect(await holding(ruled.tree, "needle")).toEqual([]);
  const file = join(ruled.root, ".gitignore");
  const message = `2 of 2 entries in ${ruled.root} are left out by "*" of ${file}, line 1`;
  expect(warnings).toEqual([{ code: "EXCLUDED", message }]);
  await follow({ ...FILES, ".gitignore": "lib\n" }, { onWarning });
  expect(warnings).toHaveLength(1);
});

test("the index catches up by itself, with symbols", async () => {
  const { root, tree, engine } = await follow(
    { "a.py": "def first(): pass\n" },
    {},
    { workers: 1 },
  );
  put(root, "b.py", "def second(): pass\n");
  const found = async () => {
    const { files } = await engine.search({ query: "sym:second", matches: 5 });
    return files.length;
  };
  while ((await found()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  while (tree.state().pending > 0) await new Promise((resolve) => setTimeout(resolve, 20));
});

test("the index catches up with a burst of changes in one run", async () => {
  let runs = 0;
  const { root, tree } = await follow(FILES, { onIndexed: () => runs++ }, { workers: 1 });
  await tree.settled();
  runs = 0;
  for (let i = 0; i < 100; i++) {
    put(root, `burst/${i % 10}/${i}.txt`, "needle");
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await holding(tree, "needle")).length).toBe(102);
  while (tree.state().pending > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(runs).toBe(1);
});

test("the index waits until no notice has come for 250 ms", async () => {
  let [changed, barriers] = [() => {}, 0];
  const notices: MakeNotices = () => ({
    watch(_, listener) {
      changed = () => listener.changed("a.txt");
      return { close: () => {} };
    },
    barrier: async () => ++barriers > 0,
    close: () => {},
  });
  const { tree } = await follow(FILES, {}, { internals: { notices } });
  await tree.settled();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  barriers = 0;
  for (let i = 0; i < 4; i++) {
    changed();
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(barriers).toBe(0);
  await vi.advanceTimersByTimeAsync(60);
  expect(barriers).toBe(1);
});

test("the notices of many files set few timers", async () => {
  const { root, tree } = await follow(FILES);
  await tree.settled();
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => timers.mockRestore());
  for (let i = 0; i < 300; i++) put(root, `${i}.txt`, "needle");
  expect((await holding(tree, "needle")).length).toBe(302);
  expect(timers.mock.calls.length).toBeLessThan(100);
});

test("unsaved text hides the disk until it is removed", async () => {
  const { root, tree } = await follow(FILES);
  tree.set("b.txt", "needle unsaved");
  tree.set("new.txt", Buffer.from("needle too"));
  expect(await holding(tree, "needle")).toEqual(["a.txt", "b.txt", "lib/c.txt", "new.txt"]);
  expect((await tree.read("b.txt"))?.content).toBe("needle unsaved");
  put(root, "b.txt", "hay on the disk");
  expect((await tree.read("b.txt"))?.content).toBe("needle unsaved");
  tree.unset("b.txt");
  expect((await tree.read("b.txt"))?.content).toBe("hay on the disk");
  tree.clear();
  expect(await holding(tree, "needle")).toEqual(["a.txt", "lib/c.txt"]);
  expect(await tree.read("new.txt")).toBeUndefined();
});

test("a call's overlay hides the unsaved text", async () => {
  const { tree } = await follow(FILES);
  tree.set("b.txt", "needle unsaved");
  const overlay = [{ repository: "shop", path: "b.txt", removed: true as const }];
  const { files } = await tree.search({ query: "needle", matches: 9 }, { overlay });
  expect(files.map(({ fileName }) => fileName.text).sort()).toEqual(["a.txt", "lib/c.txt"]);
});

test("an answer describes the state that it saw", async () => {
  const { root, tree, engine } = await follow(FILES);
  await tree.settled();
  const seen = async () => (await tree.search({ query: "needle", matches: 0 })).seen;
  const first = await seen();
  expect(first).toEqual({ generation: engine.generation, overlaid: 0, followed: "notices" });
  put(root, "b.txt", "needle");
  tree.set("c.txt", "needle");
  expect((await seen()).overlaid).toBeGreaterThan(0); // one file, if the index has caught up with the other
  await tree.settled();
  const last = await seen();
  expect(last).toMatchObject({ generation: engine.generation, overlaid: 1 });
  expect(last.generation).toBeGreaterThan(first.generation);
});

test("a stream sees the disk", async () => {
  const { root, tree } = await follow(FILES);
  put(root, "b.txt", "needle");
  const paths: string[] = [];
  for await (const event of tree.stream({ query: "needle", matches: 100 }))
    if (event.type === "chunk") paths.push(...event.files.map(({ fileName }) => fileName.text));
  expect(paths.sort()).toEqual(["a.txt", "b.txt", "lib/c.txt"]);
});

test("a viewer who may not see the repository sees nothing of the disk", async () => {
  const { root, tree } = await follow(FILES);
  put(root, "b.txt", "needle");
  const viewer = { repositoryIds: new Set<number>() };
  const { stats } = await tree.search({ query: "needle", matches: 9 }, { viewer });
  expect(stats.totalMatchCount).toBe(0);
});

test("an engine may have two workspaces, on copies of one folder", async () => {
  const { root, tree, engine } = await follow(FILES);
  const copy = `${root}-copy`;
  cpSync(root, copy, { recursive: true });
  await using second = await engine.workspace(copy);
  put(copy, "b.txt", "needle");
  const named = async (one: Workspace, name: string) =>
    (await one.search({ query: `needle repo:^${name}$`, matches: 9 })).stats.fileCount;
  expect(await named(second, "shop-copy")).toBe(3);
  expect(await named(tree, "shop")).toBe(2);
});

test("a repository that the host removes is indexed again completely at the next change", async () => {
  const { root, tree, engine } = await follow({
    "a.txt": "needle",
    "b.txt": "needle",
    "c.txt": "",
  });
  await tree.settled();
  expect(await engine.remove(tree.repository)).toBe(true);
  put(root, "a.txt", "needle, changed");
  unlinkSync(join(root, "c.txt"));
  await tree.settled();
  expect(await holding(tree, "file:.")).toEqual(["a.txt", "b.txt"]);
  expect(await holding(tree, "needle")).toEqual(["a.txt", "b.txt"]);
  expect((await engine.repository(tree.repository))!.symbols).toMatchObject({ total: 2 });
});

test("a missing folder is reported, and found when it returns", async () => {
  const { root, tree } = await follow(FILES);
  renameSync(root, `${root}-away`);
  await expect(tree.search({ query: "needle", matches: 1 })).rejects.toMatchObject({
    code: "SOURCE_NOT_FOUND",
  });
  renameSync(`${root}-away`, root);
  expect(await holding(tree, "needle")).toEqual(["a.txt", "lib/c.txt"]);
});

test.each<[what: string, make: (engine: Engine) => Promise<unknown>, refused: object]>([
  [
    "a missing folder",
    (engine) => engine.workspace(join(temporaryFolder(), "nothing")),
    { code: "SOURCE_NOT_FOUND" },
  ],
  [
    "the data directory itself",
    (engine) => engine.workspace(engine.path),
    { code: "INVALID_REQUEST" },
  ],
  [
    "an unknown option",
    (engine) => engine.workspace(temporaryFolder(), { ignored: [] } as WorkspaceOptions),
    { code: "INVALID_REQUEST" },
  ],
])("workspace() rejects %s", async (_, make, refused) => {
  await expect(make(await openEngine())).rejects.toMatchObject(refused);
});

test("set() rejects invalid paths, and more than 16 MiB", async () => {
  const { tree } = await follow(FILES);
  expect(() => tree.set("../x", "")).toThrow(/set\(\)\.path must be a relative path/);
  tree.set("1", new Uint8Array(2 ** 23));
  expect(() => tree.set("2", new Uint8Array(2 ** 23 + 1))).toThrow(/more than 16 MiB/);
  tree.set("1", "small");
  tree.set("2", new Uint8Array(2 ** 23 + 1));
});

test("a closed workspace rejects calls, and an engine closes its workspaces", async () => {
  const { tree, engine } = await follow(FILES);
  await engine.close();
  await tree.close();
  await expect(tree.search({ query: "x", matches: 1 })).rejects.toMatchObject({
    code: "ENGINE_CLOSED",
  });
  expect(() => tree.set("a", "b")).toThrow(/closed/);
});

test("an abort closes the workspace", async () => {
  const stop = new AbortController();
  const { tree } = await follow(FILES, { signal: stop.signal });
  stop.abort();
  await expect(tree.search({ query: "x", matches: 1 })).rejects.toMatchObject({
    code: "ENGINE_CLOSED",
  });
});
