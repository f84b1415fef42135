/**
 * Indexes the folders anew from which an index of an older format version was made. The old index is put aside
 * meanwhile, so a command that was stopped continues.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { QuernError } from "../base/errors.ts";
import { pathWithin } from "../base/paths.ts";
import type { Engine } from "../engine.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import { directory } from "../ingest/sources/directory.ts";
import { git } from "../ingest/sources/git.ts";
import type { HistoryLimits } from "../ingest/sources/source.ts";
import { FORMAT_VERSION } from "../store/format/format.ts";
import {
  asideIn,
  deleteAside,
  putAside,
  readOldIndex,
  type OldIndex,
  type OldRepository,
} from "../store/upkeep/old-index.ts";
import { type Call, type CommonFlags, lockOptions, type WaitFlags } from "./call.ts";
import { withEngine } from "./engine-session.ts";
import { isRepository } from "./index-sources.ts";
import { printJson, printLines } from "./io.ts";
import { progressLine } from "./progress.ts";
import { count, duration, visible } from "./style.ts";

interface UpgradeReport {
  /** The format version of the old index. */
  readonly from: number;
  readonly to: number;
  readonly indexed: IndexReport[];
  /** The repositories that were not indexed again, and the reasons. */
  readonly left: { readonly repository: string; readonly reason: string }[];
  /** The repositories that `quern sync` indexes again. */
  readonly synced: string[];
}

export async function upgrade(flags: CommonFlags & WaitFlags, { io, exit }: Call): Promise<void> {
  const { db } = flags;
  if (!existsSync(join(db, "quern.mdb")) && asideIn(db) === undefined)
    throw new QuernError("INDEX_NOT_FOUND", `there is no index at ${db}`);
  const old = await readOldIndex(db);
  if (!old) {
    if (flags.json) printJson(io, { from: FORMAT_VERSION, to: FORMAT_VERSION });
    else printLines(io.stdout, [`${visible(db)} has format version ${FORMAT_VERSION} already`]);
    return;
  }
  if (old.version > FORMAT_VERSION)
    throw new QuernError(
      "INDEX_VERSION",
      `this index has format version ${old.version}, which is newer than version ${FORMAT_VERSION} of this quern: use the quern that wrote it`,
    );
  await putAside(db, old.version);
  const progress = progressLine(io);
  const report = await withEngine(io, { db, ...lockOptions(flags) }, (engine) =>
    indexAgain(engine, old, { db, signal: io.signal, onProgress: progress.onProgress }),
  ).finally(() => progress.clear());
  const isWhole = report.left.length === 0;
  if (isWhole) await deleteAside(db);
  if (flags.json) printJson(io, report);
  else printLines(io.stdout, showReport(report, asideIn(db)));
  exit(isWhole ? 0 : 1);
}

interface Again {
  readonly db: string;
  readonly signal: AbortSignal;
  readonly onProgress: ReturnType<typeof progressLine>["onProgress"];
}

/** Indexes the repositories of an old index one by one, so that one that fails does not stop the others. */
async function indexAgain(
  engine: Engine,
  { version, repositories }: OldIndex,
  { db, signal, onProgress }: Again,
): Promise<UpgradeReport> {
  const report: UpgradeReport = {
    from: version,
    to: FORMAT_VERSION,
    indexed: [],
    left: [],
    synced: [],
  };
  for (const repository of repositories) {
    const { name: named, origin } = repository;
    if (origin && pathWithin(join(db, ".sync"), origin.folder) !== undefined) {
      report.synced.push(named);
      continue;
    }
    const source = sourceOf(repository);
    if (typeof source === "string") report.left.push({ repository: named, reason: source });
    else
      try {
        report.indexed.push(...(await engine.index(source, { signal, onProgress })));
      } catch (error) {
        if (!(error instanceof QuernError) || error.code === "ABORTED") throw error;
        report.left.push({ repository: named, reason: error.message });
      }
  }
  return report;
}

/** Returns the source of a repository, or the reason why there is none. */
function sourceOf({ name, metadata, origin, gitFolder, revisions, history }: OldRepository) {
  if (!origin) return "its host passed the files: index it again with the host's program";
  const { folder, revisions: wanted } = origin;
  if (!existsSync(folder)) return `${folder} no longer exists`;
  const options = { ...metadata, name };
  const isOfCommits = revisions?.some(({ commit }) => commit !== undefined) ?? isRepository(folder);
  if (!isOfCommits) return directory(folder, { ...options, git: gitFolder !== undefined });
  return git(folder, {
    ...options,
    ...(wanted && { revisions: [...wanted] }),
    ...(history && { history: limitsOf(history) }),
  });
}

const limitsOf = ({ since, commits }: HistoryLimits): HistoryLimits => ({
  ...(since !== undefined && { since }),
  ...(commits !== undefined && { commits }),
});

function showReport(
  { from, to, indexed, left, synced }: UpgradeReport,
  aside: string | undefined,
): string[] {
  const ms = indexed.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [
    `format version ${from} became ${to}: ${count(indexed.length, "repository", "repositories")} indexed again, ${duration(ms)}`,
    ...(synced.length === 0
      ? []
      : [`quern sync indexes ${count(synced.length, "repository", "repositories")} again: run it`]),
    ...left.map(({ repository, reason }) => `not indexed: ${visible(repository)}: ${reason}`),
    ...(left.length === 0
      ? []
      : [`the old index is kept in ${aside}; delete it when it is not needed`]),
  ];
}
