/** Machines of a cluster. Each has a folder of its own; all share one database and one store of objects. */

import type pg from "pg";
import { onTestFinished } from "vitest";
import {
  directorySegments,
  migrateCluster,
  postgresCatalog,
  type ClusterEngine,
  type ClusterOptions,
  type SegmentStore,
} from "../../src/cluster/index.ts";
import { openClusterWith } from "../../src/cluster/open-cluster.ts";
import type { Internals } from "../../src/internals.ts";
import { documents, type Engine, type Source } from "../../src/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { emptyDatabase, poolOn } from "./postgres.ts";

export interface Cluster {
  readonly pool: pg.Pool;
  readonly segments: SegmentStore;
  /** Opens another machine, which is closed when the test ends. */
  open(options?: Partial<ClusterOptions>, internals?: Partial<Internals>): Promise<ClusterEngine>;
}

export async function newCluster(
  given: Partial<ClusterOptions> = {},
  own?: pg.Pool,
): Promise<Cluster> {
  const pool = own ?? poolOn(await emptyDatabase());
  await migrateCluster(pool);
  const segments = given.segments ?? directorySegments(temporaryFolder());
  return {
    pool,
    segments,
    async open(options = {}, internals = {}) {
      const all = {
        catalog: postgresCatalog(pool),
        segments,
        directory: temporaryFolder(),
        workers: 0,
        lockTimeoutMs: 60_000,
        ...given,
        ...options,
      };
      const engine = await openClusterWith(all, internals);
      onTestFinished(() => engine.close());
      return engine;
    },
  };
}

const filesOf = (name: string, extension: string, contents: readonly string[]): Source =>
  documents({
    name,
    files: contents.map((content, n) => ({
      path: `src/file${n}.${extension}`,
      content,
      version: content,
    })),
  });

/**
 * Returns a source of text without symbols. A machine that indexes symbols takes 0.1 s of processor time to load a
 * grammar.
 */
export const shop = (name: string, ...contents: string[]): Source => filesOf(name, "txt", contents);

/** Returns the same source in TypeScript. */
export const code = (name: string, ...contents: string[]): Source => filesOf(name, "ts", contents);

/** Resolves to the repositories and lines that a machine finds, sorted by name. */
export async function found(engine: Engine, query: string): Promise<string[]> {
  const { files } = await engine.search({ query, matches: 1000 });
  return files
    .flatMap(({ repository, chunks }) =>
      chunks.map(({ content }) => `${repository}: ${content.trim()}`),
    )
    .sort();
}

/** A promise that resolves when `open` is called. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

export function newGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
