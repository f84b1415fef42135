/** Reads commits with `git log`, in a format that is unambiguous for any message. */

import { decodeInSlices } from "../base/decode-text.ts";
import { assert } from "../base/errors.ts";
import { newPause } from "../base/yield.ts";
import type { Commit } from "./history.ts";
import { filterArguments, pathArguments, type Filters } from "./filters.ts";
import type { Operation } from "./operation.ts";

/** The fields of a commit in the output. Each field ends with NUL, which neither names nor messages can contain. */
const FIELDS = ["%H", "%P", "%aI", "%aN", "%aE", "%D", "%s", "%b"] as const;
const FORMAT = [
  "-z",
  `--format=tformat:${FIELDS.join("%x00")}`,
  "--encoding=UTF-8",
  "--no-color",
  "--no-notes",
  "--decorate=short",
];

export type CommitWithParents = Commit & { parents: string[] };

export interface Walk {
  readonly tip: string;
  readonly filters: Filters;
  /** The dates in the filters, as datesOf() returns them. */
  readonly dates: readonly string[];
}

/** Resolves to one page of the commits that `git log` lists from `tip` on. */
export async function walkPage(
  operation: Operation,
  { tip, filters, dates }: Walk,
  { skip, limit }: { skip: number; limit: number },
): Promise<CommitWithParents[]> {
  if (limit === 0) return [];
  const page = [`--skip=${skip}`, `--max-count=${limit}`];
  const which = [...filterArguments(filters, dates), ...page, tip, ...pathArguments(filters.path)];
  return parseCommits(await operation.mustOutput("this page", ["log", ...FORMAT, ...which]));
}

/** Reads the commits with these full ids, and resolves to them in the same order. */
export async function readCommits(
  operation: Operation,
  ids: readonly string[],
): Promise<CommitWithParents[]> {
  if (ids.length === 0) return [];
  const args = ["log", ...FORMAT, "--no-walk=unsorted", "--stdin"];
  return parseCommits(
    await operation.mustOutput("this page", args, { input: `${ids.join("\n")}\n` }),
  );
}

/**
 * Parses the output of `git log`. This pauses even within a message, because a single message may be as long as the
 * whole output.
 */
async function parseCommits(output: Buffer): Promise<CommitWithParents[]> {
  const pause = newPause();
  const commits: CommitWithParents[] = [];
  for (let at = 0; at < output.length;) {
    const fields: string[] = [];
    while (fields.length < FIELDS.length) {
      const end = output.indexOf(0, at);
      assert(end !== -1, "git ends each field of a commit with NUL");
      fields.push(await decodeInSlices(output.subarray(at, end), pause));
      at = end + 1;
    }
    const [hash, parents, date, authorName, authorEmail, refs, message, body] =
      fields as unknown as [string, string, string, string, string, string, string, string];
    const ids = parents === "" ? [] : parents.split(" ");
    commits.push({ hash, date, message, refs, body, authorName, authorEmail, parents: ids });
  }
  return commits;
}

/** Returns the commit without its parents, which only commit() includes. */
export function withoutParents(commit: CommitWithParents): Commit {
  const { hash, date, message, refs, body, authorName, authorEmail } = commit;
  return { hash, date, message, refs, body, authorName, authorEmail };
}
