import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documents, open, type SearchResponse } from "../../src/index.ts";
import { ask, db, folder, indexSome } from "./indexed.ts";
import { quern, type Ran, type World } from "./terminal.ts";

const onTerminal = (world: World, ...argv: string[]): Promise<Ran> =>
  quern([...argv, "--db", db], { isTTY: true, ...world });

indexSome();

test("prints headings, line numbers and lines, without colours in a pipe", async () => {
  expect(await ask("search", "parseDurationOrNull lang:go")).toMatchObject({
    code: 1,
    stdout: "",
  });
  const { code, stdout, stderr } = await ask("search", "--regex", "func Parse\\(", "-C", "1");
  expect(code).toBe(0);
  expect(stderr).toMatch(/^quern: (\d+ of )?\d+ match(es)? in \d+ files?, [\d.]+ m?s(;.*)?\n$/);
  const [heading, ...lines] = stdout.trimEnd().split("\n");
  expect(heading).toMatch(/^duration:\w+\.go$/);
  expect(lines.map((line) => line.replace(/[^-:\d].*/, ""))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^\d+:$/),
      expect.stringMatching(/^\d+-/),
    ]) as unknown,
  );
});

test.each<[argv: string[], lines: string[]]>([
  [
    ["-A", "2"],
    ["28:", "29-", "30-"],
  ],
  [
    ["-B", "1"],
    ["27-", "28:"],
  ],
  [
    ["-A", "1", "-B", "2"],
    ["26-", "27-", "28:", "29-"],
  ],
  [
    ["-C", "1", "-A", "0"],
    ["27-", "28:"],
  ],
])("%j sets the lines around a match", async (argv, lines) => {
  const { stdout } = await ask("search", "-e", "func Parse\\(text", ...argv);
  const [heading, ...shown] = stdout.trimEnd().split("\n");
  expect(heading).toBe("duration:duration.go");
  expect(shown.map((line) => /^\d+./.exec(line)?.[0])).toEqual(lines);
});

test("marks matches on a terminal, unless NO_COLOR is set", async () => {
  const { stdout, stderr } = await onTerminal({}, "search", "retryWithBackoff file:retry");
  expect(stdout).toContain("\x1b[1;31mretryWithBackoff\x1b[0m");
  expect(stderr).toMatch(/^quern: .*\d+ matches in \d+ files?, [\d.]+ m?s/);
  const plain = await onTerminal({ env: { NO_COLOR: "1" } }, "search", "retryWithBackoff");
  expect(plain.stdout).not.toContain("\x1b[");
});

test("on a terminal, a search without matches names words that look like options", async () => {
  const { code, stderr } = await onTerminal({}, "search", "money", "--frobnicate");
  expect(code).toBe(1);
  expect(stderr).toContain("--frobnicate was searched for, because no option has this name");
  const piped = await ask("search", "money", "--frobnicate");
  expect(piped.stderr).not.toContain("was searched for");
  const meant = await quern(["search", "--db", db, "--", "--limit", "3"]);
  expect(meant.code).toBe(1);
});

test("joins words as the query language does", async () => {
  const one = await ask("search", "-c", "money file:ledger");
  expect(await ask("search", "-c", "money", "file:ledger")).toEqual(one);
  expect(Number(one.stdout)).toBeGreaterThan(5);
});

test("accepts a query that begins with a dash after two dashes", async () => {
  const { code, stdout } = await quern([
    "search",
    "--db",
    db,
    "--count",
    "--",
    "-lang:go",
    "repo:duration",
  ]);
  expect(code).toBe(0);
  expect(Number(stdout)).toBeGreaterThan(0);
});

test("--json prints the response", async () => {
  const { stdout } = await ask("search", "--json", "-m", "3", "money");
  const { stats, files, isSearchExhaustive } = JSON.parse(stdout) as SearchResponse;
  expect(stats.actualMatchCount).toBe(3);
  expect(stats.totalMatchCount).toBeGreaterThan(3);
  expect(isSearchExhaustive).toBe(false);
  expect(files[0]).toMatchObject({ repository: "ledger", branches: ["HEAD"] });
});

test("--files prints all file names, once each", async () => {
  const { stdout } = await ask("search", "--files", "e");
  const names = stdout.trimEnd().split("\n");
  expect(new Set(names).size).toBe(names.length);
  const { stdout: json } = await ask("search", "--json", "-m", "0", "e");
  expect(names.length).toBe((JSON.parse(json) as SearchResponse).stats.fileCount);
});

test("--files prints all file names, even if they have more than a million matches", async () => {
  const many = join(folder, "many");
  const engine = await open(many, { workers: 0 });
  const content = `${"a".repeat(99)}\n`.repeat(5_300); // 524 700 matches
  const files = [1, 2, 3].map((n) => ({ path: `${n}`, content: `${content}${n}` }));
  await engine.index(documents({ name: "many", files }), { symbols: "skip" });
  await engine.close();
  const { stdout, stderr, code } = await quern(["search", "--files", "a", "--db", many]);
  expect({ stdout, stderr, code }).toEqual({
    stdout: "many:1\nmany:2\nmany:3\n",
    stderr: "",
    code: 0,
  });
});

test("says when not everything is shown, unless this was requested", async () => {
  const cut = await ask("search", "e");
  expect(cut.stderr).toMatch(
    /^quern: \d+ of [\d,]+ matches in \d+ of \d+ files, .*s; -m 400 shows more, --per-file 0 .*, -l names every file\n$/,
  );
  const inFiles = await ask("search", "e", "-m", "1000");
  expect(inFiles.stderr).toMatch(
    /^quern: \d+ of [\d,]+ matches in \d+ files, .*; --per-file 0 [^,]*\n$/,
  );
});

test("a file shows its five best matches, or the requested number", async () => {
  const linesOf = async (...argv: string[]) =>
    (await ask("search", "e file:README repo:ledger", ...argv)).stdout.split("\n").length - 2;
  const total = Number((await ask("search", "-c", "e file:README repo:ledger")).stdout);
  expect(total).toBeGreaterThan(5);
  expect(await linesOf()).toBeLessThanOrEqual(5 + 4); // with separators
  expect(await linesOf("--per-file", "1")).toBe(1);
  expect(await linesOf("--per-file", "0")).toBeGreaterThan(9);
});

test("file names and lines for an editor have existing paths", async () => {
  const names = (await ask("search", "-l", "repo:ledger money")).stdout.trimEnd().split("\n");
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) expect(readFileSync(name, "utf8")).toMatch(/money/i);
  const { stdout } = await ask("search", "--vimgrep", "repo:ledger money");
  for (const line of stdout.trimEnd().split("\n")) {
    const [, path, row, column, text] = /^([^:]+):(\d+):(\d+):(.*)$/.exec(line)!;
    const there = readFileSync(path!, "utf8").split("\n")[Number(row) - 1]!;
    expect(there).toBe(text);
    expect(there.slice(Number(column) - 1)).toMatch(/^money/i);
  }
});

test.each<[query: string, says: RegExp]>([
  ["raid5 -sector", /^quern: -sector is searched for with its dash; .* write -\(sector\)$/m],
  ["path:ledger money", /^quern: path: is a word here; did you mean file:$/m],
])("%s finds nothing, and a terminal suggests what was probably meant", async (query, says) => {
  const { code, stderr } = await onTerminal({}, "search", query);
  expect(code).toBe(1);
  expect(stderr).toMatch(says);
});

test.each<[argv: string[], code: number]>([
  [["-w", "retry"], 0],
  [["-w", "retr"], 1],
  [["-F", "repo:ledger"], 1],
  [["-e", "retry\\w+Backoff"], 0],
  [["retryWithBackoff", "-t", "typescript"], 0],
  [["retryWithBackoff", "-t", "go"], 1],
  [["retryWithBackoff", "-g", "*.ts"], 0],
  [["retryWithBackoff", "-g", "!*.ts", "-g", "!*.md"], 1],
  [["retryWithBackoff", "-lang:typescript", "-file:md$"], 1],
])("search %j exits with %i", async (argv, code) => {
  expect((await ask("search", ...argv)).code).toBe(code);
});

test("--case and --regex set the request's flags", async () => {
  expect((await ask("search", "RETRYWITHBACKOFF")).code).toBe(0);
  expect((await ask("search", "RETRYWITHBACKOFF", "--case")).code).toBe(1);
  expect((await ask("search", "retry\\w+Backoff")).code).toBe(1);
  expect((await ask("search", "retry\\w+Backoff", "--regex")).code).toBe(0);
});

test("names the revisions if the query does", async () => {
  const { stdout } = await ask("search", "rev:develop priority");
  expect(stdout).toMatch(/^task-queue:\S+ \([^)]*develop[^)]*\)$/m);
});

test.each([
  ["a or or b", "QUERY_SYNTAX"],
  ["context:mine x", "CONTEXT_NOT_FOUND"],
])("the query %s fails with %s", async (query, code) => {
  const ran = await ask("search", query);
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toContain(`quern: ${code}: `);
});

test("a syntax error has a caret below its position", async () => {
  expect((await ask("search", "a or or b")).stderr).toMatch(/\n {2}a or or b\n {2} +\^\n/);
});

test("says that symbols are missing while they are", async () => {
  const without = join(folder, "without-symbols");
  const engine = await open(without, { workers: 0 });
  const files = ["a", "b", "c"].map((name) => ({
    path: `${name}.ts`,
    content: `export function ${name}One() {}\n`,
  }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const searched = () => quern(["search", "sym:aOne", "--db", without]);
  const note =
    "quern: symbols of 3 files follow while they are indexed, or with the next quern index\n";
  expect(await searched()).toMatchObject({ code: 1, stderr: expect.stringContaining(note) });
  const { stderr } = await quern(["search", "aOne", "--db", without]);
  expect(stderr).not.toContain("follow");
  await engine.index([]);
  await engine.close();
  const { code, stderr: then } = await searched();
  expect({ code, isSaid: then.includes("follow") }).toEqual({ code: 0, isSaid: false });
});
