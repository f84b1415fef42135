/**
 * Brings the history of repositories up to date, after their files: reads the commits that are new, publishes them in
 * segments, drops the history of repositories that no longer want one, and merges segments. A run that is killed loses at
 * most the segment that it was writing.
 */

import { countBits, fullBitset } from "../../base/bitset.ts";
import { QuernError } from "../../base/errors.ts";
import { readFile } from "node:fs/promises";
import { pack, unpack } from "msgpackr";
import { locateRepository, shallowFileOf } from "../../git/open-repository.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import {
  nextManifest,
  putManifest,
  readManifest,
  withRepositories,
  type HistorySegment,
  type Manifest,
} from "../../store/catalog/manifest.ts";
import { repositoryKey, SEGMENT_BYTES, type NewLayout } from "../../store/format/format.ts";
import type { HistoryRecord, RepositoryRecord } from "../../store/format/records.ts";
import { corrupt } from "../../store/format/sealed.ts";
import { CommitGraph } from "../../store/history/commit-graph.ts";
import { COMMIT_FLAG, readCommits } from "../../store/history/commit-table.ts";
import type { WrittenHistory } from "../../store/history/history-builder.ts";
import { readHistoryHeader } from "../../store/history/tables.ts";
import type { Environment, Writer } from "../../store/lmdb/environment.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import type { Pool } from "../../threads/pool.ts";
import type { HistoryReport, IndexProgress } from "../run/report.ts";
import type { HistoryInput, HistoryOutput } from "./history-task.ts";
import type { HistoryMergeInput } from "./merge-task.ts";
import { openPureGit, type PureGit } from "./pure-git.ts";

export interface HistoryPass {
  readonly environment: Environment;
  readonly pool: Pool;
  readonly memoryBudget: number;
  readonly maxFileSize: number;
  readonly layout: NewLayout;
  readonly newest: () => Promise<Catalog>;
  /** The repositories that the run has indexed. */
  readonly repositories: Iterable<number>;
  /** The owner of the write lease. */
  readonly owner: string;
  readonly signal: AbortSignal;
  readonly throwIfStopped: () => void;
  readonly onProgress: (progress: IndexProgress) => void;
}

/** The maximum number of history segments of a repository. If there are more, the smallest are merged. */
const MOST_SEGMENTS = 8;
/** The number of commits that are sent to a thread at once. */
const SENT_COMMITS = 250_000;

/** Brings the histories up to date, and resolves to a report for each repository that has one. REQUIRES: the lease is held. */
export async function indexHistories(pass: HistoryPass): Promise<Map<number, HistoryReport>> {
  const reports = new Map<number, HistoryReport>();
  for (const repository of pass.repositories) {
    pass.throwIfStopped();
    const { repositories, manifest } = await pass.newest();
    const record = repositories.get(repository)?.record;
    if (!record) continue;
    if (!record.history || record.history.isStale) await dropHistory(pass, manifest, record);
    if (record.history) {
      const { isStale: _, ...wanted } = record.history;
      reports.set(repository, await new RepositoryHistory(pass, record, wanted).update());
    }
  }
  return reports;
}

const ofRepository = ({ history }: Manifest, repository: number): HistorySegment[] =>
  history.filter((one) => one.repository === repository);

/** Drops the history of a repository, which is then no longer stale. */
async function dropHistory(
  { environment, owner }: HistoryPass,
  manifest: Manifest,
  { id, history }: RepositoryRecord,
): Promise<void> {
  const gone = ofRepository(manifest, id);
  if (gone.length === 0 && !history) return;
  await environment.write((writer) => {
    checkLease(writer, owner);
    if (history) {
      const { isStale: _, ...fresh } = history;
      writer.put(repositoryKey(id), pack({ ...readRecord(writer, id), history: fresh }));
    }
    putManifest(writer, replaced(readManifest(writer), id, gone, []));
  });
}

/** Returns the manifest with the history segments `gone` replaced by `segment`, in the place of the first of them. */
function replaced(
  manifest: Manifest,
  repository: number,
  gone: readonly HistorySegment[],
  arrived: readonly HistorySegment[],
): Manifest {
  const numbers = new Set(gone.map(({ segment }) => segment));
  const place = manifest.history.findIndex(({ segment }) => numbers.has(segment));
  const history = manifest.history.filter(({ segment }) => !numbers.has(segment));
  history.splice(Math.max(place, 0), 0, ...arrived);
  const now = Date.now();
  const generation = manifest.generation + 1;
  return nextManifest(manifest, {
    history,
    repositories: withRepositories(manifest, [repository]),
    nextSegment: Math.max(manifest.nextSegment, ...arrived.map(({ segment }) => segment + 1)),
    retired: [
      ...manifest.retired,
      ...gone.map(({ segment }) => ({ segment, at: now, generation })),
    ],
  });
}

class RepositoryHistory {
  readonly #pass: HistoryPass;
  readonly #record: RepositoryRecord;
  readonly #wanted: HistoryRecord;

  constructor(pass: HistoryPass, record: RepositoryRecord, wanted: HistoryRecord) {
    this.#pass = pass;
    this.#record = record;
    this.#wanted = wanted;
  }

  async update(): Promise<HistoryReport> {
    const report: HistoryReport = { commits: 0, withoutLines: [] };
    const { maxFileSize, signal, newest } = this.#pass;
    const { id, revisions } = this.#record;
    const tips = [...new Set(revisions.flatMap(({ commit }) => commit ?? []))];
    const { manifest } = await newest();
    const isKnown = tips.every((tip) => this.#wanted.tips.includes(tip));
    const isSame = isKnown && tips.length === this.#wanted.tips.length;
    if (!(isSame && !this.#wanted.isShallow)) {
      const git = await openPureGit(this.#folder, maxFileSize, signal);
      try {
        await mustBeWhole(git);
        const graph = this.#graph(manifest);
        const boundaries = await this.#boundaries();
        const ids = await this.#missing(git, { tips, graph, boundaries });
        await this.#read(ids, { boundaries, report });
        await this.#putRecord({ ...this.#wanted, tips, isShallow: boundaries.size > 0 });
      } finally {
        await git.close();
      }
    }
    await this.#merge(tips, id);
    return report;
  }

  get #folder(): string {
    const { gitFolder } = this.#record;
    if (gitFolder === undefined)
      throw new QuernError("INTERNAL", `repository ${this.#record.name} has no git folder`);
    return gitFolder;
  }

  #graph(manifest: Manifest): CommitGraph & { readonly boundaries: ReadonlySet<string> } {
    const segments = ofRepository(manifest, this.#record.id);
    const snapshot = this.#pass.environment.snapshot();
    const boundaries = new Set<string>();
    try {
      const tables = segments.map(({ segment }) => {
        const header = readHistoryHeader(snapshot, segment);
        if (!header) throw corrupt(`history segment ${segment} is missing`);
        const table = readCommits(snapshot, segment, header);
        for (const [i, flags] of table.flags.entries())
          if (flags & COMMIT_FLAG.BOUNDARY)
            boundaries.add(
              Buffer.from(table.ids.subarray(i * table.idBytes, (i + 1) * table.idBytes)).toString(
                "hex",
              ),
            );
        return { segment, table };
      });
      return Object.assign(new CommitGraph(tables), { boundaries });
    } finally {
      snapshot.close();
    }
  }

  /** Resolves to the commits at which the repository is shallow. */
  async #boundaries(): Promise<ReadonlySet<string>> {
    const { signal } = this.#pass;
    const file = await shallowFileOf(await locateRepository(this.#folder, signal), signal);
    const text = await readFile(file, "latin1").catch(() => "");
    return new Set(text.split("\n").filter((line) => line !== ""));
  }

  /** Resolves to the commits that have to be read, newest first. */
  async #missing(
    git: PureGit,
    {
      tips,
      graph,
      boundaries,
    }: {
      readonly tips: readonly string[];
      readonly graph: CommitGraph & { readonly boundaries: ReadonlySet<string> };
      readonly boundaries: ReadonlySet<string>;
    },
  ): Promise<string[]> {
    const { since, commits, tips: done } = this.#wanted;
    const deepened = [...graph.boundaries].filter((id) => !boundaries.has(id));
    const limits = [
      ...(since === undefined ? [] : [`--since=${since}`]),
      ...(commits === undefined ? [] : [`--max-count=${commits}`]),
    ];
    // the commits behind a deepened boundary are not behind any tip that was read before
    const excluded = deepened.length > 0 ? [] : await existing(git, done);
    const input = [...tips, ...excluded.map((id) => `^${id}`)].map((id) => `${id}\n`).join("");
    const again = new Set(deepened);
    const listed = await linesOf(
      git.stream(["rev-list", "--date-order", ...limits, "--stdin"], input),
    );
    return listed.filter((id) => graph.find(id) < 0 || again.has(id));
  }

  async #read(
    ids: readonly string[],
    {
      boundaries,
      report,
    }: { readonly boundaries: ReadonlySet<string>; readonly report: HistoryReport },
  ): Promise<void> {
    const { pool, environment, owner, layout, memoryBudget, maxFileSize, signal } = this.#pass;
    const { id: repository, name } = this.#record;
    const isFirst = this.#wanted.tips.length === 0;
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const onAbort = (): void => void Atomics.store(stop, 0, 1);
    signal.addEventListener("abort", onAbort, { once: true });
    const tell = (done: number): void =>
      this.#pass.onProgress({
        repository: name,
        stage: "history",
        done,
        total: ids.length,
        bytes: 0,
        totalBytes: 0,
      });
    tell(0);
    try {
      for (let from = 0; from < ids.length;) {
        this.#pass.throwIfStopped();
        const some = ids.slice(from, from + SENT_COMMITS);
        const { nextSegment: segment } = (await this.#pass.newest()).manifest;
        const input: HistoryInput = {
          folder: this.#folder,
          maxFileSize,
          ids: some,
          boundaries: new Set(some.filter((id) => boundaries.has(id))),
          repository,
          segment,
          owner,
          layout,
          bounds: { memoryBytes: memoryBudget, textBytes: SEGMENT_BYTES / 2 },
          stop,
        };
        const begun = from;
        const { written, commits, withoutLines } = await pool.run<HistoryOutput>(
          "ingest.history",
          input,
          {
            lane: "ingest",
            onMessage: (done) => tell(begun + (done as number)),
          },
        );
        await environment.texts.sync([segment]);
        await environment.write((writer) => {
          checkLease(writer, owner);
          const manifest = readManifest(writer);
          const arrived = { ...written, repository };
          const next = replaced(manifest, repository, [], [arrived]);
          // while a repository is read for the first time, each segment is older than those before
          const history = isFirst
            ? [...next.history.filter((one) => one !== arrived), arrived]
            : next.history;
          putManifest(writer, { ...next, history });
        });
        from += commits;
        report.commits += commits;
        report.withoutLines.push(...withoutLines);
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async #putRecord(history: HistoryRecord): Promise<void> {
    const { environment, owner } = this.#pass;
    const { id } = this.#record;
    await environment.write((writer) => {
      checkLease(writer, owner);
      const record = readRecord(writer, id);
      writer.put(repositoryKey(id), pack({ ...record, history }));
      putManifest(writer, replaced(readManifest(writer), id, [], []));
    });
  }

  /** Merges segments if there are many, and rewrites those of which less than half is still reached by a revision. */
  async #merge(tips: readonly string[], repository: number): Promise<void> {
    const { pool, environment, owner, layout, newest, throwIfStopped } = this.#pass;
    for (;;) {
      throwIfStopped();
      const { manifest } = await newest();
      const own = ofRepository(manifest, repository);
      const graph = this.#graph(manifest);
      const reached = graph.reach(tips);
      const keptOf = ({ segment, commits }: HistorySegment) =>
        reached.length === 0 ? fullBitset(commits) : graph.partOf(reached, segment);
      const dead = own.find((one) => 2 * countBits(keptOf(one)) < one.commits);
      const group = dead ? [dead] : mergeable(own);
      if (group.length === 0) return;
      const kept = group.map(keptOf);
      let arrived: HistorySegment[] = [];
      if (kept.some((one) => countBits(one) > 0)) {
        const target = manifest.nextSegment;
        const segments = group.map(({ segment }) => segment);
        const input: HistoryMergeInput = { segments, kept, repository, target, owner, layout };
        const written = await pool.run<WrittenHistory>("ingest.historyMerge", input, {
          lane: "ingest",
        });
        await environment.texts.sync([target]);
        arrived = [{ ...written, repository }];
      }
      await environment.write((writer) => {
        checkLease(writer, owner);
        putManifest(writer, replaced(readManifest(writer), repository, group, arrived));
      });
    }
  }
}

/**
 * Returns the newest segments, up to the first one that is larger than all segments before it together, or nothing if
 * there are few segments.
 */
function mergeable(segments: readonly HistorySegment[]): HistorySegment[] {
  if (segments.length <= MOST_SEGMENTS) return [];
  const group = segments.slice(0, 2);
  let bytes = group.reduce((sum, { textBytes }) => sum + textBytes, 0);
  for (const one of segments.slice(2)) {
    if (one.textBytes > bytes || bytes + one.textBytes > SEGMENT_BYTES / 2) break;
    group.push(one);
    bytes += one.textBytes;
  }
  return bytes > SEGMENT_BYTES / 2 ? [] : group;
}

function readRecord(writer: Writer, id: number): RepositoryRecord {
  const value = writer.get(repositoryKey(id), `the record of repository ${id}`);
  if (!value) throw corrupt(`the record of repository ${id}`);
  return unpack(value) as RepositoryRecord;
}

/** Rejects a partial clone, because git would have to fetch most of its blobs. */
async function mustBeWhole({ processes }: PureGit): Promise<void> {
  const args = [
    "config",
    "--get-regexp",
    String.raw`^(extensions\.partialclone|remote\..*\.promisor)$`,
  ];
  const { stdout } = await processes.run(args);
  if (/^(?:extensions\.partialclone .|remote\..*\.promisor (?:true|1|yes|on)$)/m.test(stdout))
    throw new QuernError(
      "SOURCE_UNREADABLE",
      `cannot index the history of ${processes.folder}: it is a partial clone, which lacks the content of old files; fetch everything with git fetch --refetch --no-filter, or index it without history`,
    );
}

/** Resolves to those of the commits that still exist. */
async function existing(git: PureGit, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const input = ids.map((id) => `${id}\n`).join("");
  const lines = await linesOf(git.stream(["cat-file", "--batch-check"], input));
  return lines.flatMap((line) => /^(\S+) commit /.exec(line)?.[1] ?? []);
}

async function linesOf(stream: AsyncIterable<Buffer>): Promise<string[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks)
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "");
}
