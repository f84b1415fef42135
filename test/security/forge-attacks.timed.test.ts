/** Hostile answers of a code host, or of a repository's remote, to an engine that syncs with it. */

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { longestTurn } from "../engine/longest-turn.ts";
import { tellFigure } from "../figures.ts";
import { isInTurn, someOf } from "../runs.ts";
import { SLOWNESS } from "../slowness.ts";
import { outcomes } from "../sync/outcomes.ts";
import { commit, inRepository, serveRemotes } from "../sync/remotes.ts";
import { setUp } from "../sync/shop.ts";

/** The limit of milliseconds of processor time in one turn. Most of it is JSON.parse() of the longest allowed text. */
const MOST_PARSE_MS = 25 * SLOWNESS;
const entries = (count: number, entry: string): string =>
  `[${`${entry},`.repeat(count - 1)}${entry}]`;
/** The bytes that the host, which runs on this thread, sends in a turn. */
const PART = 256 * 1024;
const TOO_MUCH = / returned too much: /;
const NO_LIST = / returned an unexpected response: /;

test.runIf(process.platform === "linux").each<[string, string, RegExp]>(
  someOf(
    [
      ["15 million numbers", entries(15_000_000, "0"), TOO_MUCH],
      ["as many numbers as there may be", entries(100_000, "0"), NO_LIST],
      ["300 000 empty objects", entries(300_000, "{}"), TOO_MUCH],
      ["as many as there may be", entries(99_999, "{}"), NO_LIST],
      [
        "a good one with as many topics as there may be",
        `[{"id":1,"full_name":"a/b","topics":${entries(99_990, "0")}}]`,
        NO_LIST,
      ],
      ["lists in lists", "[".repeat(10_000_000), TOO_MUCH],
    ],
    2,
  ),
)("an answer of %s ends its list, and holds no thread", async (_, body, message) => {
  const { github, workplace, connection } = await setUp();
  const bytes = Buffer.from(body);
  const parts = Array.from({ length: Math.ceil(bytes.length / PART) }, (_v, i) =>
    bytes.subarray(i * PART, (i + 1) * PART),
  );
  github.before = (_request, response) => {
    Readable.from(parts).pipe(response.writeHead(200));
    return true;
  };
  const turn = await longestTurn(async () => {
    expect(outcomes(await workplace.sync(connection))).toEqual([expect.stringMatching(message)]);
  });
  tellFigure(`${turn.toFixed(1)} ms a turn`);
  expect(turn).toBeLessThan(MOST_PARSE_MS);
});

test("the message of a refusal is parsed only if it is small", async () => {
  const { github, workplace, connection } = await setUp();
  let body = JSON.stringify({ message: "not today" });
  github.before = (_request, response) => (response.writeHead(400).end(body), true);
  const told = async () => outcomes(await workplace.sync(connection))[0];
  expect(await told()).toMatch(/returned status 400 \(not today\)$/);
  body = `{"message":"not today","more":${entries(200_000, "{}")}}`;
  expect(await told()).toMatch(/returned status 400$/);
});

test("a remote that redirects git is not followed, even to an existing repository", async () => {
  const { remotes, workplace } = await setUp();
  const inside = await serveRemotes();
  commit(inside.root, "internal/secret", { "a.ts": "private\n" });
  for (const home of [inside, remotes]) {
    commit(home.root, "internal/secret", { "a.ts": "private\n" });
    remotes.redirect = (path) =>
      path === "acme/shop" ? `${home.url}/internal/secret.git` : undefined;
    const before = inside.requests.length;
    const connection = { type: "git" as const, urls: [`${remotes.url}/acme/shop.git`] };
    expect(outcomes(await workplace.sync(connection))).toEqual([
      expect.stringMatching(
        /acme\/shop: failed: git ls-remote: .*30[12]; it redirects, and redirects are not followed/,
      ),
    ]);
    expect(inside.requests.length).toBe(before);
    expect(await workplace.find("private")).toEqual([]);
  }
});

const REFS = 20_000;

test.runIf(process.platform === "linux" && isInTurn(3))(
  "a remote with very many references",
  async () => {
    const { remotes, workplace, connection } = await setUp();
    const id = inRepository(remotes.root, "acme/shop", "rev-parse", "main").trim();
    const lines = Array.from(
      { length: REFS },
      (_, i) => `${id} refs/tags/t${(i * 7_919) % REFS}\n`,
    );
    appendFileSync(join(remotes.root, "acme/shop.git/packed-refs"), lines.join(""));
    const turn = await longestTurn(async () => {
      const [outcome] = outcomes(await workplace.sync({ ...connection, tags: ["t77?"] }));
      expect(outcome).toMatch(/acme\/shop: (indexed|unchanged)$/);
    });
    tellFigure(`${turn.toFixed(1)} ms a turn`);
    expect(turn).toBeLessThan(12 * SLOWNESS);
    const [repository] = await workplace.engine.repositories();
    expect(repository!.revisions.length).toBe(11);
  },
);

test("a name with a line feed cannot forge a line of a log", async () => {
  const { github, workplace, connection } = await setUp();
  github.repositories.push({ id: 2, full_name: "acme/a\nquern: all is well" });
  expect(outcomes(await workplace.sync(connection))).toEqual([
    `"127.0.0.1/acme/a\\nquern: all is well": failed: its name must not contain control characters: "127.0.0.1/acme/a\\nquern: all is well"`,
    "127.0.0.1/acme/shop: indexed",
  ]);
});
