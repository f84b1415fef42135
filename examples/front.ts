/**
 * One address for several quern servers that hold different repositories: asks all of them at once and
 * merges what they answer.
 *
 *     SERVERS="http://one:3000 http://two:3000" PORT=3000 npx tsx examples/front.ts
 *
 * Counts are exact, because no repository is on two servers. Answers carry no scores, so their files
 * are interleaved: the best of each server, then the second of each. What a server does not answer
 * is told as damage of an index is: `crashes`, and a search that is not exhaustive.
 */

import { createServer } from "node:http";
import type { FileResult, SearchRequest, SearchResponse, SearchStats } from "quern";
import { toNodeListener } from "quern/http";

const servers = (process.env["SERVERS"] ?? "http://localhost:3001").split(" ");

/** Refused: the same everywhere, for it is the query's fault or the caller's. */
type Answer = SearchResponse | { refused: Response } | undefined;

async function ask(server: string, request: Request, body: string): Promise<Answer> {
  const authorization = request.headers.get("authorization");
  const headers = authorization === null ? {} : { authorization };
  const { signal } = request;
  try {
    const response = await fetch(`${server}/api/search`, { method: "POST", headers, body, signal });
    if (response.status >= 500) return undefined;
    return response.ok ? ((await response.json()) as SearchResponse) : { refused: response };
  } catch {
    return undefined;
  }
}

/** Each server counts its repositories from 1: here ids tell the server too. */
function renumber(answer: SearchResponse, server: number): SearchResponse {
  const renumbered = (id: number): number => id * servers.length + server;
  return {
    ...answer,
    files: answer.files.map((file) => ({ ...file, repositoryId: renumbered(file.repositoryId) })),
    repositoryInfo: answer.repositoryInfo.map((info) => ({ ...info, id: renumbered(info.id) })),
  };
}

/** What `matches` counts: the ranges of the content, else of the path, else the file itself. */
function rangesOf({ chunks, fileName }: FileResult): number {
  const inContent = chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0);
  return inContent || fileName.matchRanges.length || 1;
}

function interleave(lists: readonly FileResult[][]): FileResult[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

/** Times too: they are what all servers together spent. */
function addUp(parts: readonly SearchStats[]): SearchStats {
  const total = { ...parts[0]! };
  for (const part of parts.slice(1))
    for (const [name, value] of Object.entries(part) as [keyof SearchStats, number | string][])
      if (typeof value === "number") Object.assign(total, { [name]: Number(total[name]) + value });
      else if (value === "FLUSH_REASON_TIMER_EXPIRED") total.flushReason = value;
  return total;
}

function merge(answers: readonly SearchResponse[], matches: number): SearchResponse {
  const files: FileResult[] = [];
  let shown = 0;
  for (const file of interleave(answers.map(({ files }) => files))) {
    if (shown + rangesOf(file) > matches) break;
    shown += rangesOf(file);
    files.push(file);
  }
  const stats = { ...addUp(answers.map(({ stats }) => stats)), actualMatchCount: shown };
  stats.crashes += servers.length - answers.length;
  const ids = new Set(files.map(({ repositoryId }) => repositoryId));
  return {
    stats,
    files,
    repositoryInfo: answers.flatMap(({ repositoryInfo }) =>
      repositoryInfo.filter(({ id }) => ids.has(id)),
    ),
    isSearchExhaustive: stats.crashes === 0 && shown === stats.totalMatchCount,
  };
}

async function search(request: Request): Promise<Response> {
  const body = await request.text();
  const answers = await Promise.all(servers.map((server) => ask(server, request, body)));
  const found: SearchResponse[] = [];
  for (const [server, answer] of answers.entries())
    if (answer && "refused" in answer) return answer.refused;
    else if (answer) found.push(renumber(answer, server));
  if (found.length === 0) return new Response("no server answers", { status: 503 });
  return Response.json(merge(found, (JSON.parse(body) as SearchRequest).matches));
}

const server = createServer(toNodeListener(search));
server.listen(Number(process.env["PORT"] ?? 3000), () => {
  const address = server.address();
  console.log(`http://localhost:${typeof address === "object" ? address?.port : address}`);
});

process.once("SIGTERM", () => server.close());
