/** Rows of expected results, written by hand, which test the oracle and the engine. */

import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { printRange } from "./compare.ts";
import type { Corpus, CorpusFile, CorpusRevision } from "./corpus.ts";

export const REGEX: Partial<SearchRequest> = { isRegexEnabled: true };
export const CASE: Partial<SearchRequest> = { isCaseSensitivityEnabled: true };

/** The path of the file in every row. */
export const PATH = "a.c";

export const bytesOf = (content: string | number[]): Uint8Array =>
  typeof content === "string" ? Buffer.from(content) : Uint8Array.from(content);

export type RangeRow = [
  query: string,
  content: string | number[],
  want: string,
  more?: Partial<SearchRequest>,
];

/** Returns the ranges in the content, or those in the name after `name`; "" if nothing is found. */
export function printRanges(file: Pick<FileResult, "chunks" | "fileName"> | undefined): string {
  if (file === undefined) return "";
  const content = file.chunks.flatMap((chunk) => chunk.matchRanges.map(printRange));
  const name = file.fileName.matchRanges.map(printRange);
  return [...content, ...(name.length > 0 ? ["name", ...name] : [])].join(" ");
}

export const RANGES: readonly RangeRow[] = [
  // literals
  ["a", "a", "0@1:1-1@1:2"],
  ["a", "b", ""],
  ["a", "", ""],
  ["aa", "aaaaa", "0@1:1-2@1:3 2@1:3-4@1:5"],
  ["b", "a\nb\n", "2@2:1-3@2:2"],
  ["FOO", "foo Foo", "0@1:1-3@1:4 4@1:5-7@1:8"],
  ["foo", "Foo foo", "4@1:5-7@1:8", CASE],
  ["é", "É", "0@1:1-2@1:2"],
  ["k", "\u212a", "0@1:1-3@1:2"],
  ["\u212a", "k", "0@1:1-1@1:2"],
  ["s", "ſ", "0@1:1-2@1:2"],
  ["σ", "ςΣ", "0@1:1-2@1:2 2@1:2-4@1:3"],
  ["ss", "ß", ""],
  ["i", "İ", ""],
  ["ß", "ẞ", "0@1:1-3@1:2"],
  ["a.b", "axb a.b", "4@1:5-7@1:8"],
  // ranges of several atoms are sorted, longer ones first; overlapping ones are dropped, and touching ones are kept
  ["ba aa", "baaa", "0@1:1-2@1:3"],
  ["a ab", "ab", "0@1:1-2@1:3"],
  ["a b", "ab", "0@1:1-1@1:2 1@1:2-2@1:3"],
  ["b a", "ab", "0@1:1-1@1:2 1@1:2-2@1:3"],
  ["a a", "a", "0@1:1-1@1:2"],
  ["abc cd de", "abcde", "0@1:1-3@1:4 3@1:4-5@1:6"],
  // branches that hold
  ["(a -(b)) or c", "a b c", "4@1:5-5@1:6"],
  ["(a -(b)) or c", "a c", "0@1:1-1@1:2 2@1:3-3@1:4"],
  ["a or b", "b", "0@1:1-1@1:2"],
  ["a b", "a", ""],
  ["a -(b)", "a", "0@1:1-1@1:2"],
  ["a -(b)", "ab", ""],
  ["-(-(a b))", "a b", "0@1:1-1@1:2 2@1:3-3@1:4"],
  ["-(-content:a)", "a b", "0@1:1-1@1:2"],
  ["-(-(a) b)", "a b", "name 0@1:1-3@1:4"],
  ['"" or a', "a", "0@1:1-1@1:2"],
  ["-(a or b) c", "c", "0@1:1-1@1:2"],
  // files by filters alone
  ['""', "a", "name 0@1:1-3@1:4"],
  ['""', "", "name 0@1:1-3@1:4"],
  ["-(x)", "a", "name 0@1:1-3@1:4"],
  ["()", "a", ""],
  ["lang:c", "a", ""],
  // names
  ["file:a", "a", "name 0@1:1-1@1:2"],
  ["file:A", "a", "name 0@1:1-1@1:2"],
  ["file:A", "a", "", CASE],
  ["file:\\.c$ a", "a", "0@1:1-1@1:2 name 1@1:2-3@1:4"],
  ["file:a file:[.c]+", "x", "name 0@1:1-1@1:2 1@1:2-3@1:4"],
  ["-file:x a", "a", "0@1:1-1@1:2"],
  ["c", "a", ""],
  ["repo:r a", "a", "0@1:1-1@1:2"],
  ["repo:R", "a", "", CASE],
  // expressions
  ["x*", "xx", "0@1:1-2@1:3", REGEX],
  ["x*", "axx", "0@1:1-0@1:1 1@1:2-3@1:4", REGEX],
  ["x*", "é", "0@1:1-0@1:1 2@1:2-2@1:2", REGEX],
  ["^", "a\nb", "0@1:1-0@1:1 2@2:1-2@2:1", REGEX],
  ["^", "a\n", "0@1:1-0@1:1 2@2:1-2@2:1", REGEX],
  ["$", "a\n", "1@1:2-1@1:2 2@2:1-2@2:1", REGEX],
  ["^", "", "0@1:1-0@1:1", REGEX],
  ["a.b", "a\nb", "", REGEX],
  ["a[^x]b", "a\nb", "0@1:1-3@2:2", REGEX],
  ["a\\sb", "a\nb", "0@1:1-3@2:2", REGEX],
  ["a\\n", "a\nb", "0@1:1-2@1:3", REGEX],
  ["a|ab", "ab", "0@1:1-1@1:2", REGEX],
  ["foo", "FOO", "0@1:1-3@1:4", REGEX],
  ["foo", "FOO", "", { ...REGEX, ...CASE }],
  ["[k]", "\u212a", "0@1:1-3@1:2", REGEX],
  ["^ a", "a", "0@1:1-1@1:2", REGEX],
  ["-content:b a", "a", "0@1:1-1@1:2", REGEX],
  ["()", "a", "name 0@1:1-3@1:4", REGEX],
  ["(?:)", "a", "0@1:1-0@1:1 1@1:2-1@1:2", REGEX],
  [".", [0xff, 0x61], "1@1:2-2@1:3", REGEX],
  ["\\C", [0xff], "0@1:1-1@1:2", REGEX],
  // columns
  ["b", "a\tb", "2@1:3-3@1:4"],
  ["b", "é\u{1f600}b", "6@1:3-7@1:4"],
  ["b", "\ufeffb", "3@1:2-4@1:3"],
  ["b", "a\r\nb\r\n", "3@2:1-4@2:2"],
  ["\r", "a\r\nb", "1@1:2-2@1:3"],
  ["b", [0xff, 0x62], "1@1:2-2@1:3"],
  ["b", [0xe2, 0x82, 0x62], "2@1:2-3@1:3"],
  ["b", [0xc3, 0xc3, 0x0a, 0xf0, 0x9f, 0x62], "5@2:2-6@2:3"],
  ["\ufffd", [0xff], ""],
  ["é", [0xe2, 0xc3, 0xa9], "1@1:2-3@1:3"],
];

const long = "x".repeat(5000);

/** Returns each chunk as offset@line:column and its content, or the content's length if it is long. */
export function printChunks({ chunks }: Pick<FileResult, "chunks">): string[] {
  return chunks.map(({ contentStart, content, matchRanges }) => {
    const { byteOffset, lineNumber, column } = contentStart;
    const shown = content.length > 60 ? `<${content.length}>` : content;
    return `${byteOffset}@${lineNumber}:${column} ${shown} ${matchRanges.length}`;
  });
}

export type ChunkRow = [query: string, content: string, contextLines: number, want: string[]];

export const CHUNKS: readonly ChunkRow[] = [
  ["a", "a", 0, ["0@1:1 a 1"]],
  ["a", "a\n", 0, ["0@1:1 a\n 1"]],
  ["a", "1\n2\na\n4\n5\n", 1, ["2@2:1 2\na\n4\n 1"]],
  ["a", "1\na", 9, ["0@1:1 1\na 1"]],
  ["a", "a\r\nb\r\n", 0, ["0@1:1 a\r\n 1"]],
  ["a", "a a\na\n", 0, ["0@1:1 a a\n 2", "4@2:1 a\n 1"]],
  ["a", "a\na\n", 0, ["0@1:1 a\n 1", "2@2:1 a\n 1"]],
  ["a", "a\na\n", 1, ["0@1:1 a\na\n 2"]],
  // contexts: lines 1-2 and 3-4 touch and stay apart, lines 1-2 and 2-3 share one
  ["a", "a\n2\n3\na\n", 1, ["0@1:1 a\n2\n 1", "4@3:1 3\na\n 1"]],
  ["a", "a\n2\na\n", 1, ["0@1:1 a\n2\na\n 2"]],
  ["a", "a\n2\n3\n4\n5\na", 2, ["0@1:1 a\n2\n3\n 1", "6@4:1 4\n5\na 1"]],
  ["a", "a\n2\n3\n4\na", 2, ["0@1:1 a\n2\n3\n4\na 2"]],
  ["a", `${"x".repeat(4095)}a`, 0, ["0@1:1 <4096> 1"]],
  ["a", `${"x".repeat(4095)}a\n`, 0, ["0@1:1 <4097> 1"]],
  ["a", `${"x".repeat(4096)}a`, 0, ["3840@1:3841 <257> 1"]],
  ["a", `a${long}`, 0, ["0@1:1 <257> 1"]],
  ["a", `${long}a${long}`, 0, ["4744@1:4745 <513> 1"]],
  ["a", `${long}aa${long}`, 0, ["4744@1:4745 <514> 2"]],
  // windows of 256 bytes overlap with 511 bytes between the matches, and touch with 512
  ["a", `${long}a${"y".repeat(511)}a${long}`, 0, ["4744@1:4745 <1025> 2"]],
  ["a", `${long}a${"y".repeat(512)}a${long}`, 0, ["4744@1:4745 <513> 1", "5257@1:5258 <513> 1"]],
  // a window is extended to whole characters
  ["a", `${"é".repeat(2500)}xa${long}`, 0, ["4744@1:2373 <386> 1"]],
  ["a", `${"é".repeat(2500)}a${long}`, 0, ["4744@1:2373 <385> 1"]],
  ["a", `${long}a${"é".repeat(2500)}`, 0, ["4744@1:4745 <385> 1"]],
  ["a", `${long}ax${"é".repeat(2500)}`, 0, ["4744@1:4745 <386> 1"]],
  // context stops at a window that does not reach its line's end
  ["a", `1\n${long}a\n3\n4\n`, 1, [`4746@2:4745 <260> 1`]],
  ["a", `1\n2\na${long}\n4\n`, 1, ["2@2:1 <259> 1"]],
  ["a", `${long}\na\n${long}\n`, 1, ["4745@1:4746 <514> 1"]],
  ["a", `1\n${long}\na\n`, 2, ["4747@2:4746 <258> 1"]],
  ["a", `a\n${long}a`, 1, ["0@1:1 <258> 1", "4746@2:4745 <257> 1"]],
  ["a", `a\n${long}\na\n`, 1, ["0@1:1 <258> 1", "4747@2:4746 <258> 1"]],
];

export const fileOf = (
  path: string,
  content: string | number[],
  more: Partial<CorpusFile> = {},
): CorpusFile => ({
  path,
  bytes: bytesOf(content),
  ...more,
});

const main: CorpusRevision = {
  name: "main",
  commit: "1".repeat(40),
  files: [fileOf("same", "foo"), fileOf("differs", "foo 1"), fileOf("old", "foo")],
};
const dev: CorpusRevision = {
  name: "dev",
  commit: "2".repeat(40),
  files: [fileOf("same", "foo"), fileOf("differs", "foo 2"), fileOf("new", "foo")],
};
/** Two revisions of one repository, and files that are not searched in another. */
export const CORPUS: Corpus = {
  repositories: [
    { id: 1, name: "acme/api", metadata: { public: true }, revisions: [main, dev] },
    {
      id: 2,
      name: "acme/web",
      metadata: { archived: true, fork: true },
      revisions: [
        {
          name: "HEAD",
          files: [
            fileOf("big.bin", "foo", { skipped: "too-large" }),
            fileOf("link", "foo", { skipped: "symlink" }),
            fileOf("x.ts", "foo(bar)", {
              language: "TypeScript",
              symbols: [
                { name: "foo", start: 0, end: 3, kind: "function" },
                {
                  name: "bar",
                  start: 4,
                  end: 7,
                  kind: "variable",
                  parent: { symbol: "foo", kind: "function" },
                },
              ],
            }),
          ],
        },
      ],
    },
  ],
};

/** Returns the sets of `context:` in FILES. */
export const SETS = (name: string): string[] | undefined => ({ web: ["acme/web"], none: [] })[name];

/** Returns each file as path[branches]. */
export const printFiles = (files: readonly Pick<FileResult, "fileName" | "branches">[]): string =>
  files.map(({ fileName, branches = [] }) => `${fileName.text}[${branches.join()}]`).join(" ");

/** Queries, and the files of CORPUS that they find, by repository, path and branches. */
export const FILES: readonly [query: string, want: string][] = [
  ["foo", "differs[main] old[main] same[main] x.ts[HEAD]"],
  ["foo rev:HEAD", "differs[main] old[main] same[main] x.ts[HEAD]"],
  ["foo rev:*", "differs[dev] differs[main] new[dev] old[main] same[main,dev] x.ts[HEAD]"],
  ["foo rev:dev", "differs[dev] new[dev] same[dev]"],
  ["foo rev:de rev:ma", "same[main,dev]"],
  ["foo rev:main or rev:dev", "differs[dev] differs[main] new[dev] old[main] same[main,dev]"],
  [`rev:${"2".repeat(40)}`, "differs[dev] new[dev] same[dev]"],
  ["rev:222", ""],
  ["repo:api -rev:dev", "differs[main] old[main]"],
  ["foo or rev:dev", "differs[dev] differs[main] new[dev] old[main] same[dev] x.ts[HEAD]"],
  ["repo:web", "big.bin[HEAD] x.ts[HEAD]"],
  ["file:big", "big.bin[HEAD]"],
  ["file:big foo", ""],
  ["file:big -(foo)", "big.bin[HEAD]"],
  ["file:link", ""],
  ["lang:ts", "x.ts[HEAD]"],
  ["lang:TYPESCRIPT", "x.ts[HEAD]"],
  ["lang:go", ""],
  ["lang:nothing", ""],
  ["reposet:acme/web foo", "x.ts[HEAD]"],
  ["reposet:acme foo", ""],
  ["reposet:acme/web,acme/api foo file:x|old", "old[main] x.ts[HEAD]"],
  ["archived:no file:.", "differs[main] old[main] same[main]"],
  ["archived:only foo", "x.ts[HEAD]"],
  ["archived:yes file:x.ts", "x.ts[HEAD]"],
  ["fork:only foo", "x.ts[HEAD]"],
  ["fork:no file:old", "old[main]"],
  ["visibility:private foo", "x.ts[HEAD]"],
  ["visibility:public file:old|x", "old[main]"],
  ["visibility:any file:old|x", "old[main] x.ts[HEAD]"],
  ["context:web foo", "x.ts[HEAD]"],
  ["context:none foo", ""],
  ["sym:^bar$", "x.ts[HEAD]"],
  ["sym:^ar", ""],
  ["sym:o.*b", ""],
];
