/**
 * Counts by file where one answer cannot hold them all: asked folder by folder, deeper only where a
 * folder holds too many.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { escapeExpression } from "./queries.ts";

export interface FolderAsking {
  /** The folder that all paths are in. */
  readonly root: string;
  /** Matches that one answer can hold. */
  readonly most: number;
  /** Matches in the paths that an expression finds; "" finds all. */
  count(paths: string): Promise<number>;
  perFile(paths: string): Promise<(readonly [path: string, count: number])[]>;
}

/** `folder` is "" or ends with a slash. The files that lie in one folder are asked for at once, however many matches. */
export async function countsByFolder(
  asking: FolderAsking,
  folder = "",
): Promise<Map<string, number>> {
  const below = folder && `^${escapeExpression(folder)}`;
  if ((await asking.count(below)) <= asking.most) return new Map(await asking.perFile(below));
  const counts = new Map(await asking.perFile(`^${escapeExpression(folder)}[^/]+$`));
  for (const entry of readdirSync(join(asking.root, folder), { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const within = await countsByFolder(asking, `${folder}${entry.name}/`);
    for (const [path, count] of within) counts.set(path, count);
  }
  return counts;
}
