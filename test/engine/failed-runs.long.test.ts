/** An index run that fails or is aborted half-way leaves what was published. The next run works, and cleans up. */

import { expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { documents, type Document } from "../../src/ingest/sources/documents.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { openEngine, temporaryFolder } from "./opened.ts";
import { unaccounted } from "./stored-keys.ts";

const before = documents({ name: "kept", files: [{ path: "a", content: "before" }] });

type Break = (controller: AbortController) => Parameters<typeof documents>[0];

async function* listed(...files: (Document | (() => void))[]): AsyncGenerator<Document> {
  for (const file of files) {
    if (typeof file === "function") file();
    else yield file;
  }
}

const first = { path: "1", content: "half of it" };
const second = { path: "2", content: "the other" };
const fail = () => {
  throw new Error("the host's own failure");
};

const BREAKS: [what: string, failing: Break, says: RegExp][] = [
  ["a listing that throws", () => ({ name: "new", files: listed(first, fail) }), /own failure/],
  [
    "content that throws",
    () => ({ name: "new", files: [first, { path: "2", content: fail }] }),
    /own failure/,
  ],
  [
    "content that rejects",
    () => ({ name: "new", files: [first, { path: "2", content: async () => fail() }] }),
    /own failure/,
  ],
  [
    "an abort while listing",
    (controller) => ({ name: "new", files: listed(first, () => controller.abort(), second) }),
    /abort/,
  ],
];

test.each(BREAKS.flatMap((row) => [0, 2].map((workers) => [workers, ...row] as const)))(
  "%i threads, %s",
  async (workers, _, failing, says) => {
    const path = temporaryFolder();
    const engine = await openEngine({ workers }, path);
    await engine.index(before);
    const controller = new AbortController();
    const source = documents(failing(controller));
    const other = documents({ name: "kept", files: [{ path: "a", content: "after" }] });
    const run = engine.index([other, source], { signal: controller.signal });
    await expect(run).rejects.toThrow(says);
    if (controller.signal.aborted) await expect(run).rejects.toBeInstanceOf(QuernError);
    const names = (await engine.repositories()).map(({ name }) => name);
    expect(names).toEqual(["kept"]);
    const { stats } = await engine.search({ query: "before or after", matches: 0 });
    expect(stats.fileCount).toBe(1);
    expect((await engine.search({ query: "half", matches: 0 })).stats.fileCount).toBe(0);
    await engine.index(documents({ name: "new", files: [first] }));
    expect((await engine.search({ query: "half", matches: 0 })).stats.fileCount).toBe(1);
    expect((await engine.check()).problems).toEqual([]);
    await engine.close();
    const environment = openEnvironment(path, { readOnly: true });
    expect(unaccounted(environment)).toEqual([]);
    await environment.close();
  },
);
