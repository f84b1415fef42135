import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { CORPUS } from "../../scripts/build-corpus.ts";
import type { SearchResponse } from "../../src/index.ts";
import { bundledPrograms } from "../programs.ts";
import { ask, db, folder, indexSome } from "./indexed.ts";
import { quern, type Ran } from "./terminal.ts";

indexSome();

/** Starts `quern serve`, and ends it when the test ends. */
async function serve(...argv: string[]): Promise<{ url: string; stop: () => Promise<Ran> }> {
  const stop = new AbortController();
  let ended: Promise<Ran> | undefined;
  const announced = new Promise<string>((resolve) => {
    const world = { signal: stop.signal, onOutput: resolve };
    ended = quern(["serve", "--db", db, "--port", "0", "--json", ...argv], world);
  });
  const end = async (): Promise<Ran> => {
    stop.abort();
    return ended!;
  };
  onTestFinished(async () => void (await end()));
  const { url } = JSON.parse(await announced) as { url: string };
  return { url, stop: end };
}

const search = async (url: string, headers: Record<string, string> = {}): Promise<unknown> => {
  const body = JSON.stringify({ query: "parse", matches: 0 });
  const response = await fetch(`${url}/api/search`, { method: "POST", headers, body });
  const { stats } = (await response.json()) as Partial<SearchResponse>;
  return stats ? stats.fileCount > 0 : response.status;
};

test("requires a key, which keys create makes and keys revoke revokes", async () => {
  const { url, stop } = await serve();
  expect(await search(url)).toBe(401);
  const { stdout } = await ask("keys", "create", "--json");
  const { id, secret } = JSON.parse(stdout) as { id: string; secret: string };
  const headers = { authorization: `Bearer ${secret}` };
  expect(await search(url, headers)).toBe(true);
  expect((await ask("keys", "revoke", id)).code).toBe(0);
  expect(await search(url, headers)).toBe(401);
  expect(await stop()).toMatchObject({ code: 0 });
});

test("warns if nobody can search, because there is no key", async () => {
  const own = ["--db", join(folder, "without-keys")];
  await quern(["index", join(CORPUS, "duration"), ...own]);
  const warnings = async (...argv: string[]) =>
    (await (await serve(...own, ...argv)).stop()).stderr;
  for (const _ of [1, 2])
    expect(await warnings()).toMatch(
      /^quern: warning: nobody can search yet, .* quern keys create, .*--anonymous all\n$/,
    );
  expect(await warnings("--anonymous", "public")).toBe("");
  await quern(["keys", "create", "--owner", "ada", ...own]);
  expect(await warnings()).toBe("");
});

test.each([
  ["GET /api/repos HTTP/1.1", 400, "INVALID_REQUEST_BODY"],
  ["CONNECT x:1 HTTP/1.1\r\nHost: x:1", 405, "METHOD_NOT_ALLOWED"],
  ["no request", 400, "INVALID_REQUEST_BODY"],
])(
  "requests that Node would reject without a body get an answer with one: %j",
  async (head, statusCode, errorCode) => {
    const { url } = await serve("--anonymous", "all");
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`${head}\r\nConnection: close\r\n\r\n`);
    const said = await text(socket);
    expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${statusCode} `));
    expect(JSON.parse(/\{.*\}/.exec(said)![0])).toMatchObject({ statusCode, errorCode });
  },
);

test("rejects web pages that reach it under their own host name", async () => {
  const statusUnder = async (url: string, host: string): Promise<string | undefined> => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(`GET /api/repos HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return /^HTTP\/1\.1 (\d+) /.exec(await text(socket))?.[1];
  };
  const names = [
    "evil.example",
    "localhost:1",
    "[::1]",
    "code.acme.test",
    "127.0.0.1.evil.example",
  ];
  const told = async (...argv: string[]) => {
    const { url } = await serve(...argv);
    return Promise.all(names.map((name) => statusUnder(url, name)));
  };
  expect(await told("--anonymous", "all")).toEqual(["403", "200", "200", "403", "403"]);
  const named = ["--public-url", "https://code.acme.test"];
  expect(await told("--anonymous", "all", ...named)).toEqual(["403", "200", "200", "200", "403"]);
  expect(await told("--anonymous", "all", "--host", "0.0.0.0")).toEqual(names.map(() => "200"));
  expect(await told("--anonymous", "public")).toEqual(names.map(() => "200"));
});

test("with --anonymous all, accepts everyone, below a path", async () => {
  const { url } = await serve("--anonymous", "all", "--base-path", "/code");
  expect(url).toMatch(/\/code$/);
  expect(await search(url)).toBe(true);
});

test("sees content that is indexed while it runs", async () => {
  const { url } = await serve("--anonymous", "public");
  // indexes in another process, because one process has only one engine for a directory
  const [program] = await bundledPrograms(["src/cli/bin.ts"]);
  const args = ["index", join(CORPUS, "exchange"), "--public", "--db", db];
  await promisify(execFile)(process.execPath, [program!, ...args]);
  const body = JSON.stringify({ query: "OrderBook", matches: 0 });
  const response = await fetch(`${url}/api/search`, { method: "POST", body });
  expect(((await response.json()) as SearchResponse).stats.fileCount).toBeGreaterThan(0);
});

test("a port that is taken is an error", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const ran = await ask("serve", "--port", String(port));
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/^quern: EADDRINUSE: /);
});
