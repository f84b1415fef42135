/**
 * Tests the commands compact and remove. Compacting takes ten seconds, because it waits for the readers of other
 * processes.
 */

import { join } from "node:path";
import { expect, test } from "vitest";
import { CORPUS } from "../../scripts/build-corpus.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { quern } from "./terminal.ts";

test("compact and remove", async () => {
  const own = temporaryFolder();
  for (const name of ["duration", "ledger"])
    await quern(["index", join(CORPUS, name), "--db", own]);
  const removed = await quern(["remove", "duration", "--db", own, "--json"]);
  expect({ ...removed, stdout: JSON.parse(removed.stdout) as unknown }).toEqual({
    code: 0,
    stdout: { removed: true },
    stderr: "",
  });
  expect(await quern(["remove", "duration", "--db", own])).toMatchObject({ code: 1, stdout: "" });
  expect((await quern(["search", "repo:duration", "--db", own])).code).toBe(1);
  const compacted = await quern(["compact", "--db", own]);
  expect(compacted).toMatchObject({ code: 0, stderr: "" });
  expect(compacted.stdout).toMatch(/^\d+ segments? became 1, .* freed, /);
});
