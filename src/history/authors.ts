/** Counts the commits of each author, as `git shortlog -sne` does. */

import { decodeInSlices } from "../base/decode-text.ts";
import { newPause, type Pause } from "../base/yield.ts";
import type { Author } from "./history.ts";
import { pathArguments } from "./filters.ts";
import type { Operation } from "./operation.ts";

/** Resolves to all authors, sorted by their number of commits, largest first. */
export async function listAuthors(
  operation: Operation,
  tip: string,
  path: string | undefined,
): Promise<Author[]> {
  const args = ["shortlog", "--summary", "--numbered", "--email", tip, ...pathArguments(path)];
  const output = await operation.mustOutput("the list of authors", args);
  return parseAuthors(output, newPause());
}

const LF = 10;

async function parseAuthors(output: Buffer, pause: Pause): Promise<Author[]> {
  const authors: Author[] = [];
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(LF, at);
    const to = end === -1 ? output.length : end;
    const author = parseAuthor(await decodeInSlices(output.subarray(at, to), pause));
    if (author !== undefined) authors.push(author);
    at = to + 1;
  }
  return authors;
}

/** Parses a line such as ` 12\tAda <ada@example.com>`. */
function parseAuthor(line: string): Author | undefined {
  const [tab, open] = [line.indexOf("\t"), line.lastIndexOf("<")];
  if (tab === -1 || open < tab || !line.endsWith(">")) return undefined;
  const named = line[open - 1] === " " ? open - 1 : open;
  return {
    name: line.slice(tab + 1, named),
    email: line.slice(open + 1, -1),
    commitCount: Number(line.slice(0, tab)),
  };
}
