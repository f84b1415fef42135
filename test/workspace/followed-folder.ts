/** A followed folder for tests, and the changes that may happen to it. */

import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { Engine } from "../../src/engine.ts";
import type { Workspace, WorkspaceOptions } from "../../src/workspace/workspace.ts";
import { openEngine, temporaryFolder, type OpenedOptions } from "../engine/opened.ts";

export interface FollowedFolder {
  readonly root: string;
  readonly tree: Workspace;
  readonly engine: Engine;
}

export async function follow(
  files: Record<string, string>,
  options: WorkspaceOptions = {},
  engineOptions: OpenedOptions = {},
): Promise<FollowedFolder> {
  const root = join(temporaryFolder(), "shop");
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) put(root, path, text);
  const engine = await openEngine(engineOptions);
  const tree = await engine.workspace(root, options);
  onTestFinished(() => tree.close());
  return { root, tree, engine };
}

export function put(root: string, path: string, text: string): void {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Resolves to the paths of files that contain the text, sorted by name. */
export async function holding(tree: Pick<Workspace, "search">, query: string): Promise<string[]> {
  const { files, isSearchExhaustive } = await tree.search({ query, matches: 1e6 });
  expect(isSearchExhaustive).toBe(true);
  return files.map(({ fileName }) => fileName.text).sort();
}

export const FILES = {
  "a.txt": "needle",
  "b.txt": "hay",
  "lib/c.txt": "needle",
  "lib/deep/d.txt": "hay",
};

/** Changes to a folder with these files, and the files that contain `needle` afterwards. */
export const EVENTS: [what: string, happens: (root: string) => void, holding: string[]][] = [
  ["nothing happens", () => {}, ["a.txt", "lib/c.txt"]],
  ["a file is written", (root) => put(root, "b.txt", "needle"), ["a.txt", "b.txt", "lib/c.txt"]],
  ["a file is added", (root) => put(root, "n.txt", "needle"), ["a.txt", "lib/c.txt", "n.txt"]],
  ["a file is changed", (root) => put(root, "a.txt", "hay"), ["lib/c.txt"]],
  ["a file is removed", (root) => unlinkSync(join(root, "a.txt")), ["lib/c.txt"]],
  [
    "a file is renamed",
    (root) => renameSync(join(root, "a.txt"), join(root, "z.txt")),
    ["lib/c.txt", "z.txt"],
  ],
  [
    "a file takes another's place",
    (root) => renameSync(join(root, "b.txt"), join(root, "a.txt")),
    ["lib/c.txt"],
  ],
  [
    "a folder is added with files",
    (root) => put(root, "new/deep/x.txt", "needle"),
    ["a.txt", "lib/c.txt", "new/deep/x.txt"],
  ],
  ["a folder is removed", (root) => rmSync(join(root, "lib"), { recursive: true }), ["a.txt"]],
  [
    "a folder is renamed, and a file in it changes",
    (root) => {
      renameSync(join(root, "lib"), join(root, "src"));
      put(root, "src/deep/d.txt", "needle");
    },
    ["a.txt", "src/c.txt", "src/deep/d.txt"],
  ],
  [
    "a folder replaces another one of the same name",
    (root) => {
      renameSync(join(root, "lib"), join(root, "old"));
      put(root, "lib/x.txt", "needle");
      rmSync(join(root, "old"), { recursive: true });
    },
    ["a.txt", "lib/x.txt"],
  ],
  [
    "a folder takes the place of a file",
    (root) => {
      unlinkSync(join(root, "a.txt"));
      put(root, "a.txt/x.txt", "needle");
    },
    ["a.txt/x.txt", "lib/c.txt"],
  ],
  [
    "a file takes the place of a folder",
    (root) => {
      rmSync(join(root, "lib"), { recursive: true });
      put(root, "lib", "needle");
    },
    ["a.txt", "lib"],
  ],
  [
    "a link takes the place of a file",
    (root) => {
      unlinkSync(join(root, "a.txt"));
      symlinkSync("lib/c.txt", join(root, "a.txt"));
    },
    ["lib/c.txt"],
  ],
  ["a file becomes binary", (root) => put(root, "a.txt", "needle\0"), ["lib/c.txt"]],
  [
    "a file's mode changes",
    (root) => chmodSync(join(root, "a.txt"), 0o600),
    ["a.txt", "lib/c.txt"],
  ],
  ["rules exclude a folder", (root) => put(root, ".gitignore", "lib/\n"), ["a.txt"]],
  ["rules above exclude a file", (root) => put(root, ".gitignore", "c.txt\n"), ["a.txt"]],
  ["rules of a folder exclude a file", (root) => put(root, "lib/.ignore", "c.txt\n"), ["a.txt"]],
  [
    "a file is written in pieces",
    (root) => {
      for (const text of ["n", "need", "needle"]) put(root, "b.txt", text);
    },
    ["a.txt", "b.txt", "lib/c.txt"],
  ],
  [
    "the whole folder is made again",
    (root) => {
      rmSync(root, { recursive: true });
      put(root, "again.txt", "needle");
    },
    ["again.txt"],
  ],
  [
    "many files are added",
    (root) => {
      for (let i = 0; i < 1_000; i++) put(root, `many/${i % 7}/${i}.txt`, "straw");
      put(root, "many/8/x.txt", "needle");
    },
    ["a.txt", "lib/c.txt", "many/8/x.txt"],
  ],
];
