/** Counts the files of a work tree that differ from its commit. */

import { GitProcesses } from "./git-process.ts";
import { locateRepository } from "./open-repository.ts";

/**
 * Resolves to the number of files that are changed, added, deleted or renamed since the commit of HEAD, without those
 * that git ignores. Resolves to 0 for a bare repository, and to undefined if git cannot tell without a command that
 * the repository's configuration names.
 */
export async function countUncommitted(
  folder: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const place = await locateRepository(folder, signal);
  if (place.isBare) return 0;
  const git = new GitProcesses(place.folder, signal);
  try {
    const withoutFilters = await filtersOff(git);
    if (!withoutFilters) return undefined;
    const status = ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"];
    const { code, stdout } = await git.run([...withoutFilters, ...status, "--untracked-files=all"]);
    return code === 0 ? stdout.split("\0").length - 1 : undefined;
  } finally {
    git.kill();
  }
}

/**
 * Resolves to options that switch off the filters of the configuration, because git would run them to compare a file
 * with its commit. Resolves to undefined if a filter has a name that such an option cannot spell.
 */
async function filtersOff(git: GitProcesses): Promise<string[] | undefined> {
  const { stdout } = await git.run(["config", "--name-only", "-z", "--get-regexp", "^filter\\."]);
  const names = stdout
    .split("\0")
    .map((key) => key.slice("filter.".length, key.lastIndexOf(".")))
    .filter((name) => name !== "");
  if (!names.every((name) => /^[\w.-]+$/.test(name))) return undefined;
  return [...new Set(names)].flatMap((name) =>
    ["clean=", "process=", "required=false"].flatMap((rest) => ["-c", `filter.${name}.${rest}`]),
  );
}
