/**
 * Compares searches with an overlay with searches of an index of the same state. Random documents of random
 * repositories are replaced, added and removed. The queries are of every kind, including symbols and ranking.
 */

import fc from "fast-check";
import { expect } from "vitest";
import type { Engine } from "../../src/engine.ts";
import type { OverlayDocument, SearchOptions } from "../../src/search/messages/request.ts";
import type { FileResult, SearchResponse } from "../../src/search/messages/response.ts";
import { LAYOUT, type Layout } from "../../src/store/format/format.ts";
import type { Corpus, CorpusFile } from "../oracle/corpus.ts";
import { corpora, withDefinitions } from "../oracle/corpora.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import { fileKey } from "../oracle/oracle.ts";
import { CONTEXTS, searches } from "../oracle/queries.ts";
import { openEngine } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";

const contexts = (name: string) => CONTEXTS[name];

/** Returns `base` with the files of `target` in the default revision of each repository that both have. */
function replaced(base: Corpus, target: Corpus): Corpus {
  return {
    repositories: base.repositories.map((repository) => {
      const other = target.repositories.find(({ name }) => name === repository.name);
      if (!other) return repository;
      const [main, ...others] = repository.revisions;
      return {
        ...repository,
        revisions: [{ ...main!, files: other.revisions[0]!.files }, ...others],
      };
    }),
  };
}

const sameBytes = (a: CorpusFile, b: CorpusFile | undefined): boolean =>
  b !== undefined && Buffer.compare(a.bytes, b.bytes) === 0;

/** Returns the overlay that turns the default revisions of `base` into those of `target`. */
function overlayOf(base: Corpus, target: Corpus): OverlayDocument[] {
  return base.repositories.flatMap(({ name: repository, revisions }, i) => {
    const before = revisions[0]!.files;
    const after = target.repositories[i]!.revisions[0]!.files;
    const byPath = (files: readonly CorpusFile[], path: string) =>
      files.find((file) => file.path === path);
    return [
      ...after
        .filter((file) => !sameBytes(file, byPath(before, file.path)))
        .map(({ path, bytes }) => ({ repository, path, content: bytes })),
      ...before
        .filter(({ path }) => !byPath(after, path))
        .map(({ path }) => ({ repository, path, removed: true as const })),
    ];
  });
}

async function reindex(
  engine: Engine,
  { repositories }: Corpus,
  symbols: "after" | "skip",
): Promise<void> {
  for (const { name } of await engine.repositories()) await engine.remove(name);
  await engine.index(repositories.map(sourceOf), { symbols });
}

/** Numbers of repositories differ from engine to engine. */
const plainFile = (file: FileResult) => ({ ...file, repositoryId: 0 });

const independent = ({ files, stats, isSearchExhaustive, repositoryInfo }: SearchResponse) => ({
  files: files.map(plainFile),
  fileCount: stats.fileCount,
  totalMatchCount: stats.totalMatchCount,
  actualMatchCount: stats.actualMatchCount,
  work: [stats.filesConsidered, stats.filesLoaded, stats.regexpsConsidered],
  isSearchExhaustive,
  repositories: repositoryInfo.map(({ name }) => name),
});

async function streamed(engine: Engine, ...asked: Parameters<Engine["stream"]>) {
  const files: FileResult[] = [];
  for await (const event of engine.stream(...asked)) {
    if (event.type === "chunk") files.push(...event.files);
    else {
      const { totalMatchCount, fileCount } = event.accumulatedStats;
      const found = files.map(plainFile).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      return { found, totalMatchCount, fileCount };
    }
  }
  return expect.fail("a stream without an end");
}

const keyOf = (file: Pick<FileResult, "repository" | "fileName" | "branches">) => fileKey(file);

async function viewerOf(engine: Engine, names: readonly string[] | undefined) {
  if (!names) return {};
  const all = await engine.repositories();
  const ids = all.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  return { viewer: { repositoryIds: new Set(ids) } };
}

/** Expects equal answers. With `symbols: "skip"`, both lack the symbols of all indexed files. */
export async function asIfIndexed({
  workers,
  states,
  symbols,
  layout = LAYOUT,
}: {
  readonly workers: number;
  readonly states: number;
  readonly symbols: "after" | "skip";
  readonly layout?: Layout;
}): Promise<void> {
  const engine = await openEngine({ workers, contexts, internals: { layout } });
  const twin = await openEngine({ workers: 0, contexts, internals: { layout } });
  const corpus = corpora({ pageBytes: layout.pageBytes }).map(withDefinitions);
  const cases = fc
    .tuple(corpus, corpus)
    .map(([base, target]) => ({ base, target: replaced(base, target) }))
    .chain(({ base, target }) =>
      fc.record({
        base: fc.constant(base),
        target: fc.constant(target),
        asked: fc
          .boolean()
          .chain((regex) => searches(target, 8, { regex, names: ["parse", "foo", "bar", "Oo"] })),
      }),
    );
  const check = async ({
    base,
    target,
    asked,
  }: typeof cases extends fc.Arbitrary<infer T> ? T : never) => {
    await reindex(engine, base, symbols);
    await reindex(twin, target, symbols);
    const overlay = overlayOf(base, target);
    for (const { request, options } of asked) {
      // documents of hidden repositories are omitted, because they would be rejected as unknown
      const visible = options.viewer
        ? base.repositories.filter(({ id }) => options.viewer!.repositoryIds.has(id))
        : base.repositories;
      const names = options.viewer && visible.map(({ name }) => name);
      const own = overlay.filter(({ repository }) =>
        visible.some(({ name }) => name === repository),
      );
      const here: SearchOptions = { ...(await viewerOf(engine, names)), overlay: own };
      const there: SearchOptions = await viewerOf(twin, names);
      const answer = independent(await engine.search(request, here));
      expect(answer).toEqual(independent(await twin.search(request, there)));
      if (request.matches > 1e6)
        expect(await streamed(engine, request, here)).toEqual(await streamed(twin, request, there));
      const [{ query, suggestions, notIndexed }, expected] = [
        await engine.explain(request, here),
        await twin.explain(request, there),
      ];
      expect({ query, suggestions, notIndexed }).toEqual({
        query: expected.query,
        suggestions: expected.suggestions,
        notIndexed: expected.notIndexed,
      });
    }
    for (const { name, revisions } of target.repositories) {
      const root = { repository: name, path: "" };
      expect(await engine.list(root, { overlay })).toEqual(await twin.list(root));
      for (const { path } of [...revisions[0]!.files, { path: "gone" }]) {
        const file = { repository: name, path };
        expect(await engine.read(file, { overlay })).toEqual(await twin.read(file));
      }
    }
  };
  await fc.assert(fc.asyncProperty(cases, check), { numRuns: states * RUNS });
}
