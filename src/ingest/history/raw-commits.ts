/**
 * Reads commits as they are stored, with `git cat-file --batch`. git log would change some of them: it shows no dates
 * before 1970, and replaces the parents of shallow commits.
 */

import { QuernError } from "../../base/errors.ts";
import type { CommitInfo } from "../../store/history/history-builder.ts";
import type { PureGit } from "./pure-git.ts";

export type RawCommit = Omit<CommitInfo, "isBoundary">;

/** Resolves to the commits with the given ids, in their order. */
export async function readCommits(git: PureGit, ids: readonly string[]): Promise<RawCommit[]> {
  const commits: RawCommit[] = [];
  let rest: Buffer = Buffer.alloc(0);
  const input = ids.map((id) => `${id}\n`).join("");
  for await (const chunk of git.stream(["cat-file", "--batch"], input)) {
    const data = Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const head = data.indexOf(10, at);
      if (head < 0) break;
      const [id = "", type, size] = data.toString("latin1", at, head).split(" ");
      if (type !== "commit") throw new QuernError("SOURCE_UNREADABLE", `git has no commit ${id}`);
      const end = head + 1 + Number(size);
      if (end >= data.length) break;
      commits.push(parseCommit(id, data.subarray(head + 1, end)));
      at = end + 1;
    }
    rest = data.subarray(at);
  }
  if (commits.length !== ids.length)
    throw new QuernError("SOURCE_UNREADABLE", "git cat-file did not return all commits");
  return commits;
}

export function parseCommit(id: string, content: Buffer): RawCommit {
  const split = content.indexOf("\n\n");
  const head = content.subarray(0, split < 0 ? content.length : split);
  const message = split < 0 ? Buffer.alloc(0) : content.subarray(split + 2);
  const parents: string[] = [];
  const fields = new Map<string, string>();
  for (const line of head.toString("latin1").split("\n")) {
    const blank = line.indexOf(" ");
    if (blank <= 0) continue; // a line that continues a signature
    const [name, value] = [line.slice(0, blank), line.slice(blank + 1)];
    if (name === "parent") parents.push(value);
    else if (!fields.has(name)) fields.set(name, value);
  }
  const decode = decoderOf(fields.get("encoding"));
  const person = (name: "author" | "committer") => {
    const value = fields.get(name) ?? "";
    const end = value.lastIndexOf(">") + 1;
    const seconds = /^ (-?\d{1,15})(?: |$)/.exec(value.slice(end))?.[1];
    const who = decode(Buffer.from(value.slice(0, end), "latin1"));
    return { who: Buffer.from(who).toString(), seconds: Number(seconds ?? 0) };
  };
  const [author, committer] = [person("author"), person("committer")];
  return {
    id,
    parents,
    author: author.who,
    committer: committer.who,
    authored: author.seconds,
    committed: committer.seconds,
    message: Buffer.from(decode(message)),
  };
}

/** Returns a function that converts text in an encoding to UTF-8. Text in an unknown encoding stays as it is. */
function decoderOf(encoding: string | undefined): (bytes: Buffer) => Uint8Array {
  const name = encoding?.toLowerCase() ?? "utf-8";
  if (name === "utf-8" || name === "utf8") return (bytes) => bytes;
  if (name === "iso-8859-1" || name === "latin1" || name === "latin-1")
    return (bytes) => Buffer.from(bytes.toString("latin1"));
  try {
    const decoder = new TextDecoder(name);
    return (bytes) => Buffer.from(decoder.decode(bytes));
  } catch {
    return (bytes) => bytes;
  }
}
