/** An index of some fixture repositories, for tests of the commands. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { buildRepository, CORPUS } from "../../scripts/build-corpus.ts";
import { quern, type Ran } from "./terminal.ts";

export const folder = mkdtempSync(join(tmpdir(), "quern-commands-"));
export const db = join(folder, "index");
export const repositories = join(folder, "repositories");

/** Runs a command on that index, in a pipe. */
export const ask = (...argv: string[]): Promise<Ran> => quern([...argv, "--db", db]);

/** Makes the index. Call this once in a file of tests. */
export function indexSome(): void {
  beforeAll(async () => {
    for (const name of ["task-queue", "pebble"]) await buildRepository(repositories, name);
    const revisions = ["main", "develop", "v2.1.0"].flatMap((name) => ["--rev", name]);
    const first = await ask("index", join(repositories, "task-queue"), ...revisions);
    expect(first).toMatchObject({ code: 0 });
    const others = ["duration", "ledger"].map((name) => join(CORPUS, name));
    expect(await ask("index", ...others, "--public")).toMatchObject({ code: 0, stderr: "" });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
}
