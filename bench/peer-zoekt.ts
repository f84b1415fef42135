/**
 * Runs zoekt, a server with positional trigrams in memory-mapped shards. It is kept warm for the whole run, and called
 * through its JSON API.
 */

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { isOnPath, measured, sizeOnDisk, watchMemory } from "./command.ts";
import { MOST_BYTES } from "./corpus.ts";
import { countsByFolder } from "./folders.ts";
import type { Corpus, Peer, SuspectFile } from "./peer.ts";
import { countIn, expressionOf, type Question } from "./queries.ts";
import { timed } from "./statistics.ts";

type Answer = Readonly<Record<string, unknown>>;

/** The part of an answer of /api/search that is used. */
interface Result {
  readonly MatchCount: number;
  /** The time of the search by zoekt's own clock, in nanoseconds. */
  readonly Duration: number;
  readonly Crashes: number;
  readonly Files:
    | readonly { FileName: string; ChunkMatches: readonly { Ranges: readonly unknown[] }[] }[]
    | null;
}

const EVERYTHING = 1_000_000_000;
const COUNT = { ShardMaxMatchCount: EVERYTHING, TotalMaxMatchCount: EVERYTHING };
/** It answers with every match as JSON. More matches would not fit into a string. */
const MOST_IN_ONE = 400_000;
const FIRST = { MaxDocDisplayCount: 50, MaxMatchDisplayCount: 50 };

export interface ZoektOptions {
  /** Whether its index has symbols, which come from ctags. */
  readonly hasSymbols: boolean;
}

export async function zoekt(
  corpus: Corpus,
  folder: string,
  { hasSymbols }: ZoektOptions,
): Promise<Peer | undefined> {
  if (!isOnPath("zoekt-index") || !isOnPath("zoekt-webserver")) return undefined;
  mkdirSync(folder, { recursive: true });
  const symbols = hasSymbols ? ["-require_ctags"] : ["-disable_ctags"];
  // by default it leaves out files with over 20 000 trigrams, which would change its counts
  const args = ["-index", folder, "-max_trigram_count", String(EVERYTHING), ...symbols];
  // Universal Ctags has either name
  const CTAGS_COMMAND = isOnPath("universal-ctags") ? "universal-ctags" : "ctags";
  const env = { ...process.env, CTAGS_COMMAND };
  const figures = await measured("zoekt-index", [...args, corpus.path], { env });
  const server = await zoektServer(folder);
  const count = async (words: readonly string[]) => server.search(words, { ...COUNT, ...FIRST });
  return {
    name: "zoekt",
    version: "zoekt", // it does not report its version
    method:
      "its server on this machine, warm: POST /api/search with ChunkMatches; its index contains the content",
    index: { ...figures, bytes: sizeOnDisk(folder) },
    words: zoektWords,
    count: async (words) => ({ matches: (await count(words)).MatchCount, unit: "matches" }),
    first: (words) => timed(() => server.search(words, FIRST)),
    perFile: (words) =>
      countsByFolder({
        root: corpus.path,
        most: MOST_IN_ONE,
        count: async (paths) => (await count(within(words, paths))).MatchCount,
        async perFile(paths) {
          const { Files } = await server.search(within(words, paths), COUNT);
          return (Files ?? []).map((file) => [file.FileName, rangesOf(file.ChunkMatches)]);
        },
      }),
    excuse: zoektExcuse,
    peak: server.peak,
    close: () => server.close(),
  };
}

const within = (words: readonly string[], paths: string) =>
  paths === "" ? words : [...words, `file:${quoted(paths)}`];

const rangesOf = (chunks: readonly { Ranges: readonly unknown[] }[]) =>
  chunks.reduce((sum, { Ranges }) => sum + Ranges.length, 0);

/** Starts zoekt's server on an index. */
export async function zoektServer(folder: string) {
  const port = await freePort();
  const child = spawn(
    "zoekt-webserver",
    ["-rpc", "-html=false", "-index", folder, "-listen", `127.0.0.1:${port}`],
    { stdio: "ignore" },
  );
  const peak = watchMemory(child);
  const agent = new Agent({ keepAlive: true });
  const ask = async (path: string, body: object) =>
    JSON.parse(await post(agent, port, `/api/${path}`, JSON.stringify(body))) as Answer;
  await untilItAnswers(() => ask("list", { Q: "" }));
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  return {
    peak,
    async search(words: readonly string[], options: object): Promise<Result> {
      const Opts = { ChunkMatches: true, MaxWallTime: 120e9, ...options };
      const { Result: result, Error: error } = await ask("search", { Q: words.join(" "), Opts });
      if (!result) throw new Error(`zoekt: ${String(error)}`);
      if ((result as Result).Crashes > 0) throw new Error("zoekt: a shard crashed");
      return result as Result;
    },
    async close(): Promise<void> {
      agent.destroy();
      child.kill();
      await ended;
    },
  };
}

/** Uses one persistent connection. fetch() would add half a millisecond to each question. */
function post(agent: Agent, port: number, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const options = { agent, port, path, headers, host: "127.0.0.1", method: "POST" };
    const asked = request(options, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => resolve(Buffer.concat(pieces).toString()));
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** Waits until the server has loaded its shards. Before that, answers are empty. */
async function untilItAnswers(list: () => Promise<Answer>): Promise<void> {
  for (const end = performance.now() + 60_000; performance.now() < end;) {
    const { List } = await list().catch(() => ({ List: undefined }));
    const { Repos } = (List ?? {}) as { Repos?: unknown[] | null };
    if (Repos && Repos.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("zoekt-webserver does not answer");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

export function zoektWords(question: Question): readonly string[] | undefined {
  const own = question.words.zoekt;
  if (own !== undefined) return own ?? undefined;
  return [
    `content:${quoted(expressionOf(question))}`,
    question.isCaseSensitive ? "case:yes" : "case:no",
  ];
}

const quoted = (text: string) => `"${text.replaceAll(/[\\"]/g, "\\$&")}"`;

export function zoektExcuse(file: SuspectFile, question: Question): string | undefined {
  const { path, bytes, theirs } = file;
  const instead = searchedInstead(file);
  if (instead) {
    // a question in zoekt's own words may also find what is not in the content
    const isOwn = question.words.zoekt !== undefined;
    return isOwn || countIn(instead.text, question) === theirs ? instead.reason : undefined;
  }
  if (path.split("/").some((name) => /^\.(git|hg|svn)$/.test(name)))
    return "zoekt skips .git, .hg and .svn";
  // U+212A and U+017F fold to k and s
  const folds = /[\u0080-\uffff]/.test(question.query) || /[\u212a\u017f]/.test(bytes.toString());
  return folds && !question.isCaseSensitive ? "zoekt folds the case of ASCII only" : undefined;
}

interface Instead {
  readonly reason: string;
  readonly text: string;
}

/** Returns what zoekt searches instead of a file's content, or undefined if it searches the content. */
function searchedInstead({ bytes, isLink, ours }: SuspectFile): Instead | undefined {
  const note = (reason: string, text: string) => ({ reason, text: `NOT-INDEXED: ${text}` });
  if (ours > 0 && (isLink || bytes.length > MOST_BYTES)) return undefined; // quern indexes neither
  if (bytes.length > MOST_BYTES)
    return note(
      "zoekt searches a short note instead of the content of files over 2 MiB",
      "exceeds the maximum size limit",
    );
  if (bytes.includes(0)) return note("zoekt skips files with a NUL", "contains binary content");
  if (bytes.length < 3) return note("zoekt skips files under 3 bytes", "contains too few trigrams");
  if (isLink)
    return { reason: "zoekt searches the names that links point to", text: bytes.toString() };
  return undefined;
}
