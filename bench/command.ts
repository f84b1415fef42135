/** Runs other programs, and measures their time and memory. */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";

export function isOnPath(program: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => statSync(join(folder, program), { throwIfNoEntry: false }));
}

/** Returns the version of a program that does not report it, from the system's packages. */
export function packageVersion(name: string): string {
  const { stdout, status } = spawnSync("dpkg-query", ["-W", "-f", "${Version}", name]);
  return status === 0 ? stdout.toString() : "of unknown version";
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Resolves to the output. Rejects on exit codes over 1, because 1 means "nothing found" for all of these programs. */
export async function output(program: string, args: readonly string[], options: RunOptions = {}) {
  const printed: Buffer[] = [];
  await watchOutput(program, args, { ...options, onPiece: (piece) => printed.push(piece) > 0 });
  return Buffer.concat(printed).toString();
}

/** Resolves to the milliseconds until the program had printed this many lines, or ended. It is then stopped. */
export async function msToLines(
  program: string,
  args: readonly string[],
  { lines, ...options }: RunOptions & { readonly lines: number },
) {
  const start = performance.now();
  let missing = lines;
  let ms: number | undefined;
  const onPiece = (piece: Buffer) => {
    missing -= newlinesOf(piece);
    if (missing <= 0) ms ??= performance.now() - start;
    return missing > 0;
  };
  await watchOutput(program, args, { ...options, onPiece });
  return ms ?? performance.now() - start;
}

function newlinesOf(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) count++;
  return count;
}

/** Passes the output on, and ends the program when no more is wanted. */
function watchOutput(
  program: string,
  args: readonly string[],
  { cwd, env = process.env, onPiece }: RunOptions & { onPiece: (piece: Buffer) => boolean },
) {
  return new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const complaints: Buffer[] = [];
    let isEnough = false;
    child.stdout.on("data", (piece: Buffer) => {
      if (isEnough || onPiece(piece)) return;
      isEnough = true;
      child.kill();
    });
    child.stderr.on("data", (piece: Buffer) => complaints.push(piece));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === null ? isEnough : code <= 1) resolve();
      else
        reject(new Error(`${program} ended with ${code}: ${Buffer.concat(complaints).toString()}`));
    });
  });
}

/** Resolves to the seconds and the peak memory of a program that runs to its end. */
export async function measured(program: string, args: readonly string[], options: RunOptions = {}) {
  const start = performance.now();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: "ignore",
  });
  const peak = watchMemory(child);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  return { seconds: (performance.now() - start) / 1000, ...peak() };
}

/** Runs something three times, and resolves to the result of the run that took neither the least nor the most time. */
export async function middleOfThree<T extends { readonly seconds: number }>(
  run: () => Promise<T>,
): Promise<T> {
  const results = [await run(), await run(), await run()];
  return results.sort((a, b) => a.seconds - b.seconds)[1]!;
}

/** The peak memory of a process without its child processes. Undefined if there is no /proc. */
export interface PeakMemory {
  /** The process's own memory (RssAnon). */
  readonly anonymousBytes: number | undefined;
  /** The memory including the parts of mapped files that were resident (VmHWM). */
  readonly residentBytes: number | undefined;
}

/** Samples the memory every 10 ms from now on. */
export function watchMemory(child: ChildProcess): () => PeakMemory {
  let peak: PeakMemory = { anonymousBytes: undefined, residentBytes: undefined };
  const look = () => {
    const status = child.pid === undefined ? "" : statusOf(child.pid);
    peak = {
      anonymousBytes: highest(peak.anonymousBytes, bytesIn(status, "RssAnon")),
      residentBytes: highest(peak.residentBytes, bytesIn(status, "VmHWM")),
    };
  };
  const timer = setInterval(look, 10);
  timer.unref();
  child.on("exit", () => clearInterval(timer));
  look();
  return () => {
    look();
    return peak;
  };
}

const highest = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

/** Returns bytes, or undefined if there is no /proc or the process has ended. */
export const memoryOf = (pid: number, kind: string) => bytesIn(statusOf(pid), kind);

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

function bytesIn(status: string, kind: string): number | undefined {
  const kibibytes = new RegExp(`^${kind}:\\s+(\\d+)`, "m").exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** Returns the bytes that a file, or everything below a folder, takes on the disk. */
export function sizeOnDisk(path: string): number {
  const { blocks, size } = statSync(path);
  if (!statSync(path).isDirectory()) return process.platform === "win32" ? size : blocks * 512;
  return readdirSync(path).reduce((sum, name) => sum + sizeOnDisk(join(path, name)), 0);
}

export const firstLine = (program: string, ...args: string[]) =>
  spawnSync(program, args, { encoding: "utf8" }).stdout.split("\n")[0] ?? "";
