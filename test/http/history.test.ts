/** Pages of a history that grows, and what happens to git when the client leaves. */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHandler } from "../../src/http/handler.ts";
import { openEngine } from "./engine.ts";
import { makeClone } from "./git-clone.ts";
import { clientOf } from "./service.ts";

const FILES = { "a.txt": "one\n" };

async function serving() {
  const { folder, run } = makeClone(FILES);
  const engine = await openEngine([{ name: "r", files: FILES, gitFolder: folder }]);
  onTestFinished(() => engine.close());
  const client = clientOf(
    createHandler(engine, { anonymous: "all", maxConcurrent: 1, maxWaiting: 0 }),
  );
  const add = (...messages: string[]): void => {
    for (const message of messages) run("commit", "-q", "--allow-empty", "-m", message);
  };
  return { folder, run, client, add };
}

test("totals and links follow a revision that moves", async () => {
  const { run, client, add } = await serving();
  const ask = async (query: string) => {
    const response = await client(`/api/commits?repo=r&perPage=2${query}`);
    const commits = (await response.json()) as { message: string }[];
    const pages = (response.headers.get("link") ?? "").matchAll(
      /[?&]page=(\d+)[^>]*>; rel="(\w+)"/g,
    );
    const links = Array.from(pages, ([, page, rel]) => `${rel} ${page}`).join();
    return [
      commits.map(({ message }) => message).join(),
      response.headers.get("x-total-count"),
      links,
    ];
  };
  expect(await ask("")).toEqual(["first", "1", ""]);
  add("second", "third");
  expect(await ask("")).toEqual(["third,second", "3", "next 2,last 2"]);
  expect(await ask("&page=2")).toEqual(["first", "3", "first 1,prev 1"]);
  expect(await ask("&query=d$")).toEqual(["third,second", "2", ""]);
  add("fourth", "fifth");
  expect(await ask("")).toEqual(["fifth,fourth", "5", "next 2,last 3"]);
  expect(await ask("&query=d$")).toEqual(["third,second", "2", ""]);
  run("reset", "-q", "--soft", "HEAD~3"); // other commits take their place
  add("other");
  expect(await ask("")).toEqual(["other,second", "3", "next 2,last 2"]);
  expect(await ask("&page=2")).toEqual(["first", "3", "first 1,prev 1"]);
  run("checkout", "-q", "-b", "side", "HEAD~1");
  add("aside");
  run("checkout", "-q", "main");
  run("merge", "-q", "--no-ff", "-m", "both", "side");
  expect((await ask(""))[1]).toBe("5");
  expect((await ask("&page=9"))[0]).toBe("");
});

/** Returns the processes of git that work in the folder, or have it among their arguments. */
function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "latin1");
      const places = [words, readlinkSync(`/proc/${pid}/cwd`)];
      return /^git\b/.test(words) && places.some((place) => place.includes(folder));
    } catch {
      return false; // it has ended in the meantime
    }
  });
}

test.skipIf(process.platform !== "linux")("a client that leaves ends the git process", async () => {
  const { folder, run, client, add } = await serving();
  const first = run("rev-parse", "HEAD");
  add("second");
  const object = join(folder, ".git/objects", first.slice(0, 2), first.slice(2));
  rmSync(object, { force: true });
  execFileSync("mkfifo", [object]); // git waits for someone to write into it
  const leaving = new AbortController();
  const answer = client("/api/commits?repo=r", { signal: leaving.signal });
  await expect.poll(() => processesIn(folder).length).toBeGreaterThan(0);
  leaving.abort();
  await expect.poll(() => processesIn(folder)).toEqual([]);
  expect((await answer).status).toBe(503);
  rmSync(object);
  expect((await client("/api/repos")).status).toBe(200);
  expect((await client("/api/commit?repo=r&ref=HEAD")).status).toBe(200); // the only slot is free
});
