/** A writer that is killed at any moment leaves an index that opens, is whole, and answers as before or after. */

import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { documents } from "../../src/ingest/documents.ts";
import { openEnvironment } from "../../src/store/environment.ts";
import { openEngine, RUNS, temporaryFolder } from "./opened.ts";
import { unaccounted } from "./stored-keys.ts";

const WRITER = fileURLToPath(new URL("writer-process.ts", import.meta.url));

/** Runs the writer from where the index stands, and kills it after so many milliseconds of work. */
async function killWriter(path: string, afterMs: number): Promise<number> {
  const child = spawn(process.execPath, ["--import", "tsx", WRITER, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let done = -1;
  let out = "";
  child.stdout.on("data", (data: Buffer) => {
    out += data.toString();
    done = Math.max(done, ...[...out.matchAll(/done (\d+)\n/g)].map(([, round]) => Number(round)));
  });
  await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  await sleep(afterMs);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("close", resolve));
  return done;
}

test("killed at random moments", { timeout: 60_000 * RUNS }, async () => {
  const path = temporaryFolder();
  const seed = Math.floor(Math.random() * 1e6);
  let least = 0;
  for (let i = 0; i < 5 * RUNS; i++) {
    const at = `seed ${seed}, kill ${i}`;
    const reported = await killWriter(path, (seed * (i + 7)) % 400);
    least = Math.max(least, reported);
    const engine = await openEngine({}, path);
    expect((await engine.check()).problems, at).toEqual([]);
    const { files, stats } = await engine.search({ query: "round", matches: 1e6 });
    const rounds = new Set(files.map(({ chunks }) => /round (\d+)/.exec(chunks[0]!.content)![1]));
    // all 40 files of one round, which is the last reported or one that ended since
    expect(rounds.size, at).toBeLessThanOrEqual(1);
    expect([0, 40], at).toContain(stats.fileCount);
    const [round = "-1"] = rounds;
    expect(Number(round), at).toBeGreaterThanOrEqual(reported);
    await engine.index(documents({ name: "after", files: [{ path: "a", content: `kill ${i}` }] }));
    expect((await engine.search({ query: `"kill ${i}"`, matches: 1 })).stats.fileCount).toBe(1);
    await engine.close();
    const environment = openEnvironment(path, { readOnly: true });
    expect(unaccounted(environment), at).toEqual([]);
    await environment.close();
  }
});
