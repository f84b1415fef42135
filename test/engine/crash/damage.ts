/**
 * Damages the data file of an index by one changed byte, or truncates it, and records what processes that open it
 * answer. The file has been copied without free pages. So each of its bytes belongs to a stored value or to LMDB's own
 * pages: its tree, its keys, and its two meta pages.
 */

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open, type RootDatabaseOptionsWithPath } from "lmdb";
import { checkInChild } from "../../../src/store/upkeep/check-process.ts";
import { engineKey, SEGMENTS_TABLE, segmentOfKey } from "../../../src/store/format/format.ts";
import { unseal } from "../../../src/store/format/sealed.ts";
import { unpackManifest } from "../../../src/store/catalog/manifest.ts";
import type { Bundle } from "./bundle.ts";
import { difference, judge, type Answer, type Verdict } from "./questions.ts";
import { IN_VALUES, runWriter } from "./writer.ts";
import { SHORT_LIVED } from "../../short-lived.ts";

/**
 * A process that works longer than this many milliseconds hangs. Normally, it works for 1 s, regardless of other load.
 */
const HANGS_WORK_SECONDS = 30;
/**
 * The limit by the clock, for a process that waits for ever and takes no processor time. It is generous, because on a
 * busy machine an intact process may run for more than 30 s.
 */
const HANGS_MS = 600_000;
/** The number of operations of the writer. They leave three repositories in some segments. */
const OPERATIONS = 7;

export interface Target {
  /** The undamaged data file. */
  readonly bytes: Buffer;
  /** The stored values with their places, by key. */
  readonly values: readonly StoredValue[];
  /** Numbers of the pages that are not text or tables of several pages. */
  readonly treePages: readonly number[];
  readonly right: readonly Answer[];
}

export interface StoredValue {
  readonly key: Buffer;
  readonly start: number;
  readonly end: number;
  /** Whether the value belongs to a segment that the current manifest does not name, so that nobody reads it. */
  readonly isRetired: boolean;
}

export async function makeTarget(bundled: Bundle, folder: string): Promise<Target> {
  const script = bundled.script("writer-process");
  const all = { first: 0, end: OPERATIONS, workers: 2 };
  await runWriter({ script, path: folder, ...all, fileBlocks: IN_VALUES });
  await copyWhole(join(folder, "index", "quern.mdb"), join(folder, "whole.mdb"));
  const bytes = readFileSync(join(folder, "whole.mdb"));
  const values = await locate(bytes, join(folder, "whole.mdb"));
  const outcome = await tryDamaged(bundled, place(folder, "right", bytes));
  if (typeof outcome === "string") throw new Error(`the undamaged index: ${outcome}`);
  return { bytes, values, treePages: treePagesOf(bytes), right: outcome };
}

/** The size of LMDB's pages. */
const PAGE_BYTES = 4096;
const PAGE_HEADER_BYTES = 24;
/** The flag of a page that begins a value of several pages. */
const OVERFLOW = 4;

/**
 * Returns the pages of LMDB's tree. A page begins with its number and transaction (8 bytes each), padding and flags. A
 * page with OVERFLOW then has the number of pages of its value. Any other page has the bounds of its free space.
 */
function treePagesOf(bytes: Buffer): number[] {
  const pages: number[] = [];
  for (let page = 0; page * PAGE_BYTES < bytes.length;) {
    if (!isOverflow(bytes, page)) pages.push(page);
    page += isOverflow(bytes, page) ? bytes.readUInt32LE(page * PAGE_BYTES + 20) : 1;
  }
  return pages;
}

const isOverflow = (bytes: Buffer, page: number): boolean =>
  (bytes.readUInt16LE(page * PAGE_BYTES + 18) & OVERFLOW) !== 0;

const lmdb = (path: string) =>
  open<Buffer, Buffer>({
    path,
    noSubdir: true,
    encoding: "binary",
    keyEncoding: "binary",
    mapSize: 2 ** 40,
  } as RootDatabaseOptionsWithPath);

/** Copies the data file without its free pages, which contain old values. */
async function copyWhole(from: string, to: string): Promise<void> {
  const database = lmdb(from);
  await database.backup(to, true);
  await database.close();
}

const MANIFEST = engineKey("manifest");

/** Finds the places of the stored values. A lease that nobody holds has no value. */
async function locate(bytes: Buffer, path: string): Promise<StoredValue[]> {
  const database = lmdb(path);
  const treePages = new Set(treePagesOf(bytes));
  const values: StoredValue[] = [];
  const manifest = unseal(MANIFEST, database.get(MANIFEST)!, "the manifest");
  const named = new Set(unpackManifest(manifest).segments.map(({ segment }) => segment));
  for (const { key, value } of database.getRange({ snapshot: true })) {
    let start = bytes.indexOf(value);
    while (start >= 0 && !isPlace(bytes, start, treePages)) start = bytes.indexOf(value, start + 1);
    if (start < 0) throw new Error("a value does not lie in the file as it is read");
    const isRetired = key[0] === SEGMENTS_TABLE && !named.has(segmentOfKey(key));
    values.push({ key: Buffer.from(key), start, end: start + value.length, isRetired });
  }
  await database.close();
  return values;
}

/** Whether a current value is at this place. The free space of pages still contains old values. */
function isPlace(bytes: Buffer, at: number, treePages: ReadonlySet<number>): boolean {
  const page = Math.floor(at / PAGE_BYTES);
  const within = at % PAGE_BYTES;
  if (treePages.has(page)) return within >= bytes.readUInt16LE(page * PAGE_BYTES + 22);
  return within === PAGE_HEADER_BYTES && isOverflow(bytes, page);
}

/** Makes the directory of an index with this data file. */
export function place(folder: string, name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "quern.mdb"), bytes);
  return path;
}

export interface Damage {
  readonly what: string;
  readonly bytes: Buffer;
  /** The damaged value. Undefined if no stored value was hit. */
  readonly value: StoredValue | undefined;
  readonly isCut: boolean;
}

/**
 * Draws a damage at random. Of ten damages, one truncates the file, four change a random value, two change a random
 * byte of the file, and three change a byte that belongs to no value.
 */
export function damageOf({ bytes, values, treePages }: Target, random: () => number): Damage {
  const choice = Math.floor(random() * 10);
  const below = (limit: number) => Math.floor(random() * limit);
  if (choice === 0) {
    const length = below(bytes.length);
    const cut = bytes.subarray(0, length);
    return { what: `cut to ${length} bytes`, bytes: cut, value: undefined, isCut: true };
  }
  const within = values[below(values.length)]!;
  let at = choice < 5 ? within.start + below(within.end - within.start) : below(bytes.length);
  const hit = () => values.find(({ start, end }) => start <= at && at < end);
  while (choice > 6 && hit())
    at = treePages[below(treePages.length)]! * PAGE_BYTES + below(PAGE_BYTES);
  const bit = below(8);
  const flipped = Buffer.from(bytes);
  flipped[at]! ^= 1 << bit;
  return { what: `bit ${bit} of byte ${at}`, bytes: flipped, value: hit(), isCut: false };
}

/** Returns the answers, or how the process ended without an answer. */
export function tryDamaged(bundled: Bundle, path: string): Promise<Answer[] | string> {
  return new Promise((resolve) => {
    const child = spawnLimited([
      process.execPath,
      ...SHORT_LIVED,
      bundled.script("damage-process"),
      path,
    ]);
    const out: Buffer[] = [];
    child.stdout.on("data", (data: Buffer) => out.push(data));
    const timer = setTimeout(() => child.kill("SIGKILL"), HANGS_MS);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(JSON.parse(Buffer.concat(out).toString()) as Answer[]);
      else resolve(signal === "SIGKILL" || signal === "SIGXCPU" ? "hangs" : "died");
    });
  });
}

/** Starts a process that the system ends after too much work, if there is a shell that can set this limit. */
function spawnLimited([program = "", ...args]: readonly string[]) {
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const limited = `ulimit -t ${HANGS_WORK_SECONDS}; exec "$0" "$@"`;
  return process.platform === "win32"
    ? spawn(program, args, { stdio: [...stdio] })
    : spawn("sh", ["-c", limited, program, ...args], { stdio: [...stdio] });
}

export type Outcome = Verdict | "hangs" | "died";

export interface Trial {
  readonly outcome: Outcome;
  /** The result of check(): nothing, damage, or that reading ended its process. */
  readonly check: "clean" | "damage" | "died" | "hangs";
  /** The names of the questions that were refused. */
  readonly refused: readonly string[];
  /** The messages of these refusals. */
  readonly words: readonly string[];
  /** How each wrong answer differs. */
  readonly wrong: readonly string[];
}

/** The verdicts from worst to best. The worst of several answers counts. */
const WORST: readonly Verdict[] = ["wrong", "refused", "partial", "right"];

export async function tryDamage(
  bundled: Bundle,
  { target, damage, folder }: { target: Target; damage: Damage; folder: string },
): Promise<Trial> {
  const path = place(folder, "damaged", damage.bytes);
  const [told, check] = await Promise.all([tryDamaged(bundled, path), checked(bundled, path)]);
  if (typeof told === "string")
    return { outcome: told as Outcome, check, refused: [], words: [], wrong: [] };
  const verdicts = told.map((answer) => judge(answer, target.right));
  const outcome = WORST.find((verdict) => verdicts.includes(verdict))!;
  const judged = (verdict: Verdict) => told.filter((_, i) => verdicts[i] === verdict);
  const wrong = judged("wrong").map((answer) => difference(answer, target.right));
  const refused = judged("refused");
  return {
    outcome,
    check,
    refused: refused.map(({ name }) => name),
    words: refused.map(({ message }) => message!),
    wrong,
  };
}

async function checked(bundled: Bundle, path: string): Promise<Trial["check"]> {
  const signal = AbortSignal.timeout(HANGS_MS);
  try {
    const { problems } = await checkInChild(pathToFileURL(bundled.script("check")), path, signal);
    const [first] = problems;
    if (!first) return "clean";
    return first.message.includes("ended the process") ? "died" : "damage";
  } catch {
    return "hangs";
  }
}
