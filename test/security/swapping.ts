/**
 * Exchanges a folder for a symlink that leads out, again and again, while it is indexed: by renameat2, which
 * leaves no moment without either, where there is a Python to call it; else by two renames.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { directory } from "../../src/ingest/sources/directory.ts";
import type { Source } from "../../src/ingest/sources/source.ts";

/** A word in the text and in the names of everything outside. */
const OUTSIDE = "outsideonly";
const FOLDERS = 12;
const FILES = 12;
/** The folders that are exchanged: one with a subfolder, and one without. */
const SWAPPED = ["d3", "d7/deep"];

const EXCHANGE = `
import ctypes, random, sys, time
libc = ctypes.CDLL(None, use_errno=True)
pairs = [(a.encode(), b.encode()) for a, b in zip(sys.argv[1::2], sys.argv[2::2])]
if libc.renameat2(-100, pairs[0][0], -100, pairs[0][1], 2) != 0: sys.exit(3)
print("ready", flush=True)
while True:
    for a, b in pairs: libc.renameat2(-100, a, -100, b, 2)
    if random.random() < 0.5: time.sleep(random.random() * 0.002)
`;
const RENAMES = `
const { renameSync } = require("node:fs");
const names = process.argv.slice(1);
console.log("ready");
for (;;) for (let n = 0; n < names.length; n += 2) {
  const [a, b] = [names[n], names[n + 1]];
  renameSync(a, a + ".held"); renameSync(b, a); renameSync(a + ".held", b);
}`;

export interface Swapping {
  /** Whether renameat2 makes the exchange. */
  readonly isExchange: boolean;
  end(): void;
}

async function startSwapping(names: readonly string[]): Promise<Swapping> {
  const exchange = await started(spawn("python3", ["-c", EXCHANGE, ...names]));
  if (exchange) return { isExchange: true, end: () => void exchange.kill("SIGKILL") };
  const renames = await started(spawn(process.execPath, ["-e", RENAMES, ...names]));
  if (!renames) throw new Error("nothing exchanges");
  return { isExchange: false, end: () => void renames.kill("SIGKILL") };
}

const started = (child: ChildProcess): Promise<ChildProcess | undefined> =>
  new Promise((resolve) => {
    child.stdout!.once("data", () => resolve(child));
    child.once("error", () => resolve(undefined)).once("exit", () => resolve(undefined));
  });

/** Makes a tree whose folders are exchanged for links to another tree of the same form. */
export function makeTrees(base: string): { inside: string; names: string[] } {
  const [inside, outside] = [join(base, "inside"), join(base, "outside")];
  for (const [root, word] of [
    [inside, "ours"],
    [outside, OUTSIDE],
  ] as const)
    for (let d = 0; d < FOLDERS; d++) {
      mkdirSync(join(root, `d${d}`, "deep"), { recursive: true });
      for (const folder of [`d${d}`, `d${d}/deep`]) {
        for (let f = 0; f < FILES; f++)
          writeFileSync(join(root, folder, `${f}.txt`), `${word} text ${d} ${f}\n`);
        const own = join(root, folder, `${word}-name.txt`);
        writeFileSync(own, `${word}\n`);
        symlinkSync("nowhere", join(root, folder, `${word}-link`));
        writeFileSync(join(root, folder, ".gitignore"), root === outside ? "1.txt\n" : "\n");
        utimesSync(own, 1, 1);
      }
    }
  const names = SWAPPED.flatMap((folder, n) => {
    symlinkSync(join(outside, folder), join(base, `link${n}`));
    return [join(inside, folder), join(base, `link${n}`)];
  });
  return { inside, names };
}

export const MODES = ["directory", "git", "workspace"] as const;
export type Mode = (typeof MODES)[number];

export interface Attack {
  readonly runs: number;
  /** The number of runs that met an exchange, so that a file was missing or in another place. */
  readonly met: number;
  readonly isExchange: boolean;
  /** Descriptions of what was found outside. */
  readonly leaks: string[];
}

export async function attack(base: string, mode: Mode, ms: number): Promise<Attack> {
  const { inside, names } = makeTrees(base);
  if (mode === "git") execFileSync("git", ["init", "-q", inside]);
  const engine = await open(join(base, "index"), { workers: 1 });
  const swapping = await startSwapping(names);
  let [runs, met] = [0, 0];
  const leaks: string[] = [];
  try {
    for (const end = performance.now() + ms; performance.now() < end; runs++) {
      const seen =
        mode === "workspace" ? await follow(engine, inside) : await list(engine, inside, mode);
      if (seen.isShort) met++;
      leaks.push(...seen.leaks);
    }
  } finally {
    swapping.end();
    await engine.close();
  }
  return { runs, met, isExchange: swapping.isExchange, leaks };
}

interface Seen {
  readonly isShort: boolean;
  readonly leaks: string[];
}

/** Indexes a new repository, so that every file is read, and searches it. */
async function list(engine: Engine, inside: string, mode: Mode): Promise<Seen> {
  const options = mode === "git" ? { git: true } : {};
  const source: Source = directory(inside, { name: "r", ...options });
  await engine.index(source, { symbols: "skip" });
  const seen = await look((request) => engine.search(request), engine);
  await engine.remove("r");
  return seen;
}

async function follow(engine: Engine, inside: string): Promise<Seen> {
  const tree = await engine.workspace(inside);
  const seen: Seen[] = [];
  for (let turn = 0; turn < 10; turn++)
    seen.push(await look((request) => tree.search(request), engine));
  await tree.close();
  seen.push(await look((request) => engine.search(request), engine));
  for (const { name } of await engine.repositories()) await engine.remove(name);
  return {
    isShort: seen.some(({ isShort }) => isShort),
    leaks: seen.flatMap(({ leaks }) => leaks),
  };
}

async function look(
  search: (request: { query: string; matches: number }) => ReturnType<Engine["search"]>,
  engine: Engine,
): Promise<Seen> {
  const { files } = await search({ query: OUTSIDE, matches: 1_000 });
  const leaks = files.map(
    ({ fileName, chunks }) => `${chunks.length > 0 ? "text" : "name"} of ${fileName.text}`,
  );
  const named = await search({ query: `file:${OUTSIDE}`, matches: 1_000 });
  leaks.push(...named.files.map(({ fileName }) => `name ${fileName.text}`));
  for (const { skipped } of await engine.repositories())
    leaks.push(
      ...skipped
        .filter(({ path }) => path.includes(OUTSIDE))
        .map(({ path, reason }) => `listed ${path} ${reason}`),
    );
  const { stats } = await search({ query: "ours", matches: 0 });
  return { isShort: stats.fileCount < 2 * FOLDERS * (FILES + 1), leaks };
}
