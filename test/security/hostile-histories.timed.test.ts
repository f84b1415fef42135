/** How long a stranger's history blocks the caller's thread: the thread's processor time in one turn. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchStalls } from "../../bench/stall.ts";
import { git as source, open, type Engine, type History } from "../../src/index.ts";
import { tellFigure } from "../figures.ts";
import { commit, repository } from "../ingest/listing.ts";
import { SLOWNESS } from "../slowness.ts";
import { isInTurn, someOf } from "../runs.ts";

/** The limit of milliseconds of processor time in one turn: a slice, and the start of git, which takes 4 to 9. */
const MOST_MS = 10 * SLOWNESS;
const TRIES = 5;

const AUTHORS = 20_000;
const LINES = 250_000;
const MESSAGE = "m".repeat(20_000_000);
const NAME = "N".repeat(4_000_000);
const list = (count: number, of: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => of(i));

/** Yields commits in the language of git fast-import. */
function* commits(): Generator<string> {
  const commit = (message: string, author: string, change = "") =>
    `commit refs/heads/main\nauthor ${author} 1700000000 +0000\ncommitter C <c@x> 1700000000 +0000\n` +
    `data ${message.length}\n${message}\n${change}\n`;
  const file = (path: string, text: string) =>
    `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
  const lines = (changed: number) =>
    list(LINES, (i) => (i % changed === 0 ? `a${i}\n` : `b${i}\n`)).join("");
  yield commit("first", "A <a@x>", `deleteall\n${file("lines", lines(1))}`);
  yield commit("second", "A <a@x>", file("lines", lines(2)));
  const many = list(AUTHORS, (i) => file(`many/${i}`, "1\n")).join("");
  yield commit("third", "A <a@x>", `D lines\n${file("other", lines(1))}${many}`);
  for (let i = 0; i < AUTHORS; i++) yield commit("m", `A${i} <a${i}@x>`);
  yield commit("long author", `${NAME} <n@x>`);
  yield commit(MESSAGE, "A <a@x>");
  yield commit("last", "A <a@x>");
}

const path = mkdtempSync(join(tmpdir(), "quern-histories-"));
let engine: Engine;
let history: History;
let tips: string[];
const ids: Record<string, string> = {};
afterAll(async () => {
  await engine.close();
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
});
beforeAll(async () => {
  const folder = repository({ a: "1" });
  const git = (args: string[], input = "") =>
    spawnSync("git", args, {
      cwd: folder,
      input,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    }).stdout.trim();
  git(["fast-import", "--quiet", "--force"], [...commits()].join(""));
  for (const message of ["first", "second", "third"])
    ids[message] = git(["log", "--format=%H", `--grep=^${message}$`]);
  tips = git(["log", `--max-count=${TRIES + 1}`, "--format=%H"])
    .split("\n")
    .toReversed();
  engine = await open(path, { workers: 1, warmUp: false });
  await engine.index(source(folder, { name: "r" }), { symbols: "skip" });
  history = (await engine.history("r"))!;
});

const ATTACKS: [what: string, ask: (left: number) => Promise<unknown>, expected: unknown][] = [
  [
    "a message of 20 MB",
    async () => (await history.commits({ skip: 1, limit: 1 })).commits[0]!.message.length,
    MESSAGE.length,
  ],
  [
    "a name of 4 MB",
    async () => (await history.commits({ skip: 2, limit: 1 })).commits[0]!.authorName.length,
    NAME.length,
  ],
  [
    "20 000 authors, one of that name",
    async (left) => (await history.authors({ revision: tips[left]! })).total > AUTHORS - TRIES, // one tip is cached
    true,
  ],
  [
    "250 000 lines that changed, one by one",
    async () => (await history.diff({ base: ids["first"]!, head: ids["second"]! })).length,
    1,
  ],
  [
    "250 000 lines that are new, 20 000 files",
    async () => (await history.diff({ base: ids["second"]!, head: ids["third"]! })).length,
    AUTHORS + 1,
  ],
  [
    "250 000 lines of two commits in turns",
    async () => (await history.blame({ path: "lines", revision: ids["second"]! }))!.ranges.length,
    LINES,
  ],
];

test.each(someOf(ATTACKS, 3))("%s", async (_, ask, expected) => {
  let turn = Infinity;
  for (let left = TRIES; left > 0 && turn > MOST_MS; left--) {
    const stalls = watchStalls();
    expect(await ask(left)).toBe(expected);
    turn = Math.min(turn, (await stalls()).ownMs);
  }
  tellFigure(`${turn.toFixed(1)} ms a turn`);
  expect(turn).toBeLessThan(MOST_MS);
});

const LARGE = 65 * 2 ** 20;

test.runIf(isInTurn(3, 1))(
  "a .mailmap that is too large, or that never ends, is not used",
  async () => {
    const mapping = "Somebody Else <else@x> <a@example.com>\n";
    const folder = repository({ a: "1", ".mailmap": mapping });
    const large = repository({ a: "1", ".mailmap": mapping + "# filled\n".repeat(200_000) });
    const pipe = repository({ a: "1" });
    spawnSync("mkfifo", [join(pipe, ".mailmap")]);
    const bare = join(path, "bare.git");
    spawnSync("git", ["clone", "--quiet", "--bare", large, bare]);
    const names: Record<string, string> = {};
    for (const [name, place] of Object.entries({ folder, large, pipe, bare })) {
      await engine.index(source(place, { name }), { symbols: "skip" });
      const one = (await engine.history(name))!;
      const [author] = (await one.authors()).authors;
      const { commits: bySame } = (await one.blame({ path: "a" }))!;
      const blamed = Object.values(bySame)[0]!.authorName;
      names[name] = `${author!.name}, ${blamed}`;
    }
    expect(names).toEqual({
      folder: "Somebody Else, Somebody Else",
      large: "A, A",
      pipe: "A, A",
      bare: "A, A",
    });
  },
);

test.runIf(isInTurn(3))(
  "a file that is too large to be read is compared without its lines",
  async () => {
    const folder = repository({ a: "1\n", large: "line\n".repeat(LARGE / 5) });
    commit(folder, { a: "2\n", large: "other\n".repeat(LARGE / 6) });
    await engine.index(source(folder, { name: "large files" }), { symbols: "skip" });
    const large = (await engine.history("large files"))!;
    const [head, base] = (await large.commits()).commits.map(({ hash }) => hash);
    const files = await large.diff({ base: base!, head: head! });
    expect(files.map(({ newPath, hunks }) => [newPath, hunks.length])).toEqual([
      ["a", 1],
      ["large", 0],
    ]);
  },
);
