/** Random repositories with shared contents, several revisions, skipped files, and both sides of every filter. */

import fc from "fast-check";
import { documentBytes } from "./documents.ts";
import type { Corpus, CorpusFile, CorpusRepository, CorpusRevision } from "./corpus.ts";

export const REPOSITORY_NAMES = ["acme/api", "acme/web", "Acme/Tools", "other"];

/** Paths, each with the language that follows from the name alone. */
export const PATHS: readonly (readonly [path: string, language: string])[] = [
  ["main.go", "Go"],
  ["cmd/foo/main.go", "Go"],
  ["cmd/foo_test.go", "Go"],
  ["lib/Foo.java", "Java"],
  ["lib/bar.py", "Python"],
  ["Σ/é ſ.py", "Python"],
  ["no-language", ""],
  ["a.b/(a)", ""],
];

const REVISION_NAMES = ["main", "dev", "release/1.0", "v1"];

/** Content with a NUL among its first bytes is skipped as binary. */
const binary = fc.constantFrom("foo\0bar", "\0").map((text) => Buffer.from(text));

export interface CorpusShape {
  /** The number of revisions; 1 to 3 by default. More than one needs a source with several revisions. */
  readonly revisions?: number;
  /**
   * Whether some files are larger than a page. Default true. An expression that matches everywhere takes a second for
   * such a file.
   */
  readonly pages?: boolean;
  /** The size of a page in the index. Default PAGE_BYTES. */
  readonly pageBytes?: number | undefined;
}

export function corpora({
  revisions = 3,
  pages = true,
  pageBytes,
}: CorpusShape = {}): fc.Arbitrary<Corpus> {
  return fc
    .array(documentBytes({ pages, pageBytes }), { minLength: 1, maxLength: 5 })
    .chain((contents) =>
      fc
        .uniqueArray(fc.constantFrom(...REPOSITORY_NAMES), { minLength: 1, maxLength: 3 })
        .chain((names) =>
          fc.tuple(...names.map((name, i) => repository(i + 1, name, contents, revisions))),
        ),
    )
    .map((repositories) => ({ repositories }));
}

function repository(
  id: number,
  name: string,
  contents: readonly Uint8Array[],
  most: number,
): fc.Arbitrary<CorpusRepository> {
  const flag = fc.boolean();
  const metadata = fc.record({ archived: flag, fork: flag, public: flag });
  const revisions = fc
    .uniqueArray(fc.constantFrom(...REVISION_NAMES), { minLength: 1, maxLength: most })
    .chain((names) =>
      fc.tuple(...names.map((each) => revision(most === 1 ? "HEAD" : each, contents))),
    )
    .chain(([first, ...others]) =>
      fc.tuple(fc.constant(first!), ...others.map((each) => keepSome(first!, each))),
    );
  return fc.record({ id: fc.constant(id), name: fc.constant(name), metadata, revisions });
}

/** Returns a revision that shares many files with the first. */
function keepSome(first: CorpusRevision, other: CorpusRevision): fc.Arbitrary<CorpusRevision> {
  return fc.subarray([...first.files]).map((kept) => {
    const paths = new Set(kept.map(({ path }) => path));
    return { ...other, files: [...kept, ...other.files.filter(({ path }) => !paths.has(path))] };
  });
}

function revision(name: string, contents: readonly Uint8Array[]): fc.Arbitrary<CorpusRevision> {
  const commit = Buffer.from(name).toString("hex").padEnd(40, "0").slice(0, 40);
  return fc
    .uniqueArray(fc.constantFrom(...PATHS), { maxLength: 5 })
    .chain((paths) => fc.tuple(...paths.map(([path, language]) => file(path, language, contents))))
    .map((files) => (name === "HEAD" ? { name, files } : { name, commit, files }));
}

function file(
  path: string,
  language: string,
  contents: readonly Uint8Array[],
): fc.Arbitrary<CorpusFile> {
  const bytes = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...contents) },
    { weight: 1, arbitrary: binary },
  );
  return bytes.map((content) =>
    content.subarray(0, 8000).includes(0)
      ? { path, bytes: content, skipped: "binary" }
      : { path, bytes: content, ...(language === "" ? {} : { language }) },
  );
}

/** Returns the same corpus with a symbol for every word `parse`, `foo` and `bar`, alternately nested. */
export function withSymbols(corpus: Corpus): Corpus {
  return mapFiles(corpus, (each) =>
    each.skipped === undefined ? { ...each, symbols: symbolsIn(each.bytes) } : each,
  );
}

function mapFiles(corpus: Corpus, change: (file: CorpusFile) => CorpusFile): Corpus {
  return {
    repositories: corpus.repositories.map((each) => ({
      ...each,
      revisions: each.revisions.map((rev) => ({ ...rev, files: rev.files.map(change) })),
    })),
  };
}

/**
 * Adds real definitions, for engines that extract symbols by themselves. Which definitions are added depends on the
 * content before them.
 */
export function withDefinitions(corpus: Corpus): Corpus {
  return mapFiles(corpus, (each) => {
    const define = DEFINITIONS[each.language ?? ""];
    if (define === undefined || each.skipped !== undefined) return each;
    const names = ["parse", "foo", "bar", "nothing", "Oo"].slice(each.bytes.length % 4);
    const text = `\n${names.map(define).join("\n")}\n`;
    return { ...each, bytes: Buffer.concat([each.bytes, Buffer.from(text)]) };
  });
}

const DEFINITIONS: Readonly<Record<string, (name: string) => string>> = {
  Go: (name) => `func ${name}() {\n\tfoo()\n}`,
  Java: (name) => `class ${name} { void ${name}() {} }`,
  Python: (name) => `def ${name}():\n    return bar`,
};

function symbolsIn(bytes: Uint8Array): NonNullable<CorpusFile["symbols"]> {
  const found = [
    ...Buffer.from(bytes)
      .toString("latin1")
      .matchAll(/\b(parse|foo|bar)\b/g),
  ];
  return found.map(({ index, 0: name }, i) => ({
    name,
    start: index,
    end: index + name.length,
    kind: i % 2 === 0 ? "class" : "method",
    ...(i % 2 === 0 ? {} : { parent: { symbol: found[i - 1]![0], kind: "class" as const } }),
  }));
}
