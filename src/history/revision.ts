/**
 * Resolves names of revisions to commits. Expressions of git, such as `main~3`, `@{upstream}`, `:/text` and
 * `HEAD:path`, resolve to undefined, so that a caller cannot use them to search or to read files. A name is sent to
 * git through its standard input, in several unambiguous forms. An argument contains a name only if the name begins
 * with `refs/`. The forms are, in this order: a full id, `HEAD`, a full name, a branch, a tag, a remote branch, and a
 * shortened id. The first form that exists is used.
 */

import { QuernError } from "../base/errors.ts";
import { commitOfRef, type RefReader } from "../git/commit-of-ref.ts";
import type { GitObject } from "../git/git-objects.ts";

const MAX_BYTES = 512;

/** Checks the name of a revision, and returns it. Throws INVALID_GIT_REF if it cannot be the name of a revision. */
export function checkRevision(name: unknown): string {
  const problem = typeof name === "string" ? problemOf(name) : "must be a string";
  if (problem !== undefined) throw new QuernError("INVALID_GIT_REF", `a git revision ${problem}`);
  return name as string;
}

function problemOf(name: string): string | undefined {
  if (name === "") return "must not be empty; omit it for the default revision";
  if (/[\p{Cc}\p{Cs}]/u.test(name)) return "must not contain control characters or lone surrogates";
  if (name.startsWith("-")) return `must not begin with "-": ${JSON.stringify(shortened(name))}`;
  if (Buffer.byteLength(name) > MAX_BYTES) return `must not be longer than ${MAX_BYTES} bytes`;
  return undefined;
}

const shortened = (name: string): string => (name.length > 80 ? `${name.slice(0, 80)}…` : name);

/** Returns the error to throw if a required revision does not exist. */
export function noRevision(name: string): QuernError {
  const message = `there is no branch, tag or commit ${JSON.stringify(shortened(name))}`;
  return new QuernError("INVALID_GIT_REF", message);
}

/** Resolves to the id of the commit that a name stands for, or to undefined if there is none. */
export async function resolveRevision(from: RefReader, name: string): Promise<string | undefined> {
  const answers = await Promise.all(formsOf(name).map((form) => commitNamed(from, form)));
  return answers.find((answer) => answer !== undefined)?.id;
}

async function commitNamed(from: RefReader, form: string): Promise<GitObject | undefined> {
  if (form.startsWith("refs/")) return commitOfRef(from, form);
  const commit = await from.headers.read(`${form}^{commit}`);
  // git prefers references to shortened ids; for the name feed, it prefers refs/feed and refs/remotes/feed/HEAD to an
  // id that begins with feed
  return form === "HEAD" || commit?.id.startsWith(form.toLowerCase()) ? commit : undefined;
}

const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
const SHORT_ID = /^[0-9a-f]{4,63}$/i;

/** Returns the forms in which a name is looked up, in order. The first form that exists is used. */
export function formsOf(name: string): string[] {
  if (FULL_ID.test(name)) return [name];
  if (name === "HEAD") return ["HEAD"];
  if (!isRefName(name)) return [];
  return [
    ...(name.startsWith("refs/") ? [name] : []),
    `refs/heads/${name}`,
    `refs/tags/${name}`,
    `refs/remotes/${name}`,
    ...(SHORT_ID.test(name) ? [name] : []),
  ];
}

/** Matches names that git check-ref-format forbids, and the name `@`, which stands for HEAD in git. */
const NO_REF_NAME = /[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/\/|^[/.]|\/\.|[/.]$|\.lock(?:\/|$)|^@$/u;

const isRefName = (name: string): boolean => !NO_REF_NAME.test(name);
