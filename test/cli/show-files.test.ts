import { expect, test } from "vitest";
import { showFile, showForEditor } from "../../src/cli/show-files.ts";
import { styleFor, visible } from "../../src/cli/style.ts";
import type { Chunk, FileResult, Range } from "../../src/search/messages/response.ts";

const same = (text: string): string => text;
const STYLE = {
  heading: same,
  match: (text: string) => `«${text}»`,
  line: same,
  quiet: same,
  foreign: visible,
};

/** Parses "line:column-line:column", which is 1-based, with an exclusive end. */
function range(place: string): Range {
  const [from = "", to = ""] = place.split("-");
  const position = (text: string) => {
    const [lineNumber = 0, column = 0] = text.split(":").map(Number);
    return { byteOffset: 0, lineNumber, column };
  };
  return { start: position(from), end: position(to) };
}

const chunk = (start: string, content: string, ...places: string[]): Chunk => ({
  content,
  contentStart: range(`${start}-${start}`).start,
  matchRanges: places.map(range),
});

const file = (chunks: Chunk[], more: Partial<FileResult> = {}): FileResult => ({
  fileName: { text: "src/a.ts", matchRanges: [] },
  webUrl: "",
  repository: "shop",
  repositoryId: 1,
  language: "TypeScript",
  chunks,
  ...more,
});

const show = (result: FileResult, revisions = false): string =>
  showFile(result, { style: STYLE, revisions }).join("\n");

test.each<[string, Chunk[], string]>([
  ["one match", [chunk("3:1", "a foo b\n", "3:3-3:6")], "3:a «foo» b"],
  ["no last newline", [chunk("3:1", "foo", "3:1-3:4")], "3:«foo»"],
  ["touching matches", [chunk("1:1", "aab\n", "1:1-1:2", "1:2-1:3")], "1:«a»«a»b"],
  ["lines of context", [chunk("1:1", "x\nfoo\ny\n", "2:1-2:4")], "1-x\n2:«foo»\n3-y"],
  [
    "a match over several lines",
    [chunk("1:1", "ab\ncd\nef\n", "1:2-3:2")],
    "1:a«b»\n2:«cd»\n3:«e»f",
  ],
  ["a match with its newline", [chunk("1:1", "ab\ncd\n", "1:1-1:4")], "1:«ab»\n2-cd"],
  ["columns in code points", [chunk("1:1", "😀 é foo\n", "1:5-1:8")], "1:😀 é «foo»"],
  ["a window of a long line", [chunk("1:4001", "xxfooyy", "1:4003-1:4006")], "1:xx«foo»yy"],
  ["an empty match", [chunk("1:1", "ab\n", "1:2-1:2")], "1:a«»b"],
  ["an empty line", [chunk("1:1", "\n", "1:1-1:1")], "1:«»"],
  [
    "chunks apart",
    [chunk("1:1", "a\n", "1:1-1:2"), chunk("9:1", "a\n", "9:1-9:2")],
    "1:«a»\n--\n9:«a»",
  ],
  [
    "chunks that touch",
    [chunk("1:1", "a\n", "1:1-1:2"), chunk("2:1", "a\n", "2:1-2:2")],
    "1:«a»\n2:«a»",
  ],
  ["control characters", [chunk("1:1", "\x1b[2J\ta\r\n", "1:6-1:7")], "1:␛[2J\t«a»"],
])("shows %s", (_, chunks, lines) => {
  expect(show(file(chunks))).toBe(`shop:src/a.ts\n${lines}`);
});

test("a match in a path is marked, unless it is the whole path", () => {
  const named = (...places: string[]) =>
    show(file([], { fileName: { text: "src/a.ts", matchRanges: places.map(range) } }));
  expect(named("1:5-1:6")).toBe("shop:src/«a».ts");
  expect(named("1:1-1:9")).toBe("shop:src/a.ts");
});

test("revisions follow the path if they are requested", () => {
  const result = file([], { branches: ["main", "v1"] });
  expect(show(result, true)).toBe("shop:src/a.ts (main, v1)");
  expect(show(result)).toBe("shop:src/a.ts");
});

test.each<[before: number, after: number, lines: string]>([
  [0, 0, "3:«x»\n7:«x»"],
  [1, 0, "2-b\n3:«x»\n6-f\n7:«x»"],
  [0, 1, "3:«x»\n4-d\n7:«x»\n8-h"],
  [1, 2, "2-b\n3:«x»\n4-d\n5-e\n6-f\n7:«x»\n8-h\n9-i"],
])("shows %i lines before and %i after a match", (before, after, lines) => {
  const content = "a\nb\nx\nd\ne\nf\nx\nh\ni\n";
  const result = file([chunk("1:1", content, "3:1-3:2", "7:1-7:2")]);
  const shown = showFile(result, { style: STYLE, revisions: false, before, after });
  expect(
    shown
      .filter((line) => line !== "--")
      .slice(1)
      .join("\n"),
  ).toBe(lines);
});

test("lines that are not in order are separated", () => {
  const chunks = [chunk("9:1", "a\n", "9:1-9:2"), chunk("1:1", "a\n", "1:1-1:2")];
  expect(show(file(chunks))).toBe("shop:src/a.ts\n9:«a»\n--\n1:«a»");
});

test.each<[string, Chunk[], string[]]>([
  ["one match", [chunk("3:1", "a foo b\n", "3:3-3:6")], ["p:3:3:a foo b"]],
  ["two matches on a line", [chunk("3:1", "aa\n", "3:1-3:2", "3:2-3:3")], ["p:3:1:aa", "p:3:2:aa"]],
  ["columns in bytes", [chunk("1:1", "é foo\r\n", "1:3-1:6")], ["p:1:4:é foo"]],
  ["a window of a long line", [chunk("1:4001", "xxfoo", "1:4003-1:4006")], ["p:1:4003:xxfoo"]],
  ["a match below the first line", [chunk("4:9", "x\nfoo\n", "5:1-5:4")], ["p:5:1:foo"]],
  ["only the path", [], ["p:1:1:"]],
])("shows an editor %s", (_, chunks, lines) => {
  expect(showForEditor(file(chunks), "p", STYLE)).toEqual(lines);
});

test.each([true, false])("the name of a file stays on one line (terminal: %s)", (isTTY) => {
  const style = styleFor({ write: () => {}, isTTY }, { NO_COLOR: "1" });
  const name = "a\nshop:src/b.ts\n1:forged";
  const result = { ...file([]), fileName: { text: name, matchRanges: [] } };
  expect(showFile(result, { style, revisions: false })).toEqual(["shop:a␊shop:src/b.ts␊1:forged"]);
  expect(showForEditor(result, name, style)).toEqual(["a␊shop:src/b.ts␊1:forged:1:1:"]);
});

test.each([
  [{ isTTY: false }, { NO_COLOR: "1" }, "always", true],
  [{ isTTY: true }, {}, "never", false],
] as const)("--color overrides %j with %j: %s", (output, env, when, colours) => {
  const style = styleFor({ write: () => {}, ...output }, env, when);
  expect(style.match("x") !== "x").toBe(colours);
  expect(style.foreign("\x1b")).toBe("␛"); // coloured text ends on a terminal
});

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: false }, {}, false],
  [{}, {}, false],
  [{ isTTY: true }, { NO_COLOR: "1" }, false],
  [{ isTTY: true }, { NO_COLOR: "" }, true],
  [{ isTTY: true }, { TERM: "dumb" }, false],
])("colours of %j with %j: %s", (output, env, colours) => {
  const style = styleFor({ write: () => {}, ...output }, env);
  expect(style.match("x")).toBe(colours ? "\x1b[1;31mx\x1b[0m" : "x");
});
