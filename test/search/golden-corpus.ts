/** The fixture corpus in an engine, and the golden queries that are asked of it. corpus/README.md has their format. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CORPUS, repositoryNames } from "../../scripts/build-corpus.ts";
import type { Engine } from "../../src/engine.ts";
import { directory } from "../../src/ingest/sources/directory.ts";

export interface Golden {
  readonly query: string;
  readonly isRegexEnabled?: boolean;
  readonly isCaseSensitivityEnabled?: boolean;
  readonly totalMatchCount: number;
  readonly fileCount: number;
  readonly first: readonly (string | readonly string[])[];
  readonly before?: readonly (readonly [string, string])[];
  /** The definitions, only for `sym:` queries. */
  readonly definitions?: readonly string[];
}

export const GOLDEN = JSON.parse(
  readFileSync(join(CORPUS, "golden/queries.json"), "utf8"),
) as Golden[];

/** Indexes all repositories of the corpus in one call, so that they share segments. */
export async function indexCorpus(engine: Engine): Promise<void> {
  const names = await repositoryNames();
  await engine.index(names.map((name) => directory(join(CORPUS, name))));
}

/** Returns a message about what is out of order in the ranked `files`, or undefined. */
export function disorder(
  { first, before = [] }: Golden,
  files: readonly string[],
): string | undefined {
  let at = 0;
  for (const item of first) {
    const wanted = typeof item === "string" ? [item] : item;
    const found = files.slice(at, (at += wanted.length));
    if (!wanted.every((file) => found.includes(file)))
      return `wanted ${wanted.join(" and ")} where there is ${found.join(", ")}`;
  }
  const broken = before.find(([sooner, later]) => !isBefore(files, sooner, later));
  return broken && `${broken[1]} stands before ${broken[0]}`;
}

function isBefore(files: readonly string[], sooner: string, later: string): boolean {
  const [left, right] = [files.indexOf(sooner), files.indexOf(later)];
  return left < 0 || right < 0 || left < right;
}
