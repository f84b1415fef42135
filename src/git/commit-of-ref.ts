/**
 * Finds the commit to which the full name of a reference leads. If refs/heads/x does not exist, git tries several
 * other names, such as refs/heads/refs/heads/x, and does not report which name it has used. This code accepts only
 * the exact name.
 */

import type { GitObject, ObjectReader } from "./git-objects.ts";
import type { GitProcesses } from "./git-process.ts";

/** Each function returns another name, which git tries if the name `ref` does not exist. */
const OTHERS = [
  (ref: string) => `refs/${ref}`,
  (ref: string) => `refs/tags/${ref}`,
  (ref: string) => `refs/heads/${ref}`,
  (ref: string) => `refs/remotes/${ref}`,
  (ref: string) => `refs/remotes/${ref}/HEAD`,
];

export interface RefReader {
  readonly processes: GitProcesses;
  /** A reader with --batch-check, which reads only the headers of objects. */
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
  // git cannot have used another name, because none exists
  if (others.every((other) => other === undefined)) return commit;
  const { code } = await processes.run(["show-ref", "--verify", "--quiet", ref]);
  return code === 0 ? commit : undefined;
}

/**
 * Resolves to true if the reference exists, but the object to which it points cannot be read. REQUIRES: `ref` is
 * `HEAD`, or begins with `refs/`.
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
