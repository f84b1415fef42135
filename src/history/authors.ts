/** Counts the commits of each author, as `git shortlog -sne` does. */

import type { Author } from "./history.ts";
import { pathArguments } from "./filters.ts";
import type { Operation } from "./operation.ts";

/** Lists all authors, most commits first. */
export async function listAuthors(
  operation: Operation,
  tip: string,
  path: string | undefined,
): Promise<Author[]> {
  const args = ["shortlog", "--summary", "--numbered", "--email", tip, ...pathArguments(path)];
  const output = await operation.mustOutput("the list of authors", args);
  return output.toString().split("\n").flatMap(parseAuthor);
}

/** Parses a line such as ` 12\tAda <ada@example.com>`. */
function parseAuthor(line: string): Author[] {
  const match = /^ *(\d+)\t(.*?) ?<([^<]*)>$/su.exec(line);
  if (match === null) return [];
  return [{ name: match[2]!, email: match[3]!, commitCount: Number(match[1]) }];
}
