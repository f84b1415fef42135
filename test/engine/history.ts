/**
 * Random histories of an index. A history is a list of states. Each is reached by some way of indexing, with compaction
 * and reopening in between. After each step the engine must answer as the oracle does for the last state alone.
 */

import fc from "fast-check";
import { expect } from "vitest";
import type { Engine } from "../../src/engine.ts";
import type { IndexReport } from "../../src/ingest/run/report.ts";
import { corpora } from "../oracle/corpora.ts";
import { filesOf, type Corpus, type CorpusRepository } from "../oracle/corpus.ts";
import { queries } from "../oracle/queries.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { bringTo, difference } from "./corpus-engine.ts";
import { brokenInvariant, segmentsInScope } from "./invariants.ts";
import { STYLES, transition, type Style } from "./transition.ts";

export interface Step {
  readonly corpus: Corpus;
  readonly regex: boolean;
  readonly queries: readonly string[];
  /** The ways in which repositories are indexed, used in rotation. */
  readonly styles: readonly Style[];
  readonly pick: number;
  /** Whether each repository is indexed with its own call. */
  readonly oneByOne: boolean;
  readonly afterwards: "nothing" | "compact" | "reopen";
}

/** Returns steps. No step has both large files and expressions, for which the oracle would take minutes. */
export function steps(revisions: 1 | 3, pageBytes?: number): fc.Arbitrary<Step> {
  return fc.boolean().chain((regex) =>
    corpora({ revisions, pages: !regex, pageBytes }).chain((corpus) =>
      fc.record({
        corpus: fc.constant(corpus),
        regex: fc.constant(regex),
        queries: fc.array(queries(corpus, { regex }), { minLength: 1, maxLength: 4 }),
        styles: fc.array(fc.constantFrom(...STYLES), { minLength: 3, maxLength: 3 }),
        pick: fc.nat(5),
        oneByOne: fc.boolean(),
        afterwards: fc.constantFrom("nothing", "nothing", "compact", "reopen"),
      }),
    ),
  );
}

export interface World {
  engine: Engine;
  /** The corpus that is indexed, with the engine's numbers of repositories. */
  corpus: Corpus;
  /** Closes the engine and opens its directory again. */
  readonly reopen: () => Promise<Engine>;
  /** Merges all segments. */
  readonly compact: (engine: Engine) => Promise<void>;
}

export async function take(world: World, step: Step): Promise<void> {
  await advance(world, step);
  if (step.afterwards === "compact") await world.compact(world.engine);
  if (step.afterwards === "reopen") world.engine = await world.reopen();
  for (const query of step.queries) {
    const request = { query, matches: 1e9, isRegexEnabled: step.regex };
    const asked = { request, options: { contexts: () => ["acme/api"] } };
    expect(await difference(world.engine, world.corpus, asked)).toBeUndefined();
    await checkShards(world.engine, request);
  }
  await checkListing(world);
}

/** Checks that every segment in scope is counted with exactly one outcome. */
async function checkShards(engine: Engine, request: SearchRequest): Promise<void> {
  const { stats, segments } = await engine.explain(request);
  const { shardsScanned, shardsSkipped, shardsSkippedFilter, crashes } = stats;
  expect(shardsScanned + shardsSkipped + shardsSkippedFilter + crashes).toBe(segments.length);
}

/** Checks that the engine answers like one that has only the last state, file by file, in the same order. */
export async function checkAgainstFresh(world: World, fresh: Engine, step: Step): Promise<void> {
  await bringTo(fresh, world.corpus);
  for (const query of [...step.queries, "file:a", "foo or o", "rev:* -(foo)"]) {
    const request = { query, matches: 50, isRegexEnabled: step.regex };
    const [old, rebuilt] = [await world.engine.search(request), await fresh.search(request)];
    expect(independent(old)).toEqual(independent(rebuilt));
    for (const [engine, answer] of [
      [world.engine, old],
      [fresh, rebuilt],
    ] as const)
      expect(brokenInvariant(answer, await segmentsInScope(engine, request))).toBeUndefined();
  }
}

/** Returns the parts of an answer that depend neither on the layout of segments nor on the numbers of repositories. */
function independent({ files, stats, isSearchExhaustive }: SearchResponse): object {
  const { fileCount, totalMatchCount, actualMatchCount } = stats;
  const { filesConsidered, filesLoaded, regexpsConsidered } = stats;
  return {
    files: files.map((file) => ({ ...file, repositoryId: 0 })),
    isSearchExhaustive,
    counts: [fileCount, totalMatchCount, actualMatchCount],
    work: [filesConsidered, filesLoaded, regexpsConsidered],
  };
}

async function advance(world: World, { corpus, styles, pick, oneByOne }: Step): Promise<void> {
  const before = new Map(world.corpus.repositories.map((one) => [one.name, one]));
  const names = new Set(corpus.repositories.map(({ name }) => name));
  for (const name of before.keys())
    if (!names.has(name)) expect(await world.engine.remove(name)).toBe(true);
  const sources = corpus.repositories.map((after, i) =>
    transition(styles[i]!, before.get(after.name), after, pick),
  );
  const reports: IndexReport[] = [];
  if (oneByOne)
    for (const source of sources) reports.push(...(await world.engine.index(source, SKIP)));
  else reports.push(...(await world.engine.index(sources, SKIP)));
  expect(reports.length).toBe(sources.length);
  const reported = new Map(reports.map((report) => [report.repository, report]));
  world.corpus = {
    repositories: corpus.repositories.map((each) => {
      const report = reported.get(each.name)!;
      checkReport(report, before.get(each.name), each);
      return { ...each, id: report.repositoryId };
    }),
  };
}

const SKIP = { symbols: "skip" } as const;

const searchable = (repository: CorpusRepository | undefined) =>
  new Map(
    (repository ? filesOf(repository) : [])
      .filter(({ skipped }) => skipped === undefined)
      .map(({ path, bytes }) => [`${path}\0${Buffer.from(bytes).toString("hex")}`, bytes.length]),
  );

function checkReport(
  report: IndexReport,
  before: CorpusRepository | undefined,
  after: CorpusRepository,
): void {
  const [had, has] = [searchable(before), searchable(after)];
  const unchanged = [...has.keys()].filter((key) => had.has(key)).length;
  const { added, removed } = report;
  const expected = { added: has.size - unchanged, removed: had.size - unchanged, unchanged };
  expect({ added, removed, unchanged: report.unchanged }).toEqual(expected);
}

/** Checks that repositories(), read() and list() return only the last state. */
async function checkListing({ engine, corpus }: World): Promise<void> {
  const listed = await engine.repositories();
  expect(listed.map(({ name }) => name).sort()).toEqual(
    corpus.repositories.map(({ name }) => name).sort(),
  );
  for (const one of corpus.repositories) {
    const { revisions, contentBytes, skipped } = listed.find(({ name }) => name === one.name)!;
    expect(revisions.map(({ name, files }) => [name, files])).toEqual(
      one.revisions.map(({ name, files }) => [name, files.length]),
    );
    const bytes = [...searchable(one).values()].reduce((sum, length) => sum + length, 0);
    expect(contentBytes).toBe(bytes);
    const left = one.revisions.flatMap(({ name, files }) =>
      files.filter((file) => file.skipped).map(({ path }) => `${name} ${path}`),
    );
    expect(skipped.map(({ revision, path }) => `${revision} ${path}`).sort()).toEqual(left.sort());
    await checkFiles(engine, one);
  }
}

async function checkFiles(engine: Engine, { name, revisions }: CorpusRepository): Promise<void> {
  const last = revisions.at(-1)!;
  for (const { path, bytes, skipped } of last.files) {
    const read = await engine.read({ repository: name, path, revision: last.name });
    if (skipped) expect(read).toBeUndefined();
    else expect(Buffer.from(read!.bytes).equals(bytes)).toBe(true);
  }
  const top = new Set(last.files.map(({ path }) => path.split("/")[0]));
  const children = await engine.list({ repository: name, path: "", revision: last.name });
  expect(new Set(children!.map((child) => child.name))).toEqual(top);
}
