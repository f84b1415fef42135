import { expect, test, vi } from "vitest";
import {
  documents,
  type Document,
  type RemovedDocument,
} from "../../src/ingest/sources/documents.ts";
import { read, readLines } from "./listing.ts";

const indexed = { revisions: [{ name: "HEAD" }] };
const files = (...items: unknown[]) => documents({ name: "r", files: items as Document[] });
const changes = (...items: unknown[]) => documents({ name: "r", changes: items as Document[] });
const aborted = AbortSignal.abort();

test("accepts content of every form", async () => {
  const source = files(
    { path: "a", content: "é" },
    { path: "b", content: new TextEncoder().encode("bytes") },
    { path: "c", content: () => "function" },
    { path: "d", content: async () => Buffer.from("promise") },
    { path: "e", content: "\ud800" },
    { path: "f", content: "" },
  );
  expect(await readLines(source)).toEqual([
    'a @0 "é"',
    'b @0 "bytes"',
    'c @0 "function"',
    'd @0 "promise"',
    'e @0 "\ufffd"',
    'f @0 ""',
  ]);
});

test("invalid paths and content that is too large are listed as skipped", async () => {
  const source = files(
    { path: "../a", content: "x" },
    { path: "/etc/passwd", content: "x" },
    { path: "a\0b", content: () => "x" },
    { path: "a\\..\\b", content: "x" },
    { path: "large.txt", content: "é".repeat(6) },
    { path: "large.bin", content: new Uint8Array(11) },
    { path: "fits", content: "0123456789" },
  );
  expect(await readLines(source, { maxFileSize: 10 })).toEqual([
    "../a @0 invalid-path",
    "/etc/passwd @0 invalid-path",
    "a\ufffdb @0 invalid-path",
    'a\\..\\b @0 "x"',
    "large.txt @0 too-large",
    "large.bin @0 too-large",
    'fits @0 "0123456789"',
  ]);
});

test("listing calls no function, and passes on versions", async () => {
  const content = vi.fn(() => "x");
  const { entries, revisions } = await read(
    files({ path: "a", content, version: "7" }, { path: "b", content }),
  );
  expect(revisions).toEqual([{ name: "HEAD" }]);
  expect(content).not.toHaveBeenCalled();
  expect(entries).toMatchObject([{ version: "7" }, { path: "b" }]);
  expect(entries[1]).not.toHaveProperty("version");
});

test("changes are applied to the indexed files, and the last entry of a path counts", async () => {
  const log = [
    { path: "a", content: "1" },
    { path: "b", content: "1" },
    { path: "b", removed: true },
    { path: "c", removed: true },
    { path: "a", content: "2" },
    { path: "c", content: "3", removed: false },
    { path: "../d", removed: true },
  ];
  expect((await read(changes(...log), { indexed })).revisions).toEqual([
    { name: "HEAD", base: "HEAD" },
  ]);
  expect(await readLines(changes(...log), { indexed })).toEqual([
    'a @0 "2"',
    "b @0 removed",
    'c @0 "3"',
    "../d @0 removed",
  ]);
});

test("changes of a repository that is not indexed are its whole content", async () => {
  const source = changes({ path: "a", content: "1" }, { path: "b", removed: true });
  const other = { revisions: [{ name: "main", commit: "c" }] };
  expect((await read(source, { indexed: other })).revisions).toEqual([{ name: "HEAD" }]);
  expect(await readLines(source)).toEqual(['a @0 "1"']);
});

test("files are the whole content, whatever is indexed", async () => {
  expect((await read(files(), { indexed })).revisions).toEqual([{ name: "HEAD" }]);
});

test.each<[string, unknown[], RegExp]>([
  ["not an object", ["a"], /files\[0\] must be an object with path and content, not "a"/],
  ["null", [null], /files\[0\] must be an object/],
  ["no path", [{ content: "" }], /files\[0\].path must be a string/],
  [
    "no content",
    [{ path: "a", content: "" }, { path: "b" }],
    /files\[1\].content must be .* not undefined/,
  ],
  ["number", [{ path: "a", content: 1 }], /files\[0\].content must be/],
  [
    "version",
    [{ path: "a", content: "", version: 1 }],
    /files\[0\].version must be a string, not 1/,
  ],
  [
    "removal",
    [{ path: "a", removed: true }],
    /files\[0\] is a removal, which is allowed only in changes/,
  ],
  [
    "removed",
    [{ path: "a", content: "", removed: "yes" }],
    /files\[0\].removed must be true, not "yes"/,
  ],
  ["both", [{ path: "a", content: "", removed: true }], /files\[0\] has both removed and content/],
  [
    "twice",
    [
      { path: "a", content: "" },
      { path: "b", content: "" },
      { path: "a", content: "" },
    ],
    /files\[2\] has the path of files\[0\], "a"/,
  ],
])("files: %s is rejected", async (_, items, message) => {
  const error: unknown = await read(files(...items)).catch((e: unknown) => e);
  expect(error).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringMatching(message) });
});

test("an error names the position in changes", async () => {
  const error: unknown = await read(changes({ path: "a", removed: true }, 5)).catch(
    (e: unknown) => e,
  );
  expect(error).toMatchObject({ message: expect.stringMatching(/changes\[1\] must be an object/) });
});

test("a function that returns something else is rejected when it is called", async () => {
  const { entries } = await read(files({ path: "a", content: () => 5 }));
  const [entry] = entries;
  if (entry?.kind !== "file" || !("read" in entry.content)) throw new Error("not a file");
  await expect(entry.content.read()).rejects.toThrow(
    /files\[0\].content\(\) must return a string or bytes, not 5/,
  );
});

test("a generator can be read once, and an array any number of times", async () => {
  function* generate(): Generator<Document | RemovedDocument> {
    yield { path: "a", content: "1" };
  }
  async function* generateLater() {
    yield* generate();
  }
  for (const make of [generate, generateLater]) {
    const source = documents({ name: "r", changes: make() });
    expect(await readLines(source)).toEqual(['a @0 "1"']);
    await expect(read(source)).rejects.toThrow(/has been read already; make a new source/);
  }
  const source = files({ path: "a", content: "1" });
  expect(await readLines(source)).toEqual(await readLines(source));
});

test("many documents come in batches, and the event loop turns meanwhile", async () => {
  const many = Array.from({ length: 60_000 }, (_, i) => ({ path: `f/${i}`, content: "x" }));
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const { entries } = await read(files(...many));
  clearInterval(timer);
  expect(entries.length).toBe(60_000);
  expect(turns).toBeGreaterThan(3);
});

test.each(["files", "changes"])("an aborted listing of %s rejects with ABORTED", async (field) => {
  const endless = function* () {
    for (let i = 0; ; i++) yield { path: `${i}`, content: "" };
  };
  const source =
    field === "files"
      ? documents({ name: "r", files: endless() })
      : documents({ name: "r", changes: endless() });
  await expect(read(source, { signal: aborted })).rejects.toMatchObject({ code: "ABORTED" });
});
