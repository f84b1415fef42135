/**
 * Finds the commit that the full name of a reference leads to. If refs/heads/x does not exist, git tries several
 * other names instead, such as refs/heads/refs/heads/x, and does not say which one it has used.
 */

import type { GitObject, ObjectReader } from "./git-objects.ts";
import type { GitProcesses } from "./git-process.ts";

/** The names that git tries instead of a name that does not exist. */
const OTHERS = [
  (ref: string) => `refs/${ref}`,
  (ref: string) => `refs/tags/${ref}`,
  (ref: string) => `refs/heads/${ref}`,
  (ref: string) => `refs/remotes/${ref}`,
  (ref: string) => `refs/remotes/${ref}/HEAD`,
];

export interface RefReader {
  readonly processes: GitProcesses;
  /** Reads only object headers, with --batch-check. */
  readonly headers: ObjectReader;
}

/**
 * Resolves to the commit of a reference, or to undefined if the reference does not exist or does not lead to a commit.
 * REQUIRES: `ref` begins with `refs/`.
 */
export async function commitOfRef(
  { processes, headers }: RefReader,
  ref: string,
): Promise<GitObject | undefined> {
  const commit = await headers.read(`${ref}^{commit}`);
  if (commit === undefined) return undefined;
  const others = await Promise.all(OTHERS.map((other) => headers.read(other(ref))));
  if (others.every((other) => other === undefined)) return commit; // no other name is possible
  const { code } = await processes.run(["show-ref", "--verify", "--quiet", ref]);
  return code === 0 ? commit : undefined;
}

/**
 * Resolves to true if the reference exists but its target cannot be read. REQUIRES: `ref` is `HEAD`, or begins with
 * `refs/`.
 */
export async function isDamagedRef(
  { processes, headers }: RefReader,
  ref: string,
): Promise<boolean> {
  const { code } = await processes.run(["show-ref", "--verify", "--quiet", ref]);
  if (code === 1) return false; // the reference does not exist
  const object = await headers.read(`${ref}^{}`).catch(() => undefined);
  processes.throwIfOver();
  return object === undefined;
}
