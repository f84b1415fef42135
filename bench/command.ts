/** Runs other programs and watches what they take. */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";

export function isOnPath(program: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => statSync(join(folder, program), { throwIfNoEntry: false }));
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the program once it has printed so many lines. */
  readonly lines?: number;
}

/** What it printed. Rejects on exit codes over 1: 1 is "nothing found" to all of them. */
export function output(program: string, args: readonly string[], options: RunOptions = {}) {
  return new Promise<string>((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const printed: Buffer[] = [];
    const complaints: Buffer[] = [];
    let missing = options.lines ?? Infinity;
    child.stdout.on("data", (piece: Buffer) => {
      printed.push(piece);
      if (missing !== Infinity) missing -= piece.filter((byte) => byte === 10).length;
      if (missing <= 0) child.kill();
    });
    child.stderr.on("data", (piece: Buffer) => complaints.push(piece));
    child.on("error", reject);
    child.on("close", (code) => {
      const text = Buffer.concat(printed).toString();
      if (code === null ? missing <= 0 : code <= 1) resolve(text);
      else
        reject(new Error(`${program} ended with ${code}: ${Buffer.concat(complaints).toString()}`));
    });
  });
}

/** Seconds and peak memory of a program run to its end. */
export async function measured(program: string, args: readonly string[], options: RunOptions = {}) {
  const start = performance.now();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: "ignore",
  });
  const peak = watchMemory(child, "VmHWM");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
  return { seconds: (performance.now() - start) / 1000, peakBytes: peak() };
}

/** The most a process has held of a kind of memory since this call; undefined where there is no /proc. */
export function watchMemory(child: ChildProcess, kind: "RssAnon" | "VmHWM") {
  let peak: number | undefined;
  const look = () => {
    const now = child.pid === undefined ? undefined : memoryOf(child.pid, kind);
    if (now !== undefined) peak = Math.max(peak ?? 0, now);
  };
  const timer = setInterval(look, 10);
  timer.unref();
  child.on("exit", () => clearInterval(timer));
  look();
  return (): number | undefined => {
    look();
    return peak;
  };
}

/** Bytes. */
export function memoryOf(pid: number, kind: string): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kibibytes = new RegExp(`^${kind}:\\s+(\\d+)`, "m").exec(status)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined; // ended, or not Linux
  }
}

/** Bytes on disk below a folder, or of a file. */
export function sizeOnDisk(path: string): number {
  const { blocks, size } = statSync(path);
  if (!statSync(path).isDirectory()) return process.platform === "win32" ? size : blocks * 512;
  return readdirSync(path).reduce((sum, name) => sum + sizeOnDisk(join(path, name)), 0);
}

export const firstLine = (program: string, ...args: string[]) =>
  spawnSync(program, args, { encoding: "utf8" }).stdout.split("\n")[0] ?? "";
