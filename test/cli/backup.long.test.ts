/** A backup of a data directory is as good as the directory. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../engine/opened.ts";
import type { BackupReport } from "../../src/index.ts";
import { quern } from "./terminal.ts";

/** Sends a request with the key to a server of the directory. */
async function asked(db: string, secret: string): Promise<{ status: number; files: number }> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let told = "";
  const onOutput = (text: string) => void (told += text);
  const argv = ["serve", "--port", "0", "--json", "--db", db];
  const ended = quern(argv, { signal: stop.signal, onOutput });
  await expect.poll(() => told).toContain("\n");
  const { url } = JSON.parse(told) as { url: string };
  const body = JSON.stringify({ query: "needle", matches: 1 });
  const headers = { Authorization: `Bearer ${secret}` };
  const response = await fetch(`${url}/api/search`, { method: "POST", headers, body });
  const { files = [] } = (await response.json()) as { files?: object[] };
  stop.abort();
  await ended;
  return { status: response.status, files: files.length };
}

test("a copy contains the index, the keys and the members, with their ids", async () => {
  const root = temporaryFolder();
  const [source, db, copy] = ["notes", "data", "copy"].map((name) => join(root, name));
  mkdirSync(source!);
  writeFileSync(join(source!, "a.txt"), "needle\n");
  await quern(["index", source!, "--db", db!]);
  await quern(["users", "add", "ada", "--db", db!]);
  const secret = (await quern(["keys", "create", "--owner", "ada", "--db", db!])).stdout.trim();
  const all = async (at: string) =>
    Promise.all(
      ["repos", "keys list", "users list"].map(async (words) => {
        const { stdout } = await quern([...words.split(" "), "--json", "--db", at]);
        return JSON.parse(stdout) as object[];
      }),
    );
  const before = await all(db!);
  expect(before.map(({ length }) => length)).toEqual([1, 1, 1]);

  const { stdout, code } = await quern(["backup", copy!, "--db", db!]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/copy: [\d.]+ [KM]B, verified, [\d.]+ m?s\n$/),
  ]);
  expect(await all(copy!)).toEqual(before);
  expect(await asked(copy!, secret)).toEqual({ status: 200, files: 1 });
  expect(
    (
      await asked(
        copy!,
        secret.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
      )
    ).status,
  ) //
    .toBe(401);
  expect(JSON.parse((await quern(["index", source!, "--db", copy!, "--json"])).stdout)) //
    .toMatchObject([{ added: 0, unchanged: 1 }]);
});

test("a second backup shares text with the first, and an existing folder is refused", async () => {
  const root = temporaryFolder();
  const [source, db, first, second] = ["notes", "data", "a", "b"].map((name) => join(root, name));
  mkdirSync(source!);
  for (let i = 0; i < 3; i++)
    writeFileSync(join(source!, `${i}.txt`), `needle ${i} and more\n`.repeat(80_000)); // long enough for a text file
  await quern(["index", source!, "--db", db!]);
  await quern(["backup", first!, "--db", db!]);
  const again = ["backup", second!, "--base", first!, "--db", db!];
  const { linkedBytes } = JSON.parse((await quern([...again, "--json"])).stdout) as BackupReport;
  expect(linkedBytes).toBeGreaterThan(2_000_000); // of at least two of the three
  const refused = await quern(again);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/INVALID_REQUEST: backup: .*b exists already; name a new folder/);
});
