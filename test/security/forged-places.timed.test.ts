/**
 * Places that a stranger names: cursors of searches and of agents, forged or of another viewer, and addresses of files.
 * Whatever they are, they show nothing that is hidden, and block the caller's thread for only a few milliseconds.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { pack, unpack } from "msgpackr";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { watchStalls } from "../../bench/stall.ts";
import { createHandler, type Handler } from "../../src/http/handler.ts";
import { MOST_CURSOR } from "../../src/search/caller/pages.ts";
import { tellFigure } from "../figures.ts";
import { openEngine } from "../http/engine.ts";
import { bearer, clientOf, post, startService, type Service } from "../http/service.ts";
import { callTool, connected } from "../mcp/connected.ts";
import { SLOWNESS } from "../slowness.ts";

/** The limit of milliseconds of processor time in one turn. The documented limit is 5, but this machine may be slow. */
const MOST_MS = 8 * SLOWNESS;
const MOST_MCP_MS = 12 * SLOWNESS; // includes the client's part
const TRIES = 5;
const HIDDEN = /acme\/secret|plan\.md|is ours|hidden/;

let service: Service;
/** The owner's cursors, by the repository in which the page ended. */
const cursors = new Map<string, string>();

// version, digest of the request, digest of the index, score, repository, path, hash, ranges
const [VERSION, STATE, SCORE, REPOSITORY, PATH, HASH, RANGES] = [0, 2, 3, 4, 5, 6, 7] as const;
const fieldsOf = (cursor: string): unknown[] =>
  unpack(Buffer.from(cursor, "base64url")) as unknown[];
const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const changed = (at: number, value: unknown) => (): string =>
  encoded(pack(fieldsOf(cursors.get("acme/open")!).with(at, value)));

const REQUEST = { query: "needle", matches: 1 };

async function ask(key: string, body: object): Promise<{ status: number; text: string }> {
  const response = await clientOf(service.handler)("/api/search", post(body, bearer(key)));
  return { status: response.status, text: await response.text() };
}

beforeAll(async () => {
  service = await startService({ mcp: true, timeoutMs: 2_000 });
  service.visible.set("bob", new Set([service.ids["acme/open"]!]));
  for (let after: string | undefined = ""; after !== undefined;) {
    const { text } = await ask(service.keys.owner, { ...REQUEST, after });
    after = (JSON.parse(text) as { nextCursor?: string }).nextCursor;
    if (after !== undefined) cursors.set(String(fieldsOf(after)[REPOSITORY]), after);
  }
  expect([...cursors.keys()]).toEqual(expect.arrayContaining(["acme/open", "acme/secret"]));
});

/** Resolves to the longest turn of the fastest of several calls, and to the answer of the last call. */
async function turnOf<T>(most: number, call: () => Promise<T>): Promise<[turn: number, said: T]> {
  for (let [turn, left] = [Infinity, TRIES]; ;) {
    const stalls = watchStalls();
    const said = await call();
    turn = Math.min(turn, (await stalls()).ownMs);
    if (--left === 0 || turn < most) return [turn, said];
  }
}

const bytes = (length: number, byte: number): Uint8Array => Buffer.alloc(length, byte);

const CURSORS: [what: string, after: () => string, status: number][] = [
  ["the owner's, of a page that ended where one may read", () => cursors.get("acme/open")!, 200],
  ["the owner's, of one that ended in a hidden repository", () => cursors.get("acme/secret")!, 400],
  ["one of a repository that is nowhere", changed(REPOSITORY, "acme/none"), 400],
  ["one of a prototype's name", changed(REPOSITORY, "__proto__"), 400],
  ["a repository that is a number", changed(REPOSITORY, 7), 400],
  ["a later version", changed(VERSION, 1e9), 400],
  ["another state of the index", changed(STATE, bytes(16, 1)), 400],
  ["the best score there is", changed(SCORE, Number.MAX_SAFE_INTEGER), 200],
  ["the worst", changed(SCORE, -Number.MAX_SAFE_INTEGER), 200],
  ["a score that is none", changed(SCORE, Number.NaN), 400],
  ["a path of 4 KB", changed(PATH, bytes(4_096, 0xff)), 200],
  ["an empty path", changed(PATH, bytes(0, 0)), 200],
  ["a path that leads out", changed(PATH, Buffer.from("../../etc/passwd")), 200],
  ["a hash that is too short", changed(HASH, bytes(1, 0)), 400],
  ["all ranges that there may be", changed(RANGES, Number.MAX_SAFE_INTEGER), 200],
  ["no ranges", changed(RANGES, 0), 400],
  ["lists in each other", () => encoded(bytes(6_000, 0x91)), 400],
  ["a list of four billion", () => encoded(Buffer.from("ddffffffff", "hex")), 400],
  ["a map of four billion", () => encoded(Buffer.from("dfffffffff", "hex")), 400],
  ["a text of four billion", () => encoded(Buffer.from("dbffffffff", "hex")), 400],
  [
    "a record of the decoder's own kind",
    () => encoded(Buffer.from("d4724093a161a162a163", "hex")),
    400,
  ],
  ["as many characters as a cursor may have", () => "A".repeat(MOST_CURSOR), 400],
  ["one more", () => "A".repeat(MOST_CURSOR + 1), 400],
  ["nearly a megabyte", () => "A".repeat(1_000_000), 400],
  ["no base64", () => "%00<script>", 400],
];

describe("a cursor over HTTP:", () => {
  test.each(CURSORS)("%s", async (what, after, status) => {
    const body = { ...REQUEST, matches: 10, after: after() };
    const [turn, said] = await turnOf(MOST_MS, () => ask(service.keys.bob, body));
    tellFigure(`${turn.toFixed(1)} ms ${said.status} ${what}`);
    expect(said.status).toBe(status);
    expect(said.text).not.toMatch(HIDDEN);
    expect(said.text.length).toBeLessThan(status === 200 ? 20_000 : 1_000);
    expect(turn).toBeLessThan(MOST_MS);
  });

  test("a cursor does not reveal whether a hidden repository exists", async () => {
    const told = async (name: string) => {
      const { status, text } = await ask(service.keys.bob, {
        ...REQUEST,
        after: changed(REPOSITORY, name)(),
      });
      return [status, text.replaceAll(name, "NAME")];
    };
    expect(await told("acme/secret")).toEqual(await told("acme/xecret"));
  });
});

const clientAs = (handler: Handler, secret: string) =>
  connected(
    (request) => {
      request.headers.set("authorization", `Bearer ${secret}`);
      return handler(request);
    },
    { path: "/api/mcp" },
  );

describe("a cursor of an agent:", () => {
  test.each<[what: string, cursor: string]>([
    ["digits that nobody keeps", "123456789012"],
    ["a name of a prototype", "__proto__"],
    ["as many digits as an argument may have", "9".repeat(4_096)],
    ["more", "9".repeat(100_000)],
    ["nothing", ""],
    ["half of a character", "\ud800"],
    ["line ends and commands of a terminal", "\u001b[2J\n".repeat(500)],
  ])("%s", async (what, cursor) => {
    const client = await clientAs(service.handler, service.keys.bob);
    const call = () => callTool(client, "search", { cursor });
    const [turn, said] = await turnOf(MOST_MCP_MS, call);
    tellFigure(`${turn.toFixed(1)} ms ${what}: ${said.text.slice(0, 60)}`);
    expect(said.isError).toBe(true);
    expect(said.text.length).toBeLessThan(1_000);
    expect(turn).toBeLessThan(MOST_MCP_MS);
  });

  test("another viewer's cursor continues with what the sender may see", async () => {
    const lines = (word: string) =>
      Array.from({ length: 60 }, (_, i) => `needle ${word} ${i}\n`).join("");
    const engine = await openEngine([
      { name: "acme/open", files: { "a.ts": lines("open") } },
      { name: "acme/secret", files: { "plan.md": lines("hidden") } },
    ]);
    onTestFinished(() => engine.close());
    const { handler, keys, ids, visible } = await startService({ mcp: true }, engine);
    visible.set("bob", new Set([ids["acme/open"]!]));
    const [owner, bob] = [await clientAs(handler, keys.owner), await clientAs(handler, keys.bob)];
    const asked = { query: "needle", maxTokens: 400 };
    let told = await callTool(owner, "search", asked);
    let all = told.text;
    while (told.facts.cursor !== undefined) {
      const next = { cursor: told.facts.cursor, maxTokens: 400 };
      expect((await callTool(bob, "search", next)).text).not.toMatch(HIDDEN);
      told = await callTool(owner, "search", next);
      all += told.text;
    }
    expect(all).toMatch(HIDDEN);
    const { cursor } = (await callTool(owner, "search", asked)).facts;
    const tree = await callTool(bob, "tree", { repository: "acme/open", cursor });
    expect(tree.isError).toBe(true);
  });
});

const MOST_OF_URL = 31_000;
const filled = (piece: string): string => piece.repeat(Math.floor(MOST_OF_URL / piece.length));
const SCRIPT = "<script>alert(1)</script>";

/** Paths below /browse/, and a query of the page's search. All but the last are requested as text and from the page. */
const ADDRESSES: [what: string, path: string][] = [
  ["a script as a repository", `/browse/${encodeURIComponent(SCRIPT)}/-/blob/a`],
  ["a script as a revision", `/browse/acme/open@${encodeURIComponent(SCRIPT)}/-/blob/a`],
  ["a script as a path", `/browse/acme/open/-/blob/${encodeURIComponent(SCRIPT)}`],
  ["a script that nobody has encoded", `/browse/acme/open/-/blob/${SCRIPT}`],
  ["a quote and a script", `/browse/acme/open/-/blob/"'>${SCRIPT}`],
  ["a script as a query", `/search?query=${encodeURIComponent(SCRIPT)}`],
  ["a path that leads out", "/browse/acme/open/-/blob/..%2f..%2f..%2fetc%2fpasswd"],
  ["a folder that leads out", "/browse/acme/open/-/tree/..%2f..%2f"],
  ["a repository that leads out", "/browse/..%2f..%2fetc/-/blob/passwd"],
  ["a hidden repository", "/browse/acme/secret/-/blob/plan.md"],
  ["zeros", `/browse/acme/open/-/blob/${filled("%00")}`],
  ["bytes that are no text", `/browse/acme/open/-/blob/${filled("%ff")}`],
  ["percents that are none", `/browse/acme/open/-/blob/${filled("%")}`],
  ["folders", `/browse/acme/open/-/tree/${filled("a/")}`],
  ["slashes", `/browse/acme/open/-/tree/${filled("/")}`],
  ["dashes", `/browse/${filled("/-/")}`],
  ["revisions", `/browse/acme/open${filled("@a")}/-/blob/a`],
  ["addresses in each other", `/browse/acme/open${filled("@b/-/blob/")}`],
  ["a long revision", `/browse/acme/open@${filled("HEAD~")}/-/blob/a`],
  ["a query of a megabyte", `/search?query=${"a ".repeat(1 << 19)}`],
];

describe("an address:", () => {
  let text: Handler;
  let page: Handler;
  beforeAll(async () => {
    const { engine } = service;
    text = createHandler(engine, { anonymous: "public" });
    page = createHandler(engine, { anonymous: "public", page: true });
  });

  test.each(ADDRESSES)("%s", async (what, path) => {
    for (const [form, handler] of [
      ["text", text],
      ["page", page],
    ] as const) {
      const request = new Request(`http://host${path}`);
      await sleep(2); // building it does not count as the handler's time
      const [turn, [status, type, policy, told]] = await turnOf(MOST_MS, async () => {
        const response = await handler(request);
        const { headers } = response;
        const [type, policy] = ["content-type", "content-security-policy"].map((name) =>
          headers.get(name),
        );
        return [response.status, type, policy, await response.text()] as const;
      });
      tellFigure(`${turn.toFixed(1)} ms ${status} ${form}, ${what}: ${type} ${policy}`);
      expect(status, form).toBeLessThan(500);
      expect(told, form).not.toMatch(HIDDEN);
      expect(told, form).not.toMatch(/root:|ENOENT/);
      if (type?.startsWith("text/html")) expect(told).not.toContain("alert(1)");
      else expect(type, form).toMatch(/^(?:text\/plain|application\/json)/);
      expect(turn, form).toBeLessThan(MOST_MS);
    }
  });
});
