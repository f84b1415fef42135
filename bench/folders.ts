/**
 * Counts matches by file if one answer cannot hold them all. Asks folder by folder, and goes deeper only if a folder
 * has too many.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { escapeExpression } from "./queries.ts";

export interface FolderAsking {
  /** The folder that contains all paths. */
  readonly root: string;
  /** The most matches that one answer can hold. */
  readonly most: number;
  /** Resolves to the number of matches in the paths that an expression finds; "" finds all. */
  count(paths: string): Promise<number>;
  perFile(paths: string): Promise<(readonly [path: string, count: number])[]>;
}

/**
 * Counts by folder. `folder` is "" or ends with a slash. The files directly in one folder are requested together,
 * however many matches they have.
 */
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
