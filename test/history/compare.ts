/**
 * Compares a history with git itself: pages of commits by every filter, single commits, authors, differences, blame,
 * trees. The questions are drawn from a seed. Throws if an answer differs.
 */

import { deepStrictEqual } from "node:assert/strict";
import { QuernError, type CommitsOptions, type History } from "../../src/index.ts";
import type { Draw } from "./generated.ts";
import * as twin from "./twins.ts";

export interface Compared {
  readonly history: History;
  /** The repository. */
  readonly folder: string;
  readonly draw: Draw;
}

interface Known extends Compared {
  /** Branches, tags, HEAD and some ids, full and shortened. */
  readonly revisions: readonly string[];
  /** Files and folders of some commits. */
  readonly paths: readonly string[];
}

/** The size below which a difference is never rejected. The limit is 32 MiB, including headers. */
const DIFF_CHARACTERS = 20 * 2 ** 20;

const lines = (text: Buffer): string[] => text.toString().split("\n").filter(Boolean);

function know({ folder, draw, history }: Compared): Known {
  const refs = lines(
    twin.git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags"),
  ).filter((name) => !/^(?:heads|tags)\//.test(name));
  const ids = lines(twin.git(folder, "rev-list", "--all", "--max-count=3000"));
  const some = Array.from({ length: 20 }, () => ids[draw(ids.length)]!);
  const paths = lines(
    twin.git(folder, "-c", "core.quotePath=false", "ls-files", "--with-tree=HEAD"),
  );
  const trees = some
    .slice(0, 5)
    .flatMap((id) =>
      twin.git(folder, "ls-tree", "-r", "-t", "-z", "--name-only", id).toString().split("\0"),
    );
  return {
    history,
    folder,
    draw,
    revisions: [...refs, "HEAD", ...some, ...some.slice(0, 5).map((id) => id.slice(0, 12))],
    paths: [...new Set([...paths, ...trees])].filter(
      (path) => path !== "" && !path.includes("\ufffd"),
    ),
  };
}

const pick = <T>(draw: Draw, list: readonly T[]): T => list[draw(list.length)]!;

/** Makes this many calls of each operation. Resolves to how many there were. */
export async function compareHistory(compared: Compared, rounds: number): Promise<number> {
  const known = know(compared);
  const operations = [compareCommits, compareCommit, compareAuthors, compareDiff, compareBlame];
  for (let round = 0; round < rounds; round++) for (const one of operations) await one(known);
  for (let round = 0; round < Math.min(3, rounds); round++) await compareTree(known);
  return operations.length * rounds;
}

async function compareCommits({ history, folder, draw, revisions, paths }: Known): Promise<void> {
  const revision = pick(draw, revisions);
  const filters = drawFilters(draw, paths);
  const want = twin.logIds(folder, revision, filters);
  const asked: CommitsOptions = { revision, ...filters, limit: 1 + draw(60) };
  // reads the first page twice: by a walk, and from the cache
  for (const skip of [0, 0, draw(want.length + 1)]) {
    const { commits, total } = await history.commits({ ...asked, skip });
    const page = want.slice(skip, skip + asked.limit!);
    const what = JSON.stringify({ ...asked, skip });
    deepStrictEqual([total, commits.map(({ hash }) => hash)], [want.length, page], what);
    const one = pick(draw, commits.length === 0 ? [undefined] : commits);
    if (one === undefined) continue;
    const { parents: _, ...facts } = twin.commitOf(folder, one.hash);
    deepStrictEqual(one, facts);
  }
}

function drawFilters(draw: Draw, paths: readonly string[]): twin.LogFilters {
  const maybe = <T>(make: () => T): T | undefined => (draw(3) === 0 ? make() : undefined);
  const day = () => `20${10 + draw(15)}-0${1 + draw(9)}-1${draw(9)}T0${draw(9)}:00:00Z`;
  const filters = {
    path: maybe(() => pick(draw, paths)),
    author: maybe(() => pick(draw, ["a", "^b", "ada", "@x", "e.*r", "[jm]", "\\(an\\|bo\\)"])),
    query: maybe(() => pick(draw, ["fix", "^merge", "add", "the", "s$", "v[0-9]", "é"])),
    since: maybe(() => pick(draw, [day(), "2 years ago", "2015-06-01 12:00:00 +0200"])),
    until: maybe(() => pick(draw, [day(), "yesterday", "1700000000"])),
  };
  return Object.fromEntries(
    Object.entries(filters).filter(([, value]) => value !== undefined),
  ) as twin.LogFilters;
}

async function compareCommit({ history, folder, draw, revisions }: Known): Promise<void> {
  const revision = pick(draw, revisions);
  const id = twin.git(folder, "rev-parse", `${revision}^{commit}`).toString().trim();
  deepStrictEqual(await history.commit(revision), twin.commitOf(folder, id), revision);
}

async function compareAuthors({ history, folder, draw, revisions, paths }: Known): Promise<void> {
  const revision = pick(draw, revisions);
  const path = draw(2) === 0 ? {} : { path: pick(draw, paths) };
  const want = twin.authorLines(folder, revision, path.path);
  const skip = draw(3);
  const { authors, total } = await history.authors({ revision, ...path, skip, limit: 20 });
  const got = [total, authors.map(twin.authorLine)];
  deepStrictEqual(got, [want.length, want.slice(skip, skip + 20)], `${revision} ${path.path}`);
}

async function compareDiff({ history, folder, draw, revisions, paths }: Known): Promise<void> {
  const [base, head] = [pick(draw, revisions), pick(draw, revisions)];
  const path = draw(3) === 0 ? { path: pick(draw, paths) } : {};
  const what = `${base} ${head} ${path.path}`;
  const text = twin.diffText(folder, base, head, path.path);
  const files = await history.diff({ base, head, ...path }).catch((error: QuernError) => error);
  if (files instanceof QuernError) {
    const isLong = text.reduce((sum, { length }) => sum + length, 0) > DIFF_CHARACTERS;
    return deepStrictEqual([files.code, isLong], ["FILE_TOO_LARGE", true], what);
  }
  deepStrictEqual(files.map(twin.hunksText), text, what);
  deepStrictEqual(files.map(twin.namesOf), twin.diffNames(folder, base, head, path.path), what);
}

async function compareBlame({ history, folder, draw, revisions }: Known): Promise<void> {
  const revision = pick(draw, revisions);
  const files = twin.treeLines(folder, revision).filter((line) => line.startsWith("file "));
  const path = files.length === 0 ? "none" : pick(draw, files).slice("file ".length);
  const blamed = await history.blame({ revision, path });
  if (path === "none" || path.includes("\ufffd")) return deepStrictEqual(blamed, undefined);
  const want = twin.blameLines(folder, revision, path);
  deepStrictEqual(twin.blameLinesOf(blamed!), want, `${revision} ${path}`);
}

async function compareTree({ history, folder, draw, revisions }: Known): Promise<void> {
  const revision = pick(draw, revisions);
  const want = twin.treeLines(folder, revision);
  const all = (await history.paths({ revision })) ?? [];
  deepStrictEqual(
    all.map(({ type, path }) => `${type} ${path}`),
    want,
    revision,
  );
  const folders = new Set(all.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/")))));
  const listed = await history.folders({ revision, paths: [...folders] });
  const within = [...(listed?.values() ?? [])].flat().filter(({ type }) => type !== "folder");
  const isShown = (line: string) => !line.includes("\ufffd"); // opens no repository
  deepStrictEqual(
    within
      .map(({ type, path }) => `${type} ${path}`)
      .filter(isShown)
      .sort(),
    want.filter(isShown).sort(),
    revision,
  );
}
