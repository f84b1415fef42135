/** Tests which arguments are options, which belong to the query, and which request they make together. */

import { Command } from "commander";
import { expect, test } from "vitest";
import { type QueryFlags, requestOf, withQueryOptions } from "../../src/cli/query-options.ts";
import { addSearch } from "../../src/cli/search-command.ts";
import { optionsFirst } from "../../src/cli/words.ts";

const program = new Command();
addSearch(program, {
  io: {
    stdout: { write: () => {} },
    stderr: { write: () => {} },
    env: {},
    signal: new AbortController().signal,
  },
  exit: () => {},
});
const command = program.commands[0]!;

test.each<[typed: string, sorted: string]>([
  ["raid5 -sector", "-- raid5 -sector"],
  ["-lang:json timeout", "-- -lang:json timeout"],
  ["-file:x", "-- -file:x"],
  ["-(a)", "-- -(a)"],
  ["--file:x", "-- --file:x"],
  ["-Wall", "-- -Wall"],
  ["--verbose", "-- --verbose"],
  ["-list", "-- -list"],
  ["-", "-- -"],
  ["--contxt 3 x", "--contxt -- 3 x"],
  ["x -C 2", "-C 2 -- x"],
  ["x -C2", "-C2 -- x"],
  ["x -C=2", "-C=2 -- x"],
  ["x --context=2", "--context=2 -- x"],
  ["x --context 2", "--context 2 -- x"],
  ["x -m -1", "-m -1 -- x"],
  ["-il x", "-il -- x"],
  ["-lC 2 x", "-lC 2 -- x"],
  ["-ll x", "-- -ll x"],
  ["-tgo x", "-tgo -- x"],
  ["-toto x", "-- -toto x"],
  ["-g*.ts x", "-g*.ts -- x"],
  ["-gone x", "-- -gone x"],
  ["-epsilon", "-- -epsilon"],
  ["-e -x", "-e -x"],
  ["--json -- -l --json", "--json -- -l --json"],
  ["--help", "--help"],
])("%s is sorted into %s", (typed, sorted) => {
  expect(optionsFirst(command, typed.split(" ")).join(" ")).toBe(sorted);
});

function requested(...argv: string[]) {
  let made: ReturnType<typeof requestOf> | undefined;
  const parsed = withQueryOptions(new Command().exitOverride());
  parsed.action((words: string[], flags: QueryFlags) => void (made = requestOf(words, flags)));
  parsed.parse(optionsFirst(parsed, argv), { from: "user" });
  return made!;
}

test.each<[argv: string[], query: string, isRegex: boolean]>([
  [["a", "b"], "a b", false],
  [["a", "or", "b"], "a or b", false],
  [["-r", "a+"], "a+", true],
  [["-w", "get", "-file:x"], "\\bget\\b -file:x", true],
  [["-w", "foo("], '"\\\\bfoo\\\\("', true],
  [["-w", "-r", "a|b"], '"\\\\b(?:a|b)\\\\b"', true],
  [["-F", "a or (b"], '"a or (b"', false],
  [["-F", "lang:go"], '"lang:go"', false],
  [["-F", "-w", "a.b"], "\\ba\\.b\\b", true],
  [["-e", "a.b"], "a.b", true],
  [["-e", "-x"], '"-x"', true],
  [["-e", "a", "-e", "b"], "a or b", true],
  [["a.b", "-e", "c.d"], "a\\.b c.d", true],
  [["-F", "-e", "a.b"], "a.b", false],
  [["a", "or", "b", "-t", "go"], "(a or b) lang:go", false],
  [["a", "-t", "go", "-t", "c"], "a (lang:go or lang:c)", false],
  [["a", "-g", "*.ts"], "a file:\\.ts$", false],
  [["a", "-g", "x/", "-g", "!y"], 'a file:^x/.*$ -file:"(^|/)y$"', false],
  [["test(", "-t", "go"], '"test(" lang:go', false],
])("the arguments %j make the query %s", (argv, query, isRegexEnabled) => {
  expect(requested(...argv)).toMatchObject({ query, isRegexEnabled });
});

test.each<[argv: string[], says: RegExp]>([
  [[], /give a query/],
  [["a", "--no-ignore"], /quern index PATH --no-ignore/],
  [["-e", "(", "-t", "go"], /./],
])("the arguments %j are rejected", (argv, says) => {
  expect(() => requested(...argv)).toThrow(says);
});

test("--hidden and -n are the default", () => {
  expect(requested("a", "--hidden", "-n")).toEqual(requested("a"));
});

test("-s makes the search case-sensitive, and -i is the default", () => {
  expect(requested("a", "-s").isCaseSensitivityEnabled).toBe(true);
  expect(requested("a", "-i").isCaseSensitivityEnabled).toBe(false);
});
