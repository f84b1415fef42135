/**
 * Histories made for tests with git fast-import: everything a repository can hold that is awkward to
 * read. One of them is small and always the same; the others are drawn from a seed.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";

/** A commit, with the fields of fast-import. */
export interface MadeCommit {
  readonly branch: string;
  readonly message: string | Buffer;
  readonly author?: string;
  /** Seconds since 1970, and a time zone. */
  readonly date?: string;
  /** Marks of the parents, first parent first. Default: the branch's last commit. `[]` makes a root. */
  readonly parents?: readonly number[];
  readonly encoding?: string;
  readonly changes: readonly Change[];
}
export type Change =
  | { readonly path: string | Buffer; readonly content: string | Buffer; readonly mode?: string }
  | { readonly path: string; readonly commit: string }
  | { readonly path: string; readonly removed: true }
  | { readonly from: string; readonly path: string };

const ADA = "Ada <ada@example.com>";

/** Makes a bare repository in the folder; marks are the commits' positions from 1 on. */
export function makeRepository(commits: Iterable<MadeCommit>, folder: string): string {
  const path = join(folder, "made.git");
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", path]);
  const parts: Buffer[] = [];
  const last = new Map<string, number>();
  let mark = 0;
  for (const commit of commits) {
    mark++;
    const before = last.get(commit.branch);
    const parents = commit.parents ?? (before === undefined ? [] : [before]);
    parts.push(commitBytes(commit, mark, parents));
    last.set(commit.branch, mark);
  }
  const options = { input: Buffer.concat(parts), maxBuffer: 2 ** 26 };
  const { status, stderr } = spawnSync("git", ["-C", path, "fast-import", "--quiet"], options);
  if (status !== 0) throw new Error(stderr.toString());
  return path;
}

function commitBytes(commit: MadeCommit, mark: number, parents: readonly number[]): Buffer {
  const { branch, message, author = ADA, date = `${1_700_000_000 + mark * 3600} +0000` } = commit;
  const [first, ...others] = parents;
  return Buffer.concat([
    // a root on an existing branch starts the branch anew
    ...(first === undefined ? [text(`reset refs/heads/${branch}\n`)] : []),
    text(`commit refs/heads/${branch}\nmark :${mark}\n`),
    text(`author ${author} ${date}\ncommitter C <c@example.com> ${date}\n`),
    ...(commit.encoding === undefined ? [] : [text(`encoding ${commit.encoding}\n`)]),
    data(message),
    ...(first === undefined ? [] : [text(`from :${first}\n`)]),
    ...others.map((other) => text(`merge :${other}\n`)),
    ...commit.changes.map(changeBytes),
    text("\n"),
  ]);
}

function changeBytes(change: Change): Buffer {
  const path = quoted(change.path);
  if ("from" in change) return text(`R ${quoted(change.from)} ${path}\n`);
  if ("removed" in change) return text(`D ${path}\n`);
  if ("commit" in change) return text(`M 160000 ${change.commit} ${path}\n`);
  const { content, mode = "100644" } = change;
  return Buffer.concat([text(`M ${mode} inline ${path}\n`), data(content)]);
}

const text = (line: string): Buffer => Buffer.from(line);

function data(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([text(`data ${bytes.length}\n`), bytes, text("\n")]);
}

/** Quotes a path as C does, so that it may contain any byte. */
function quoted(path: string | Buffer): string {
  const bytes = Buffer.from(path as string);
  const inner = [...bytes].map((byte) =>
    byte < 32 || byte > 126 || byte === 34 || byte === 92
      ? `\\${byte.toString(8).padStart(3, "0")}`
      : String.fromCharCode(byte),
  );
  return `"${inner.join("")}"`;
}

const lines = (count: number, word: string): string =>
  Array.from({ length: count }, (_, n) => `${word} line ${n}\n`).join("");

/** A program whose functions git finds. */
const CODE = `int main(void)\n{\n${lines(30, "  call();")}}\n\nvoid other(void)\n{\n${lines(30, "  more();")}}\n`;

/** Returns commits with every kind of file and every kind of change. */
const FILES: MadeCommit[] = [
  {
    branch: "main",
    message: "root\n\nThe first one.\n\nSigned-off-by: Ada\n",
    changes: [
      { path: "a.c", content: CODE },
      { path: "src/old name.txt", content: lines(20, "old") },
      { path: "crlf.txt", content: "one\r\ntwo\r\nthree\r\n" },
      { path: "no-end.txt", content: "one\ntwo" },
      { path: "binary.bin", content: Buffer.from([0, 1, 2, 255, 254]) },
      { path: "link", content: "src/old name.txt", mode: "120000" },
      { path: "empty.txt", content: "" },
      { path: "run.sh", content: "#!/bin/sh\n", mode: "100644" },
      { path: "turns.txt", content: "a file, later a link\n" },
      { path: 'odd "name"\\\n\t.txt', content: "x\n" },
      { path: "--output=x", content: "an option\n" },
      { path: ":(glob)**", content: "magic\n" },
      { path: Buffer.from([0x66, 0xe9, 0x2e, 0x74]), content: "latin\n" },
      { path: "été/ß.txt", content: "ünïcode\n" },
      { path: ".mailmap", content: "Ada Lovelace <ada@example.com> <old@example.com>\n" },
    ],
  },
  {
    branch: "main",
    message: "change\n",
    author: "Old Ada <old@example.com>",
    date: "1700010000 +0530",
    changes: [
      { path: "a.c", content: CODE.replace("call(); line 15", "called(); line 15") },
      { path: "crlf.txt", content: "one\r\nzwei\r\nthree\r\n" },
      { path: "no-end.txt", content: "one\ntwo\nthree" },
      { path: "binary.bin", content: Buffer.from([0, 1, 2, 3, 4, 5]) },
      { path: "run.sh", content: "#!/bin/sh\n", mode: "100755" },
      { path: "empty.txt", content: "no longer\n" },
    ],
  },
];

/** Returns commits with roots, merges and encodings. */
const MERGES: MadeCommit[] = [
  {
    branch: "side",
    parents: [1],
    message: Buffer.from("m\xe4ssage in latin1\n\nb\xf6dy\n", "latin1"),
    encoding: "ISO-8859-1",
    author: "Bob <bob@example.com>",
    changes: [
      { from: "src/old name.txt", path: "src/new name.txt" },
      { path: "src/new name.txt", content: `${lines(20, "old")}one more\n` },
    ],
  },
  {
    branch: "main",
    parents: [2, 3],
    message: "Merge side\n",
    changes: [{ from: "src/old name.txt", path: "src/new name.txt" }],
  },
  {
    branch: "other",
    parents: [],
    message: Buffer.from("not utf-8: \xff\xfe\n", "latin1"),
    author: "Zoë <zoë@example.com>",
    date: "1690000000 -0800",
    changes: [{ path: "other.txt", content: lines(5, "other") }],
  },
  {
    branch: "main",
    parents: [4, 5],
    message: "Merge another root\n\nwith a body\nof two lines",
    changes: [{ path: "other.txt", content: lines(5, "other") }],
  },
];

/** Returns commits with links, submodules, deletions, and clocks that go back. */
const CHANGES: MadeCommit[] = [
  {
    branch: "main",
    message: "",
    changes: [
      { path: "crlf.txt", removed: true },
      { path: "turns.txt", content: "a.c", mode: "120000" },
      { path: "module", commit: "1234567890123456789012345678901234567890" },
      { path: "no-end.txt", content: "one\ntwo\nthree\n" },
      { path: "empty.txt", content: "" },
    ],
  },
  {
    branch: "main",
    message: "older than its parent\n",
    author: "Bob <bob@example.com>",
    date: "1600000000 +0000",
    changes: [
      { path: "module", commit: "2234567890123456789012345678901234567890" },
      { path: "link", content: "a.c", mode: "120000" },
      { path: "a.c", content: CODE.replace("more(); line 3\n", "") },
    ],
  },
];

/** Returns a commit with many files. */
const MANY: MadeCommit[] = [
  {
    branch: "main",
    message: "5 000 files\n",
    changes: Array.from({ length: 5000 }, (_, n) => ({
      path: `many/${n % 50}/${n}.txt`,
      content: `${n}\n`,
    })),
  },
  {
    branch: "main",
    message: "all of them again\n",
    changes: Array.from({ length: 5000 }, (_, n) => ({
      path: `many/${n % 50}/${n}.txt`,
      content: `${n}\nagain\n`,
    })),
  },
];

/** Returns everything awkward, in an order that a reader can follow. */
export const awkwardHistory = (): MadeCommit[] => [...FILES, ...MERGES, ...CHANGES, ...MANY];

/** Returns a seeded generator of numbers below `most`. */
export type Draw = (most: number) => number;

export function drawFrom(seed: number): Draw {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (most) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % most;
  };
}

/** Returns branches that diverge and merge, with files that grow, shrink, move and are deleted. */
export function randomHistory(draw: Draw, count: number): MadeCommit[] {
  const branches = ["main", "side", "third"];
  const last = new Map<string, number>();
  const contents = new Map<string, string>();
  return Array.from({ length: count }, (_, n): MadeCommit => {
    const mark = n + 1;
    const branch = n === 0 ? "main" : branches[draw(3)]!;
    const own = last.get(branch) ?? last.get("main");
    const others = [...last.values()].filter((other) => other !== own);
    const isMerge = own !== undefined && others.length > 0 && draw(4) === 0;
    const parents = own === undefined ? [] : isMerge ? [own, others[draw(others.length)]!] : [own];
    last.set(branch, mark);
    const path = `${["", "src/", "src/deep/"][draw(3)]}f${draw(6)}.txt`;
    const before = contents.get(`${branch} ${path}`) ?? "";
    const content = edited(before, draw);
    contents.set(`${branch} ${path}`, content);
    return {
      branch,
      parents,
      message: `${["add", "fix", "Merge", "été"][draw(4)]} ${n}\n${draw(2) === 0 ? "" : `\nbody ${n}\n`}`,
      author: ["Ada <ada@x>", "Bob <bob@x>", "Cy <cy@x>"][draw(3)]!,
      date: `${1_700_000_000 + n * 3600 - draw(5) * 10_000} ${["+0000", "-0330", "+1245"][draw(3)]}`,
      changes: [{ path, content }],
    };
  });
}

function edited(before: string, draw: Draw): string {
  const all = before === "" ? [] : before.split("\n");
  const at = draw(all.length + 1);
  all.splice(at, draw(3), ...Array.from({ length: 1 + draw(4) }, () => `line ${draw(1000)}`));
  return draw(5) === 0
    ? all.join("\n").replace(/\n$/, "")
    : `${all.join("\n").replace(/\n$/, "")}\n`;
}
