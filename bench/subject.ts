/**
 * Runs quern in a separate process, so that the benchmark itself does not affect the figures of memory and the event
 * loop. Loads the engine from the URL in QUERN_ENGINE, and receives commands as messages.
 */

import type { Engine } from "../src/engine.ts";
import type { Source } from "../src/ingest/sources/source.ts";
import type { SearchRequest } from "../src/search/messages/request.ts";
import type { FileResult } from "../src/search/messages/response.ts";
import { generatedFiles, preparePool } from "./generated.ts";
import type { Workspace } from "../src/workspace/workspace.ts";
import type { Library } from "./quern.ts";
import { watchStalls, type Stall } from "./stall.ts";
import { sample, timed } from "./statistics.ts";
import { changed, collectedHeap, findable, idle, unchanged } from "./subject-workspace.ts";
import type { Commands, FileCount, Order, Outcome, SourceSpec } from "./subject-commands.ts";

const library = (await import(process.env["QUERN_ENGINE"] ?? "")) as Library;
let opened: Engine | undefined;

function engine(): Engine {
  if (!opened) throw new Error("no engine is open");
  return opened;
}

/** The folder that was followed last. */
let followed: Workspace | undefined;

function tree(): Workspace {
  if (!followed) throw new Error("no folder is followed");
  return followed;
}

const commands: Commands = {
  async open({ path, ...options }) {
    const start = performance.now();
    opened = await library.open(path, options);
    return { ms: performance.now() - start };
  },

  async index({ source, symbols }) {
    const sources = sourcesOf(source);
    const longest = watchStalls();
    const start = performance.now();
    const reports = await engine().index(sources, {
      symbols: symbols ? "after" : "skip",
    });
    const ms = performance.now() - start;
    const sum = (of: (report: (typeof reports)[number]) => number) =>
      reports.reduce((total, report) => total + of(report), 0);
    return {
      ms,
      stall: await longest(),
      files: sum(({ added }) => added),
      bytesRead: sum(({ bytesRead }) => bytesRead),
      symbols: sum((report) => report.symbols),
    };
  },

  async ask({ request, patience }) {
    let response = await engine().search(request);
    const search = async () => (response = await engine().search(request));
    const times = await sample(() => timed(search), patience);
    const { totalMatchCount, fileCount, contentBytesLoaded, crashes, shardsSkipped } =
      response.stats;
    return {
      times,
      matches: totalMatchCount,
      files: fileCount,
      contentBytes: contentBytesLoaded,
      isComplete: crashes === 0 && shardsSkipped === 0,
    };
  },

  async firstChunk({ request, patience }) {
    return await sample(() => msToFirstChunk(request), patience);
  },

  async first({ request }) {
    const start = performance.now();
    const { stats } = await engine().search(request);
    return { ms: performance.now() - start, matches: stats.totalMatchCount };
  },

  // streamed, so that millions of ranges are never in memory at once
  async perFile({ request }) {
    const counts: FileCount[] = [];
    for await (const event of engine().stream({ ...request, matches: Number.MAX_SAFE_INTEGER }))
      if (event.type === "chunk") counts.push(...event.files.map(countOf));
    return counts;
  },

  async stalls({ request, searches }) {
    await engine().search(request);
    const stalls: Stall[] = [];
    for (let search = 0; search < searches; search++) {
      const longest = watchStalls();
      await engine().search(request);
      stalls.push(await longest());
    }
    return stalls;
  },

  async contentBytes() {
    const repositories = await engine().repositories();
    return repositories.reduce((sum, { contentBytes }) => sum + contentBytes, 0);
  },

  async compact() {
    await engine().compact();
  },

  async follow({ path }) {
    const start = performance.now();
    followed = await engine().workspace(path);
    const ms = performance.now() - start;
    await followed.settled();
    return { ms };
  },

  async heap() {
    return collectedHeap();
  },

  idle: ({ ms }) => idle(ms),
  findable: ({ path, runs }) => findable(tree(), path, runs),
  unchanged: (how) => unchanged(engine(), tree(), how),
  changed: ({ path, ...how }) => changed(tree(), path, how),

  async close() {
    await opened?.close();
    opened = undefined;
  },
};

function sourcesOf(spec: SourceSpec): Source | Source[] {
  switch (spec.kind) {
    case "directory":
      return library.directory(spec.path, { name: spec.name, gitignore: false });
    case "git":
      return library.git(spec.path, { name: spec.name });
    case "changes":
      return library.documents({ name: spec.name, changes: spec.changes });
    case "generated":
      preparePool();
      return Array.from({ length: spec.repositories }, (_, number) =>
        library.documents({
          name: `generated/${number}`,
          files: generatedFiles(number, spec.bytesEach),
        }),
      );
  }
}

function countOf({ fileName, chunks }: FileResult): FileCount {
  const ranges = chunks.flatMap(({ matchRanges }) => matchRanges);
  const lines = new Set<number>();
  for (const { start, end } of ranges)
    for (let line = start.lineNumber; line <= end.lineNumber; line++) lines.add(line);
  return {
    path: fileName.text,
    matches: ranges.length || fileName.matchRanges.length,
    lines: lines.size,
  };
}

/** Resolves to the milliseconds to the first chunk, without the time for ending the search. */
async function msToFirstChunk(request: SearchRequest): Promise<number> {
  const start = performance.now();
  for await (const event of engine().stream(request)) {
    const ms = performance.now() - start;
    if (event.type === "chunk") return ms;
  }
  return performance.now() - start;
}

async function obey({ name, options }: Order): Promise<Outcome> {
  try {
    const command = commands[name] as (options: object) => Promise<unknown>;
    return { value: await command(options) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

process.on("message", (order: Order) => {
  void obey(order).then((outcome) => process.send?.(outcome));
});
