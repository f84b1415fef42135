/**
 * Random changes to a folder while it is followed and searched. Every answer must equal a look at every file. An answer
 * during changes has the unsaved texts of one moment between the question and the answer. For every other file, it has
 * the file's content on disk at any such moment.
 */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Engine } from "../../src/engine.ts";
import {
  NO_NOTICES,
  systemNotices,
  type MakeNotices,
  type Notices,
} from "../../src/workspace/notices.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";

export const BRANCHES = ["one", "two"] as const;

export type Step =
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "remove" | "touch" | "folder"; readonly path: string }
  | { readonly kind: "move"; readonly path: string; readonly to: string }
  | { readonly kind: "unsaved"; readonly path: string; readonly text: string | undefined }
  | { readonly kind: "checkout"; readonly branch: (typeof BRANCHES)[number] }
  | { readonly kind: "stash" | "unstash" }
  /** "ask" starts a search; "answer" waits for all answers. */
  | { readonly kind: "ask" | "answer" }
  | { readonly kind: "search" | "settle" | "turn" };

/** How often each file contains `needle`, by path. */
type Counts = ReadonlyMap<string, number>;

interface State {
  readonly disk: Counts;
  readonly unsaved: Counts;
}

/** Makes notices of which some are dropped. A drop is reported as a possible loss. */
function forgetful(root: string, onLost: () => void, random: () => number): Notices {
  const system = systemNotices(root, onLost);
  return {
    ...NO_NOTICES,
    watch: (folder, listener) =>
      system.watch(folder, {
        ...listener,
        changed: (name) => {
          if (random() < 0.5) listener.changed(name);
          else onLost();
        },
      }),
    barrier: () => system.barrier(),
    close: () => system.close(),
  };
}

/** Makes notices for only some folders, as if the limit of watches were reached. */
function limited(root: string, onLost: () => void, random: () => number): Notices {
  const system = systemNotices(root, onLost);
  return {
    watch: (folder, listener) => (random() < 0.5 ? system.watch(folder, listener) : undefined),
    barrier: () => system.barrier(),
    close: () => system.close(),
  };
}

type Kind = (root: string, onLost: () => void, random: () => number) => Notices;

export const KINDS: Readonly<Record<string, Kind>> = {
  "the system's": systemNotices,
  "none at all": () => NO_NOTICES,
  "half of them lost": forgetful,
  "half of the folders watched": limited,
};

export interface Interleaving {
  /** A name of KINDS. */
  readonly notices: string;
  readonly steps: readonly Step[];
}

let current: MakeNotices = systemNotices;

/** The notices of the interleaving that runs. The engine of an interleaving must have them in its internals. */
export const notices: MakeNotices = (folder, onLost) => current(folder, onLost);

/**
 * Takes the steps in a new folder, and then searches. Throws if an answer is wrong. `random` returns numbers from 0 to
 * 1, which decide about notices.
 */
export async function takeAll(
  { notices: kind, steps }: Interleaving,
  { engine, root, random }: { engine: Engine; root: string; random: () => number },
): Promise<void> {
  mkdirSync(root, { recursive: true });
  if (steps.some(({ kind }) => ["checkout", "stash", "unstash"].includes(kind))) prepare(root);
  current = (folder, onLost) => KINDS[kind]!(folder, onLost, random);
  const tree = await engine.workspace(root);
  const run = new Run(root, tree);
  try {
    for (const step of [...steps, { kind: "answer" as const }, { kind: "search" as const }])
      await run.take(step);
  } finally {
    await run.end();
    await tree.close();
    await engine.remove(tree.repository);
    rmSync(root, { recursive: true, force: true });
  }
}

/** A repository with two branches. It is made once, because each call of git takes as long as all other steps. */
let prepared: string | undefined;

function prepare(root: string): void {
  if (prepared === undefined) {
    const made = mkdtempSync(join(tmpdir(), "quern-prepared-"));
    process.on("exit", () => rmSync(made, { recursive: true, force: true }));
    makeRepository(made);
    prepared = made;
  }
  cpSync(prepared, root, { recursive: true });
}

function makeRepository(root: string): void {
  git(root, "init", "--quiet", "--template=", "--initial-branch=one");
  commit(root, { a: "needle", "b/c": "hay", "c/d.txt": "needle needle\n" });
  git(root, "checkout", "--quiet", "-b", "two");
  commit(root, { a: "hay", "b/c": "needle", "e.py": "def needle(): pass\n" });
}

function commit(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) write(join(root, path), text);
  git(root, "add", "--all");
  git(root, "commit", "--quiet", "--message=x");
}

const WHO = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.fsync=none"];

const git = (root: string, ...args: string[]): void =>
  void execFileSync("git", ["-C", root, ...WHO, ...args], { stdio: "ignore" });

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Tries a change. A change that is impossible in the current state of the disk does nothing. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    const { code, status } = error as { code?: string; status?: number };
    if (code === undefined && status === undefined) throw error;
  }
}

class Run {
  readonly #root: string;
  readonly #tree: Workspace;
  readonly #unsaved = new Map<string, string>();
  /** The unanswered questions, each with all states since it was asked. */
  readonly #asked = new Set<{ readonly states: State[]; readonly answer: Promise<void> }>();

  constructor(root: string, tree: Workspace) {
    this.#root = root;
    this.#tree = tree;
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "ask":
        return this.#ask();
      case "answer":
        return void (await Promise.all([...this.#asked].map(({ answer }) => answer)));
      case "search": {
        const expected = this.#look();
        const found = await this.#found();
        return mustBeOneOf(found, this.#asked.size > 0 ? [expected, this.#look()] : [expected]);
      }
      case "settle":
        return this.#tree.settled();
      case "turn":
        return new Promise<void>((resolve) => setImmediate(resolve));
      case "unsaved":
        this.#setUnsaved(step.path, step.text);
        break;
      case "write":
      case "folder":
      case "remove":
      case "touch":
      case "move":
      case "checkout":
      case "stash":
      case "unstash":
        attempt(() => happen(this.#root, step));
    }
    for (const { states } of this.#asked) states.push(this.#look());
  }

  /** Waits for all answers. */
  async end(): Promise<void> {
    await Promise.allSettled([...this.#asked].map(({ answer }) => answer));
  }

  #setUnsaved(path: string, text: string | undefined): void {
    if (text === undefined) {
      this.#tree.unset(path);
      this.#unsaved.delete(path);
    } else {
      this.#tree.set(path, text);
      this.#unsaved.set(path, text);
    }
  }

  #ask(): void {
    const states = [this.#look()];
    const answer = this.#found().then((found) => {
      this.#asked.delete(asked);
      mustBeOneOf(found, states);
    });
    answer.catch(() => undefined); // the rejection is handled where the answer is awaited
    const asked = { states, answer };
    this.#asked.add(asked);
  }

  /** Resolves to the result of a search: all paths, and how often each file contains `needle`. */
  async #found(): Promise<Counts> {
    const { files } = await this.#tree.search({ query: "(file:. or needle)", matches: 1e6 });
    return new Map(
      files.map(({ fileName, chunks }) => [
        fileName.text,
        chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0),
      ]),
    );
  }

  /** Returns the same from the files themselves. */
  #look(): State {
    const disk = new Map<string, number>();
    const count = (text: string) => (text.includes("\0") ? 0 : text.split("needle").length - 1);
    if (existsSync(this.#root))
      for (const entry of readdirSync(this.#root, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name).slice(this.#root.length + 1);
        if (!entry.isFile() || path.startsWith(".git/")) continue;
        disk.set(path, count(readFileSync(join(this.#root, path), "utf8")));
      }
    const unsaved = new Map(Array.from(this.#unsaved, ([path, text]) => [path, count(text)]));
    return { disk, unsaved };
  }
}

type OnDisk = Exclude<
  Step,
  { readonly kind: "unsaved" | "ask" | "answer" | "search" | "settle" | "turn" }
>;

function happen(root: string, step: OnDisk): void {
  const at = (path: string) => join(root, path);
  switch (step.kind) {
    case "write":
      return write(at(step.path), step.text);
    case "folder":
      return void mkdirSync(at(step.path), { recursive: true });
    case "remove":
      return rmSync(at(step.path), { recursive: true, force: true });
    case "touch":
      return chmodSync(at(step.path), lstatSync(at(step.path)).mode ^ 0o010);
    case "move":
      return renameSync(at(step.path), at(step.to));
    case "checkout":
      return git(root, "checkout", "--quiet", "--force", step.branch);
    case "stash":
      return git(root, "stash", "push", "--quiet", "--include-untracked");
    case "unstash":
      return git(root, "stash", "pop", "--quiet");
  }
}

/** Throws unless each file is as it was in one of the states. */
function mustBeOneOf(found: Counts, states: readonly State[]): void {
  const known = states.flatMap(({ disk, unsaved }) => [...disk.keys(), ...unsaved.keys()]);
  for (const path of new Set([...found.keys(), ...known])) {
    const onDisk = states.map(({ disk }) => disk.get(path));
    const possible = states.flatMap(({ unsaved }) => unsaved.get(path) ?? onDisk);
    if (possible.includes(found.get(path))) continue;
    const shown = (count: number | undefined) => (count === undefined ? "no file" : `${count}`);
    throw new Error(
      `${path}: the answer has ${shown(found.get(path))}, the disk ${possible.map(shown).join(" or ")}`,
    );
  }
}
