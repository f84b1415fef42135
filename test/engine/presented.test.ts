/** What a result contains besides ranges: pages, branches, language and text of its file and repository. */

import { expect, test } from "vitest";
import type { OpenOptions } from "../../src/engine.ts";
import { documents, type RepositoryMetadata } from "../../src/index.ts";
import { CODE_HOST_TYPES } from "../../src/store/format/records.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import { externalWebUrl } from "../../src/search/caller/present.ts";
import { openEngine } from "./opened.ts";

const PATH = "a b/x#.ts";

/** Makes an engine with one repository for each row. Each repository has one file in two revisions. */
async function engineOf(rows: readonly RepositoryMetadata[], options: OpenOptions = {}) {
  const engine = await openEngine(options);
  const files = [{ path: PATH, bytes: Buffer.from("needle\n"), language: "TypeScript" }];
  const revisions = ["release/1 0", "dev"].map((name) => ({ name, files }));
  const sources = rows.map((metadata, i) =>
    sourceOf({ id: i, name: `team/r ${i}`, metadata, revisions }),
  );
  await engine.index(sources, { symbols: "skip" });
  return engine;
}

test("returns every code host's page of a file, in the revision in which it was found", async () => {
  const webUrl = "https://host/u";
  const engine = await engineOf(
    CODE_HOST_TYPES.map((codeHostType) => ({ codeHostType, webUrl, displayName: codeHostType })),
  );
  for (const [query, revision, branches] of [
    ["needle", "release/1 0", ["release/1 0"]],
    ["needle rev:dev", "dev", ["dev"]],
    ["needle rev:*", "release/1 0", ["release/1 0", "dev"]],
  ] as const) {
    const { files, repositoryInfo } = await engine.search({ query, matches: 100 });
    expect(files.length).toBe(CODE_HOST_TYPES.length);
    for (const file of files) {
      const codeHostType = CODE_HOST_TYPES[Number(file.repository.split(" ")[1])]!;
      const record = { metadata: { codeHostType, webUrl } } as Parameters<typeof externalWebUrl>[0];
      expect(file.externalWebUrl, codeHostType).toBe(externalWebUrl(record, PATH, revision));
      const [where, at] = [encodeURI(file.repository), encodeURI(revision)];
      expect(file.webUrl).toBe(`/browse/${where}@${at}/-/blob/a%20b/x%23.ts`);
      expect(file).toMatchObject({ branches, language: "TypeScript" });
    }
    const { id, ...first } = repositoryInfo[0]!;
    expect(first).toEqual({
      codeHostType: "github",
      displayName: "github",
      name: "team/r 0",
      webUrl,
    });
    expect(repositoryInfo.map((info) => info.id)).toEqual(CODE_HOST_TYPES.map((_, i) => id + i));
    expect(repositoryInfo.map(({ codeHostType }) => codeHostType)).toEqual(CODE_HOST_TYPES);
  }
});

test("returns the host's own page of a repository without metadata", async () => {
  const webUrl: OpenOptions["webUrl"] = ({ repository, repositoryId, path, revision }) =>
    [repository, repositoryId, path, revision].join("|");
  const engine = await engineOf([{}], { webUrl });
  const { files, repositoryInfo } = await engine.search({ query: "needle", matches: 1 });
  const { repositoryId } = files[0]!;
  expect(files[0]!.webUrl).toBe(`team/r 0|${repositoryId}|${PATH}|release/1 0`);
  expect(files[0]).not.toHaveProperty("externalWebUrl");
  expect(repositoryInfo).toEqual([
    { id: repositoryId, codeHostType: "genericGitHost", name: "team/r 0" },
  ]);
});

test("repositories are described only if one of their files is returned", async () => {
  const engine = await engineOf([{}, {}, {}]);
  for (const [matches, told] of [
    [0, 0],
    [2, 2],
    [9, 3],
  ] as const) {
    const { repositoryInfo, stats } = await engine.search({ query: "needle", matches });
    expect([repositoryInfo.length, stats.fileCount, stats.totalMatchCount]).toEqual([told, 3, 3]);
  }
});

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");

test.each<[what: string, content: Buffer, shown: string, at: number[]]>([
  ["UTF-16 is searched as UTF-8, without its mark", utf16("é needle\n"), "é needle\n", [3, 3]],
  ["UTF-8 keeps its mark", Buffer.from("\ufeffé needle\n"), "\ufeffé needle\n", [6, 4]],
])("%s", async (_, content, shown, [byteOffset, column]) => {
  const engine = await openEngine();
  await engine.index(documents({ name: "r", files: [{ path: "a.txt", content }] }));
  const { files } = await engine.search({ query: "needle", matches: 1, whole: true });
  const [file] = files;
  expect(file).toMatchObject({ branches: ["HEAD"], content: shown });
  expect(file!.chunks[0]!.content).toBe(shown);
  expect(file!.chunks[0]!.matchRanges[0]!.start).toEqual({ byteOffset, lineNumber: 1, column });
});
