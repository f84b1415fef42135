/**
 * A writer that was stopped (SIGSTOP) and lost its lease to another writes nothing when it goes on, whatever its next
 * step was. `npx tsx scripts/crash.ts --stops` shows that each row can fail: there the writer also goes on without
 * checking the lease, and the test must notice the step.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey } from "../../src/auth/secrets.ts";
import { lmdbTokenStore } from "../../src/auth/lmdb-stores.ts";
import { bundle, type Bundle } from "./crash/bundle.ts";
import { Fixtures, nameStop, STOPS, stopAndGoOn, untilStopped } from "./crash/stopped.ts";
import { startWriter } from "./crash/writer.ts";
import { someOf } from "../runs.ts";

let bundled: Bundle;
let fixtures: Fixtures;
const folder = mkdtempSync(join(tmpdir(), "quern-stopped-"));
beforeAll(async () => {
  bundled = await bundle("writer-process");
  fixtures = new Fixtures(bundled.script("writer-process"), folder);
});
afterAll(() => {
  bundled.remove();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

describe("a stopped writer that loses its lease writes nothing when it continues", () => {
  const rows = STOPS.map((stop) => [nameStop(stop), stop] as const);
  test.concurrent.each(someOf(rows, 3))("%s", async (_, stop) => {
    const path = await fixtures.copy(stop);
    const wentOn = await stopAndGoOn({ script: bundled.script("writer-process"), path }, stop);
    expect(wentOn).toMatchObject({ step: "nothing", isChanged: false, problems: [] });
    // does everything that is left to do
    if (stop.refused === "lease released") expect(wentOn.failed).toBeUndefined();
    else expect(wentOn.failed).toMatch(/^INDEX_LOCKED: .*taken over/);
  });
});

test("a stopped process that created a key has no lease, and undoes no later change of others", async () => {
  const path = await fixtures.copy({ operation: 0 });
  const moment = { how: "stop committed", step: "key stored", nth: 2 } as const;
  const range = { path, first: 3, end: 4, workers: 0, log: join(path, "steps"), moment };
  const child = startWriter({ script: bundled.script("writer-process"), ...range });
  const closed = new Promise((resolve) => child.once("close", resolve));
  await untilStopped(child.pid!);
  await using tokens = lmdbTokenStore(join(path, "keys"));
  const { id } = await createApiKey(tokens, { ownerId: "owner" });
  await tokens.revoke(id, new Date(1));
  child.kill("SIGCONT");
  await closed;
  expect(await tokens.get(id)).toMatchObject({ revokedAt: new Date(1) });
  const ids: string[] = [];
  for await (const key of tokens.list("owner")) ids.push(key.id);
  expect(ids.sort()).toEqual([id, "key 000003"].sort());
});
