/** Presses Ctrl-C in each stage of a write. The command must end soon, with exit code 130 and a clear message. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documents, open } from "../../src/index.ts";
import { bundledPrograms } from "../programs.ts";
import { SLOWNESS } from "../slowness.ts";
import { commit, serveRemotes } from "../sync/remotes.ts";
import { someOf } from "../runs.ts";

const folder = mkdtempSync(join(tmpdir(), "quern-stop-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

/**
 * Makes a process show each step of its progress as on a terminal, and press Ctrl-C once it shows a word; with
 * PRESS_TWICE, again as soon as it has received the first. At its end, it prints the milliseconds of processor time
 * since then.
 */
const PRESS = `
const word = process.env.PRESS_AT;
Object.defineProperty(process.stderr, "isTTY", { value: true });
let ahead = 0;
const os = require("node:os");
os.availableParallelism = () => 0; // no workers by default: to this clock, one that starts stands still
require("node:module").syncBuiltinESMExports();
const now = performance.now.bind(performance);
performance.now = () => now() + (ahead += 101);
let pressed;
const press = () => process.kill(process.pid, "SIGINT");
const write = process.stderr.write.bind(process.stderr);
process.stderr.write = (text) => {
  if (pressed === undefined && word && String(text).includes(word)) {
    pressed = process.cpuUsage();
    press();
  }
  return write(text);
};
process.prependOnceListener("SIGINT", () => {
  pressed ??= process.cpuUsage();
  if (process.env.PRESS_TWICE) setImmediate(press);
});
process.on("exit", () => {
  if (pressed === undefined) return;
  const { user, system } = process.cpuUsage(pressed);
  write("worked " + (user + system) / 1000);
});
`;

let command: string;
const press = join(folder, "press.cjs");
const source = join(folder, "shop");
beforeAll(async () => {
  [command] = (await bundledPrograms(["src/cli/bin.ts"])) as [string];
  writeFileSync(press, PRESS);
  mkdirSync(source);
  for (let n = 0; n < 60; n++)
    writeFileSync(join(source, `f${n}.ts`), `export function needle${n}() {}\n`.repeat(3_000));
});

interface Stopped {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** Starts the command. `when` receives a function that presses Ctrl-C. */
async function started(
  env: Readonly<Record<string, string>>,
  argv: readonly string[],
  when: (press: () => void) => void = () => {},
): Promise<Stopped> {
  const args = ["--require", press, command, ...argv];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const told = text(child.stderr);
  when(() => void child.kill("SIGINT"));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, stderr: await told };
}

const pressAt = (word: string, ...argv: string[]): Promise<Stopped> =>
  started({ PRESS_AT: word }, argv);

/** The stages of a run, as its progress names them. */
const STAGES = ["listed", "listing", "reading", "publishing", "symbols of", "merging"];

/**
 * Expects that the command ended within a second of work, at the latest in the next stage. That stage may begin before
 * the event loop delivers the signal.
 */
function expectStopped({ code, stderr }: Stopped, pressedAt?: string): void {
  expect(code, stderr).toBe(130);
  expect(stderr).toContain("quern: stopped; everything published before is unchanged\n");
  expect(Number(/worked ([\d.]+)$/.exec(stderr)?.[1])).toBeLessThan(1_000 * SLOWNESS);
  if (pressedAt === undefined) return;
  for (const stage of STAGES.slice(STAGES.indexOf(pressedAt) + 2))
    expect(stderr).not.toContain(stage);
}

test.each(
  someOf(
    [
      ["listing", "0"],
      ["reading", "0"],
      ["reading", "2"],
      ["publishing", "0"],
      ["symbols of", "0"],
      ["symbols of", "2"],
    ],
    2,
  ),
)("Ctrl-C stops an index run: %s, with %s workers", async (word, workers) => {
  const db = join(folder, `index-${word.replace(" ", "-")}-${workers}`);
  const stopped = await pressAt(word, "index", source, "--workers", workers, "--db", db);
  expectStopped(stopped, word);
  // contents and symbols are read in several steps, of which one may follow
  const half = /[█░]+ +(?:[5-9]\d|100)%|60\/60/.source;
  if (word === "reading") expect(stopped.stderr).not.toMatch(new RegExp(`reading (?:${half})`));
  else expect(stopped.stderr).not.toMatch(new RegExp(`symbols (?:${half})`));
  const engine = await open(db);
  try {
    expect(await engine.check()).toMatchObject({ ok: true });
    // content is published before its symbols are found; a commit that has begun is not undone
    const count = (await engine.repositories()).length;
    if (word !== "publishing") expect(count).toBe(word === "symbols of" ? 1 : 0);
  } finally {
    await engine.close();
  }
});

test("Ctrl-C stops a compaction while it merges", async () => {
  const db = join(folder, "compacted");
  const engine = await open(db, { workers: 0 });
  const files = [{ path: "a.txt", content: "needle\n" }];
  for (const name of ["a", "b", "c"]) await engine.index(documents({ name, files }));
  await engine.close();
  expectStopped(await pressAt("merging", "compact", "--db", db), "merging");
});

/** Makes a remote with a repository, and the arguments of a sync that waits for its answers without a limit. */
async function syncOf(connection: (url: string) => object) {
  const remotes = await serveRemotes();
  const line = (n: number) => `export function needle${n}() {}\n`.repeat(50);
  const files = Array.from({ length: 60 }, (_, n) => [`f${n}.ts`, line(n)] as const);
  commit(remotes.root, "acme/shop", Object.fromEntries(files));
  const place = mkdtempSync(join(folder, "sync-"));
  const config = join(place, "quern.json");
  const connections = { work: connection(remotes.url) };
  writeFileSync(config, JSON.stringify({ connections, sync: { stallTimeout: "1h" } }));
  const argv = ["sync", config, "--workers", "0", "--db", join(place, "index")];
  return { remotes, argv };
}

const plainGit = (url: string) => ({ type: "git", urls: [`${url}/acme/shop.git`] });

test.each(someOf(["listed", "listing", "reading", "publishing", "symbols of"], 3))(
  "Ctrl-C stops a sync run: %s",
  async (word) => {
    const { argv } = await syncOf(plainGit);
    expectStopped(await pressAt(word, ...argv), word);
  },
);

const UNANSWERED: readonly (readonly [what: string, connection: (url: string) => object])[] = [
  ["a list", (url) => ({ type: "gitea", url, orgs: ["acme"] })],
  ["a fetch", plainGit],
];

/** Presses Ctrl-C once the host has received a request that it never answers. */
async function pressUnanswered(
  connection: (url: string) => object,
  env: Readonly<Record<string, string>> = {},
  ...more: string[]
): Promise<Stopped> {
  const { remotes, argv } = await syncOf(connection);
  remotes.interface = () => true;
  remotes.hanging.add("acme/shop");
  const ended = started(env, [...argv, ...more], (press) => {
    void expect
      .poll(() => remotes.requests.length)
      .toBeGreaterThan(0)
      .then(press);
  });
  const stopped = await ended;
  await expect.poll(() => processesOf(remotes.url)).toEqual([]);
  return stopped;
}

/**
 * Returns the processes on this machine that have the address among their arguments, such as git. Only Linux lists
 * arguments.
 */
function processesOf(url: string): string[] {
  if (process.platform !== "linux") return [];
  const commands = readdirSync("/proc").map((name) => {
    if (!/^\d+$/.test(name)) return "";
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
      return ""; // the process has just ended
    }
  });
  return commands.filter((line) => line.includes(url));
}

test.each(someOf(UNANSWERED, 3))(
  "Ctrl-C stops a sync run while %s is not answered",
  async (_, connection) => {
    expectStopped(await pressUnanswered(connection));
  },
);

test.each(someOf(UNANSWERED, 3))(
  "a second Ctrl-C ends a sync run at once while %s is not answered",
  async (_, of) => {
    const { code, signal } = await pressUnanswered(of, { PRESS_TWICE: "1" });
    // a shell turns this into 130; a run that ended by itself would have a code
    expect([code, signal]).toEqual([null, "SIGINT"]);
  },
);

test.each(someOf(UNANSWERED, 3))(
  "Ctrl-C ends a repeated sync with 0 while %s is not answered",
  async (_, connection) => {
    const { code, stderr } = await pressUnanswered(connection, {}, "--every", "1h");
    expect(code, stderr).toBe(0); // Ctrl-C is the normal way to end a repeated sync
  },
);
