/**
 * Fuzzes git's operations with names of revisions of any kind. A name of a branch, tag or commit must lead to what the
 * rules in src/history/revision.ts say. All other names must be refused, and nothing may be written. An input is the
 * name.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QuernError } from "../src/base/errors.ts";
import { open } from "../src/opened-engine.ts";
import { git } from "../src/ingest/sources/git.ts";
import type { Random } from "../test/regex/random.ts";
import { mutate } from "./mutate.ts";
import { holds, type Target } from "./target.ts";

const BRANCHES = ["next", "a/b", "größe", "v1", "feed", "refs/heads/x"];
const TAGS = ["v1", "v2.0", "dead"];

export async function openGitRefsTarget(): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), "quern-fuzz-refs-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, "repository");
  const ids = makeRepository(root);
  const known = knownIn(root);
  const engine = await open(join(folder, "index"), { workers: 0 });
  await engine.index(git(root, { name: "r" }));
  const history = (await engine.history("r"))!;
  const before = listing(root);
  const names = [...known.keys(), ...ids, ...EXPRESSIONS];
  const seen = { found: 0, refused: 0 };
  return {
    summary: () => JSON.stringify(seen),
    make: (random) => make(random, names),
    async check(input) {
      const revision = input.toString();
      const id = idOf(revision, known, ids);
      seen[id === undefined ? "refused" : "found"]++;
      const told = [
        (await outcome(() => history.commit(revision)))?.hash,
        (await outcome(() => history.commits({ revision, limit: 1 })))?.commits[0]?.hash,
      ];
      for (const one of told) holds(one === id, `${JSON.stringify(revision)} is ${one}, not ${id}`);
      const others = [
        await outcome(() => history.diff({ base: revision, head: "HEAD" })),
        await outcome(() => history.blame({ path: "a.txt", revision })),
        await outcome(() => history.paths({ revision })),
      ];
      for (const one of others)
        holds((one !== undefined) === (id !== undefined), `${JSON.stringify(revision)}: not alike`);
      holds(listing(root) === before, `${JSON.stringify(revision)} has written a file`);
    },
  };
}

/** Resolves to undefined if the name is refused or does not exist. */
async function outcome<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof QuernError && error.code === "INVALID_GIT_REF") return undefined;
    throw error;
  }
}

const run = (root: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@x", ...args], {
    cwd: root,
    encoding: "utf8",
    stdio: "pipe",
  }).trim();

/** Resolves to the ids of the repository's commits. */
function makeRepository(root: string): string[] {
  execFileSync("git", ["init", "-q", "-b", "main", root], { stdio: "pipe" });
  for (let n = 0; n < 6; n++) {
    writeFileSync(join(root, "a.txt"), `${n}\n`);
    run(root, "add", "-A");
    run(root, "commit", "-q", "-m", `change ${n}`);
    if (n < BRANCHES.length) run(root, "branch", BRANCHES[n]!);
    if (n < TAGS.length) run(root, "tag", "-a", "-m", "tag", TAGS[n]!, "HEAD");
  }
  run(root, "update-ref", "refs/remotes/origin/far", "HEAD~2");
  return run(root, "rev-list", "--all").split("\n");
}

/** Maps full names to ids of commits. */
function knownIn(root: string): Map<string, string> {
  const format = "--format=%(refname) %(objectname) %(*objectname)";
  const lines = run(root, "for-each-ref", format).split("\n");
  const entries = lines.map((line) => line.split(" "));
  const known = new Map(entries.map(([name, id, peeled]) => [name!, peeled || id!]));
  return known.set("HEAD", run(root, "rev-parse", "HEAD"));
}

/** Resolves a name by the rules in src/history/revision.ts, by looking at every reference and commit. */
function idOf(name: string, known: ReadonlyMap<string, string>, ids: readonly string[]) {
  if (/^[0-9a-f]{40}$/i.test(name)) return ids.find((id) => id === name.toLowerCase());
  if (name === "HEAD") return known.get(name);
  const forms = [
    ...(name.startsWith("refs/") ? [name] : []),
    ...["heads", "tags", "remotes"].map((kind) => `refs/${kind}/${name}`),
  ];
  const full = forms.find((form) => known.has(form));
  if (full !== undefined) return known.get(full);
  if (!/^[0-9a-f]{4,39}$/i.test(name)) return undefined;
  const found = ids.filter((id) => id.startsWith(name.toLowerCase()));
  return found.length === 1 ? found[0] : undefined;
}

const listing = (root: string): string =>
  [...readdirSync(root), ...readdirSync(join(root, ".git"))].sort().join();

const EXPRESSIONS = [
  "main~1",
  "main^{tree}",
  "HEAD:a.txt",
  ":/change",
  "@",
  "@{-1}",
  "main@{upstream}",
  "a..b",
  "--output=x",
  "-O",
  "refs/heads/*",
  "main\0x",
  "main\n",
  "FETCH_HEAD",
  "../../x",
  "v1^{}",
];

function make(random: Random, names: readonly string[]): Buffer {
  const name = names[random(names.length)]!;
  const short = name.replace(/^refs\/(heads|tags|remotes)\//, "");
  const all = names.map((one) => Buffer.from(one));
  const given = Buffer.from(random(2) === 0 ? name : short);
  switch (random(4)) {
    case 0:
      return given;
    case 1:
      return given.subarray(0, 1 + random(40));
    default:
      return mutate(random, given, all);
  }
}
