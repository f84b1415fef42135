/** The engine behind the HTTP tests, filled with repositories that a test names. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../../src/opened-engine.ts";
import type { Engine, OpenOptions } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import type { RepositoryMetadata } from "../../src/store/format/records.ts";

export interface Fixture extends RepositoryMetadata {
  name: string;
  files: Record<string, string>;
  /** Absent if not known. */
  pushedAt?: Date;
  /** The git folder of a clone that has at least these files. */
  gitFolder?: string;
}

const base = mkdtempSync(join(tmpdir(), "quern-http-"));
const engines: Engine[] = [];
let opened = 0;
async function closeAll(): Promise<void> {
  for (const engine of engines) await engine.close();
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
}
// scripts that use these engines run without vitest, so their engines end with the process
if (process.env["VITEST"] === undefined)
  process.once("exit", () => rmSync(base, { recursive: true, force: true }));
else (await import("vitest")).afterAll(closeAll);

export const openEngine = (
  fixtures: readonly Fixture[],
  options: Pick<OpenOptions, "contexts"> = {},
): Promise<Engine> => openEngineOf(fixtures.map(sourceOf), options);

/** Opens an engine that is closed and deleted at the end of the file of tests. */
export async function openEngineOf(
  sources: readonly Source[],
  options: Pick<OpenOptions, "contexts"> = {},
): Promise<Engine> {
  const path = join(base, String(++opened));
  const engine = await open(path, { workers: 0, warmUp: false, ...options });
  engines.push(engine);
  await engine.index(sources);
  return engine;
}

export function sourceOf({ files, pushedAt, gitFolder, ...rest }: Fixture): Source {
  const all = Object.entries(files).map(([path, content]) => ({ path, content }));
  const source = documents({ ...rest, files: all });
  const committedAt = pushedAt === undefined ? {} : { committedAt: pushedAt };
  return {
    ...source,
    async open(...given) {
      const { revisions, ...listing } = await source.open(...given);
      return {
        ...listing,
        ...(gitFolder === undefined ? {} : { gitFolder }),
        revisions: revisions.map((one) => ({ ...one, ...committedAt })),
      };
    },
  };
}
