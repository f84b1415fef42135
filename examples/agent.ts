/**
 * What a coding agent needs of code search: three tools that answer in text a model can read.
 *
 *     npx tsx examples/agent.ts ~/projects/shop find "retry lang:go"
 *     npx tsx examples/agent.ts ~/projects/shop define retryWithBackoff
 *     npx tsx examples/agent.ts ~/projects/shop read src/retry.go 40
 */

import { basename, resolve } from "node:path";
import { directory, open, type Engine, type SearchResponse } from "quern";

const MATCHES = 30;
const LINES = 6;

/** Matches, the best file first; where there are none, changes of the query that find something. */
async function find(engine: Engine, query: string): Promise<string> {
  const response = await engine.search({ query, matches: MATCHES });
  if (response.stats.totalMatchCount > 0) return lines(response);
  const { suggestions, notIndexed } = await engine.explain({ query, matches: MATCHES });
  return [
    "Nothing found.",
    ...notIndexed.map(({ repository, reason }) => `${repository}: ${reason}`),
    ...suggestions.map(
      ({ change, request, totalMatchCount }) =>
        `Try ${request.query} (${change}): ${totalMatchCount} matches`,
    ),
  ].join("\n");
}

async function define(engine: Engine, name: string): Promise<string> {
  const plain = name.replace(/[^\w]/g, "\\$&");
  return lines(await engine.search({ query: `sym:^${plain}$`, matches: MATCHES }));
}

/** Some lines of a file around one, with their numbers. */
async function read(engine: Engine, repository: string, path: string, line: number) {
  const file = await engine.read({ repository, path });
  if (!file) return `There is no ${path} in ${repository}.`;
  const from = Math.max(1, line - LINES / 2);
  const shown = file.content.split("\n").slice(from - 1, from - 1 + LINES);
  return shown.map((text, i) => `${from + i}: ${text}`.trimEnd()).join("\n");
}

function lines({ files, stats, isSearchExhaustive }: SearchResponse): string {
  const found = files.flatMap(({ repository, fileName, chunks }) =>
    chunks.map(({ content, contentStart, symbols }) => {
      const what = symbols?.map(({ kind, symbol }) => `  [${kind} ${symbol}]`).join("") ?? "";
      return `${repository}/${fileName.text}:${contentStart.lineNumber}: ${content.trim()}${what}`;
    }),
  );
  const total = `matches: ${stats.totalMatchCount}, files: ${stats.fileCount}`;
  return [...found, isSearchExhaustive ? total : `${total}, not all of them shown`].join("\n");
}

const [, , path = ".", tool = "find", text = "todo", line = "1"] = process.argv;
const engine = await open("./.quern");
try {
  await engine.index(directory(path));
  if (tool === "define") console.log(await define(engine, text));
  else if (tool === "read")
    console.log(await read(engine, basename(resolve(path)), text, Number(line)));
  else console.log(await find(engine, text));
} finally {
  await engine.close();
}
