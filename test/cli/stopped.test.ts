/** Ctrl-C in each stage of a write: the command ends with 130, soon, and with words for a person. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documents, open } from "../../src/index.ts";
import { bundledPrograms } from "../programs.ts";

const folder = mkdtempSync(join(tmpdir(), "quern-stop-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

/**
 * Makes a process show its progress as on a terminal, each step of it, and press Ctrl-C once it shows a word. At its
 * end it tells the milliseconds of processor time since then.
 */
const PRESS = `
const word = process.env.PRESS_AT;
Object.defineProperty(process.stderr, "isTTY", { value: true });
let ahead = 0;
const now = performance.now.bind(performance);
performance.now = () => now() + (ahead += 101);
let pressed;
const write = process.stderr.write.bind(process.stderr);
process.stderr.write = (text) => {
  if (pressed === undefined && String(text).includes(word)) {
    pressed = process.cpuUsage();
    process.kill(process.pid, "SIGINT");
  }
  return write(text);
};
process.on("exit", () => {
  if (pressed === undefined) return;
  const { user, system } = process.cpuUsage(pressed);
  write("worked " + (user + system) / 1000);
});
`;

let command: string;
const press = join(folder, "press.cjs");
const source = join(folder, "shop");
beforeAll(async () => {
  [command] = (await bundledPrograms(["src/cli/bin.ts"])) as [string];
  writeFileSync(press, PRESS);
  mkdirSync(source);
  for (let n = 0; n < 60; n++)
    writeFileSync(join(source, `f${n}.ts`), `export function needle${n}() {}\n`.repeat(50));
});

async function pressAt(word: string, ...argv: string[]) {
  const args = ["--require", press, command, ...argv];
  const env = { ...process.env, PRESS_AT: word };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  const told = text(child.stderr);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stderr: await told };
}

function expectStopped({ code, stderr }: { code: number | null; stderr: string }): void {
  expect(code, stderr).toBe(130);
  expect(stderr).toContain("quern: stopped; what was published before is as it was\n");
  expect(Number(/worked ([\d.]+)$/.exec(stderr)?.[1])).toBeLessThan(1_000);
}

test.each(["listing", "reading", "publishing", "symbols of"])("an index run: %s", async (word) => {
  const db = join(folder, `index-${word.replace(" ", "-")}`);
  expectStopped(await pressAt(word, "index", source, "--workers", "0", "--db", db));
  const engine = await open(db);
  try {
    expect(await engine.check()).toMatchObject({ ok: true });
    // content is published before its symbols are looked for; a commit that has begun is not taken back
    const count = (await engine.repositories()).length;
    if (word !== "publishing") expect(count).toBe(word === "symbols of" ? 1 : 0);
  } finally {
    await engine.close();
  }
});

test("a compaction: merging", async () => {
  const db = join(folder, "compacted");
  const engine = await open(db, { workers: 0 });
  const files = [{ path: "a.txt", content: "needle\n" }];
  for (const name of ["a", "b", "c"]) await engine.index(documents({ name, files }));
  await engine.close();
  expectStopped(await pressAt("merging", "compact", "--db", db));
});
