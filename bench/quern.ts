/** Runs quern as the subject of a measurement, in a separate process, from the built package if there is one. */

import { fork, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import type { Engine } from "../src/engine.ts";
import type { Source } from "../src/ingest/sources/source.ts";
import { watchMemory, type PeakMemory } from "./command.ts";
import { filesOf } from "./corpus.ts";
import type { CommandName, Commands, Outcome } from "./subject-commands.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist/index.js");
const source = join(root, "src/index.ts");

/** Whether there is a package, and no source file is newer. */
export function isBuilt(): boolean {
  const built = statSync(dist, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return [...filesOf(join(root, "src"))].every((file) => statSync(file).mtimeMs <= built);
}

let chosen = process.env["QUERN_ENGINE"]; // another build to compare with

/** Builds the package from the current sources, if they can be built. */
export function buildPackage(): void {
  if (chosen !== undefined || isBuilt()) return;
  const [kernel, rest] = ["scripts/build-kernel.mjs", "scripts/build-package.mjs"];
  for (const script of [kernel, rest])
    spawnSync(process.execPath, [script], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}

/**
 * Returns the engine to measure. It is chosen once, because saving a file during a run must not change what is
 * measured.
 */
function libraryUrl(): string {
  chosen ??= pathToFileURL(isBuilt() ? dist : source).href;
  return chosen;
}

/** Describes what is measured, for the record. */
export const describeBuild = () =>
  libraryUrl().endsWith(".ts") ? "its sources, behind a loader of TypeScript" : "the built package";

/** The part of the public interface that the benchmark uses. */
export interface Library {
  open(path: string, options: object): Promise<Engine>;
  directory(path: string, options: object): Source;
  git(path: string, options: object): Source;
  documents(options: object): Source;
}

export const loadQuern = async () => (await import(libraryUrl())) as Library;

export type Handler = (request: Request) => Promise<Response>;

export interface HandlerLibrary {
  readonly createHandler: (engine: Engine, options: object) => Handler;
}

export const loadHandlers = async () =>
  (await import(
    libraryUrl().replace(/index\.(js|ts)$/, (file) =>
      file === "index.js" ? "http.js" : "http/index.ts",
    )
  )) as HandlerLibrary;

let bundled: Promise<string> | undefined;

async function bundleSubject(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "quern-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, "subject.mjs");
  await build({
    entryPoints: [join(root, "bench/subject.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
  });
  return outfile;
}

export interface Subject {
  do<Name extends CommandName>(
    name: Name,
    options: Parameters<Commands[Name]>[0],
  ): Promise<Awaited<ReturnType<Commands[Name]>>>;
  /** Returns the peak so far. */
  peak(): PeakMemory;
  end(): Promise<void>;
}

/** Starts a process that measures a build of quern. By default, measures the chosen one. */
export async function startSubject(url = libraryUrl()): Promise<Subject> {
  bundled ??= bundleSubject();
  const child = fork(await bundled, {
    execArgv: url.endsWith(".ts") ? ["--import", "tsx"] : [],
    cwd: root,
    env: { ...process.env, QUERN_ENGINE: url },
  });
  const peak = watchMemory(child);
  return {
    peak,
    do: async (name, options) => (await order(child, name, options)) as never,
    async end() {
      await order(child, "close", {});
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.disconnect();
      await ended;
    },
  };
}

/** Sends a command to the process, and resolves to its answer. REQUIRES: no other command is running. */
function order(child: ChildProcess, name: CommandName, options: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const lost = () => reject(new Error(`the process that runs quern ended during ${name}`));
    child.once("exit", lost);
    child.once("message", (outcome: Outcome) => {
      child.off("exit", lost);
      if ("error" in outcome) reject(new Error(`${name}: ${outcome.error}`));
      else resolve(outcome.value);
    });
    child.send({ name, options });
  });
}
