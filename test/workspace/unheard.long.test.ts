/**
 * Notices that are lost, come late, or are for folders that no longer exist. No stale answer claims to be fresh, and
 * folders that cannot be followed are reported.
 */

import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { NO_NOTICES, systemNotices, type MakeNotices } from "../../src/workspace/notices.ts";
import type { WorkspaceOptions } from "../../src/workspace/workspace.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { bundledPrograms } from "../programs.ts";
import { EVENTS, FILES, follow, holding, put } from "./followed-folder.ts";
import { someOf } from "../runs.ts";

/** Makes notices that refuse a watch with ENOSPC if this many are open. A watch that ends makes room. */
function atMost(limit: number): MakeNotices {
  return (root, onLost) => {
    const system = systemNotices(root, onLost);
    let open = 0;
    return {
      watch: (folder, listener) => {
        if (open >= limit) return undefined;
        const watched = system.watch(folder, listener);
        if (!watched) return undefined;
        open++;
        return {
          close() {
            open--;
            watched.close();
          },
        };
      },
      barrier: () => system.barrier(),
      close: () => system.close(),
    };
  };
}

/** Returns this many folders. Those of FILES come before some and after others. */
const folders = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`${i % 2 ? "a" : "z"}${i}/x.txt`, "straw"]),
  );
/** More folders than may be watched. */
const MANY = folders(12);

const WAYS: [
  what: string,
  notices: MakeNotices,
  files: Record<string, string>,
  followed: string,
][] = [
  ["without notices", () => NO_NOTICES, FILES, "polling"],
  ["with 10 watches", atMost(10), { ...FILES, ...MANY }, "partly"],
];

function warned(): { warnings: string[] } & Required<Pick<WorkspaceOptions, "onWarning">> {
  const warnings: string[] = [];
  return { warnings, onWarning: ({ code, message }) => void warnings.push(`${code}: ${message}`) };
}

describe.each(WAYS)("%s", (_, notices, files, followed) => {
  test.each(someOf(EVENTS, 3))(
    "the next answer is right if %s",
    async (_what, happens, expected) => {
      const { warnings, onWarning } = warned();
      const { root, tree } = await follow(files, { onWarning }, { internals: { notices } });
      expect(tree.state().followed).toBe(followed);
      const of = followed === "partly" ? "a part of " : "";
      expect(warnings).toEqual([
        expect.stringMatching(`^NOT_FOLLOWED: the system gives no notices of changes for ${of}/`),
      ]);
      expect(await holding(tree, "needle")).toEqual(["a.txt", "lib/c.txt"]);
      happens(root);
      expect(await holding(tree, "needle")).toEqual(expected);
      await tree.settled();
      expect(await holding(tree, "needle")).toEqual(expected);
    },
  );

  test("the index catches up by itself", async () => {
    const { root, engine } = await follow(files, {}, { workers: 1, internals: { notices } });
    put(root, "lib/deep/d.txt", "needle");
    await expect
      .poll(async () => (await engine.search({ query: "needle", matches: 0 })).stats.fileCount, {
        timeout: 280_000,
      })
      .toBe(3);
  });
});

test("state() says when a folder is followed by notices again", async () => {
  const { root, tree } = await follow(
    { ...FILES, ...MANY },
    {},
    { internals: { notices: atMost(10) } },
  );
  for (const path of Object.keys(MANY)) rmSync(join(root, dirname(path)), { recursive: true });
  expect(await holding(tree, "needle")).toEqual(["a.txt", "lib/c.txt"]);
  await tree.settled();
  expect(tree.state().followed).toBe("notices");
});

/** A user namespace has its own limits, which its root may lower. */
const LIMITED = [
  "unshare",
  "--user",
  "--map-root-user",
  "sh",
  "-c",
  `echo 100 > /proc/sys/user/max_inotify_watches && exec "$0" "$@"`,
] as const;

const isLimitable = (() => {
  try {
    execFileSync(LIMITED[0], [...LIMITED.slice(1), "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

test.runIf(isLimitable)("no change is missed if the system allows only 100 watches", async () => {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries({ ...FILES, ...folders(120) })) put(root, path, text);
  const [program] = await bundledPrograms(["test/workspace/limited-follower.ts"]);
  const command = [...LIMITED.slice(1), process.execPath, program!, root];
  const { stdout } = await promisify(execFile)(LIMITED[0], command, { timeout: 280_000 });
  expect(JSON.parse(stdout)).toEqual({
    followed: "partly",
    warnings: ["NOT_FOLLOWED"],
    missed: [],
  });
});

describe("a folder that disappears and comes back", () => {
  const gone = { code: "SOURCE_NOT_FOUND" };
  const search = { query: "needle", matches: 1 };

  test("may be deleted, searched and made again", async () => {
    const { root, tree } = await follow(FILES);
    rmSync(root, { recursive: true });
    await expect(tree.search(search)).rejects.toMatchObject(gone);
    await expect(tree.read("a.txt")).rejects.toMatchObject(gone);
    await expect(tree.settled()).rejects.toMatchObject(gone);
    put(root, "again.txt", "needle");
    expect(await holding(tree, "needle")).toEqual(["again.txt"]);
    put(root, "more.txt", "needle");
    expect(await holding(tree, "needle")).toEqual(["again.txt", "more.txt"]);
  });

  test("may be an inner folder that is deleted, searched and made again", async () => {
    const { root, tree } = await follow(FILES);
    for (const text of ["needle", "hay", "needle"]) {
      rmSync(join(root, "lib"), { recursive: true });
      expect(await holding(tree, "needle")).toEqual(["a.txt"]);
      put(root, "lib/c.txt", text);
      put(root, "lib/deep/d.txt", text);
      const expected = text === "hay" ? [] : ["lib/c.txt", "lib/deep/d.txt"];
      expect(await holding(tree, "needle")).toEqual(["a.txt", ...expected]);
    }
  });

  test("may be moved with its parent, changed, and moved back", async () => {
    const { root, tree } = await follow(FILES);
    const above = dirname(root);
    onTestFinished(() => rmSync(`${above}-away`, { recursive: true, force: true }));
    renameSync(above, `${above}-away`);
    await expect(tree.search(search)).rejects.toMatchObject(gone);
    put(`${above}-away/shop`, "b.txt", "needle");
    renameSync(`${above}-away`, above);
    expect(await holding(tree, "needle")).toEqual(["a.txt", "b.txt", "lib/c.txt"]);
  });

  test("may be moved with its parent and replaced by another folder", async () => {
    const { root, tree } = await follow(FILES);
    const above = dirname(root);
    onTestFinished(() => rmSync(`${above}-away`, { recursive: true, force: true }));
    renameSync(above, `${above}-away`);
    put(root, "other.txt", "needle");
    expect(await holding(tree, "needle")).toEqual(["other.txt"]);
    put(`${above}-away/shop`, "b.txt", "needle");
    expect(await holding(tree, "needle")).toEqual(["other.txt"]);
  });

  test("is missing if a link or a file takes its place", async () => {
    const { root, tree } = await follow(FILES);
    renameSync(root, `${root}-away`);
    symlinkSync(`${root}-away`, root);
    await expect(tree.search(search)).rejects.toMatchObject(gone);
    rmSync(root);
    writeFileSync(root, "needle");
    await expect(tree.search(search)).rejects.toMatchObject(gone);
  });
});

test.each<[what: string, notices: MakeNotices]>([
  ["with notices", systemNotices],
  ["without notices", () => NO_NOTICES],
])("%s, answers are right while a file is written in pieces for a second", async (_, notices) => {
  const { root, tree } = await follow(FILES, {}, { workers: 1, internals: { notices } });
  let written = 0;
  const timer = setInterval(() => {
    appendFileSync(join(root, "log.txt"), "piece\n");
    written++;
  }, 20);
  onTestFinished(() => clearInterval(timer));
  const end = Date.now() + 1_000;
  for (let answers = 0; Date.now() < end || answers < 3; answers++) {
    const before = written;
    const { stats } = await tree.search({ query: "piece", matches: 0 });
    expect(stats.totalMatchCount).toBeGreaterThanOrEqual(before);
    expect(stats.totalMatchCount).toBeLessThanOrEqual(written);
  }
  clearInterval(timer);
  const { stats } = await tree.search({ query: "piece", matches: 0 });
  expect(stats.totalMatchCount).toBe(written);
});

/**
 * Most notices of six thousand files come while this thread is busy, and then all at once. The system may have dropped
 * some, so all files are checked again. With fifteen hundred files in small steps, the notices of each folder and the
 * barrier are needed.
 */
const OVERFLOWING = 6_000;
test.each<[what: string, files: number, folders: number, notices: MakeNotices]>(
  someOf(
    [
      ["with notices", OVERFLOWING, 100, systemNotices],
      ["with notices of large folders", 1_500, 4, systemNotices],
      ["without notices", 1_000, 100, () => NO_NOTICES],
    ],
    4,
  ),
)("%s, answers are right during a checkout of %i files", async (_, files, folders, notices) => {
  const root = temporaryFolder();
  const git = (...args: string[]) => promisify(execFile)("git", ["-C", root, ...args]);
  const paths = Array.from({ length: files }, (_, i) => `part${i % folders}/file${i}.txt`).sort();
  const commit = (branch: string, ...parent: string[]) =>
    [
      `commit refs/heads/${branch}`,
      "committer Ada <ada@example.org> 0 +0000",
      "data 0",
      ...parent,
      ...paths.flatMap((path, i) => {
        const text = `state_${branch} ${i}\n`;
        return [`M 100644 inline ${path}`, `data ${text.length}`, text];
      }),
    ].join("\n");
  await git("init", "--quiet");
  // thousands of files to add and objects to write would take most of the test's time
  execFileSync("git", ["-C", root, "fast-import", "--quiet"], {
    input: [commit("old"), commit("new", "from refs/heads/old")].join("\n"),
  });
  await git("checkout", "--quiet", "new");
  const engine = await openEngine({ workers: 1, internals: { notices } });
  const tree = await engine.workspace(root);
  onTestFinished(() => tree.close());
  const holders = async (text: string) => new Set(await holding(tree, text));
  expect((await holders("state_new")).size).toBe(paths.length);

  let isOver = false;
  const checkout = git("checkout", "--quiet", "old");
  onTestFinished(() => void checkout.child.kill("SIGKILL"));
  void checkout.catch(() => undefined).finally(() => (isOver = true));
  const isOld = (path: string) => {
    try {
      return readFileSync(join(root, path), "utf8").startsWith("state_old");
    } catch {
      return false; // the file is between two states
    }
  };
  const isPaced = files < OVERFLOWING && process.platform !== "win32";
  const send = (signal: "SIGSTOP" | "SIGCONT") => void (isPaced && checkout.child.kill(signal));
  // each file has three notices, so many in one turn that some may be lost
  for (let tries = 0; files === OVERFLOWING && !isOld(paths[4_500]!); tries++) {
    if (tries > 50_000) throw new Error("git does not check out");
    sleepBlocking(2);
  }
  for (let round = 0; !isOver; round++) {
    // git runs for a millisecond in which no notices are delivered, and for a millisecond of the search
    if (isPaced) sleepBlocking(1);
    send("SIGSTOP");
    const written = firstWhere(paths, (path) => !isOld(path)); // git writes in the order of the paths
    const some = paths.filter((_, i) => i % 97 === round % 97);
    const changed = [...some, ...paths.slice(Math.max(0, written - 30), written)].filter(isOld);
    const search = holders("state_new");
    send("SIGCONT");
    const stop = setTimeout(() => send("SIGSTOP"), 1);
    const stale = await search;
    clearTimeout(stop);
    send("SIGCONT");
    expect(changed.filter((path) => stale.has(path))).toEqual([]);
  }
  await checkout;
  expect((await holders("state_new")).size).toBe(0);
  expect((await holders("state_old")).size).toBe(paths.length);
  await tree.settled();
  expect((await holders("state_old")).size).toBe(paths.length);
});

/** Blocks this thread. */
function sleepBlocking(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Returns the position of the first item that passes, by bisection, or the number of items. */
function firstWhere<T>(items: readonly T[], passes: (item: T) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (passes(items[middle]!)) to = middle;
    else from = middle + 1;
  }
  return from;
}
