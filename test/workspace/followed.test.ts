/**
 * Random things happen to a folder while it is followed and searched, by every kind of notices: no answer
 * differs from a look at the disk.
 */

import fc from "fast-check";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { NO_NOTICES, type Notices } from "../../src/workspace/notices.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { openEngine, RUNS, temporaryFolder } from "../engine/opened.ts";

type Make = (root: string, onLost: () => void) => Notices;

const { systemNotices } = await vi.importActual<{ systemNotices: Make }>(
  "../../src/workspace/notices.ts",
);
let make: Make = systemNotices;
vi.mock("../../src/workspace/notices.ts", async (original) => ({
  ...(await original<object>()),
  systemNotices: (root: string, onLost: () => void) => make(root, onLost),
}));

const NAMES = ["a", "b", "c", "d.txt", "e.py"];
const TEXTS = ["needle", "hay", "needle needle\n", "def needle(): pass\n", "", "needle\0"];

type Step =
  | { kind: "write"; path: string; text: string }
  | { kind: "remove" | "touch" | "folder"; path: string }
  | { kind: "move"; path: string; to: string }
  | { kind: "unsaved"; path: string; text: string | undefined }
  | { kind: "search" | "settle" | "turn" };

const paths = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const texts = fc.constantFrom(...TEXTS);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("write" as const), path: paths, text: texts }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom("remove", "touch", "folder"), path: paths }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("move" as const), path: paths, to: paths }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("unsaved" as const),
      path: paths,
      text: fc.option(texts, { nil: undefined }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("search" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("settle" as const, "turn" as const) }),
  },
);

/** What cannot be done on the disk as it is does nothing. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

async function take(step: Step, root: string, tree: Workspace, unsaved: Map<string, string>) {
  const at = (path: string) => join(root, path);
  switch (step.kind) {
    case "write":
      attempt(() => {
        mkdirSync(dirname(at(step.path)), { recursive: true });
        writeFileSync(at(step.path), step.text);
      });
      return;
    case "folder":
      return attempt(() => mkdirSync(at(step.path), { recursive: true }));
    case "remove":
      return attempt(() => rmSync(at(step.path), { recursive: true, force: true }));
    case "touch":
      return attempt(() => chmodSync(at(step.path), lstatSync(at(step.path)).mode ^ 0o010));
    case "move":
      return attempt(() => renameSync(at(step.path), at(step.to)));
    case "unsaved":
      if (step.text === undefined) {
        tree.unset(step.path);
        unsaved.delete(step.path);
      } else {
        tree.set(step.path, step.text);
        unsaved.set(step.path, step.text);
      }
      return;
    case "search":
      expect(await found(tree)).toEqual(look(root, unsaved));
      return;
    case "settle":
      return tree.settled();
    case "turn":
      return new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** Every path there is, with how often it holds `needle`. */
async function found(tree: Workspace): Promise<[string, number][]> {
  const all = await tree.search({ query: "file:.", matches: 1e6 });
  const holding = await tree.search({ query: "needle", matches: 1e6 });
  const counts = new Map(all.files.map(({ fileName }) => [fileName.text, 0]));
  for (const { fileName, chunks } of holding.files)
    counts.set(
      fileName.text,
      chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0),
    );
  return [...counts].sort(byPath);
}

const byPath = ([a]: [string, number], [b]: [string, number]) => (a < b ? -1 : 1);

/** The same by looking at every file. */
function look(root: string, unsaved: ReadonlyMap<string, string>): [string, number][] {
  const texts = new Map<string, string>();
  if (existsSync(root))
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) {
        const file = join(entry.parentPath, entry.name);
        texts.set(file.slice(root.length + 1), readFileSync(file, "utf8"));
      }
  for (const [path, text] of unsaved) texts.set(path, text);
  const count = (text: string) => (text.includes("\0") ? 0 : text.split("needle").length - 1);
  return [...texts].map(([path, text]): [string, number] => [path, count(text)]).sort(byPath);
}

/** Notices of which some are dropped, with a word that some may be. */
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

/** Notices for some folders only, as where the limit of watches is reached. */
function limited(root: string, onLost: () => void, random: () => number): Notices {
  const system = systemNotices(root, onLost);
  return {
    watch: (folder, listener) => (random() < 0.5 ? system.watch(folder, listener) : undefined),
    barrier: () => system.barrier(),
    close: () => system.close(),
  };
}

const KINDS = {
  "the system's": systemNotices,
  "none at all": () => NO_NOTICES,
  "half of them lost": forgetful,
  "half of the folders watched": limited,
};

test.each(Object.entries(KINDS))("notices: %s", { timeout: 120_000 * RUNS }, async (_, kind) => {
  const engine = await openEngine({ workers: 1 });
  const home = temporaryFolder();
  let round = 0;
  const property = fc.asyncProperty(
    fc.array(steps, { minLength: 10, maxLength: 60 }),
    fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
    async (given, chances) => {
      const root = join(home, `tree${round++}`);
      mkdirSync(root);
      make = (folder, onLost) => kind(folder, onLost, () => chances.next().value ?? 0);
      const tree = await engine.workspace(root);
      const unsaved = new Map<string, string>();
      try {
        for (const step of [...given, { kind: "search" as const }])
          await take(step, root, tree, unsaved);
      } finally {
        await tree.close();
        await engine.remove(tree.repository);
        rmSync(root, { recursive: true, force: true });
      }
    },
  );
  await fc.assert(property, { numRuns: 10 * RUNS });
});
