/** The README's figures of speed and size are those of docs/benchmarks.md, rounded. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const readme = /^## Speed$(.*?)^## /ms.exec(readFileSync("README.md", "utf8"))![1]!;
const page = readFileSync("docs/benchmarks.md", "utf8");
/** The section about the run with the peers. */
const record = /^## linux-source-6\.1$(.*?)(?=^## |(?![^]))/ms.exec(page)![1]!;

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/** Returns the rows of the table whose head begins like this, by their first cell. Each row has its cells by column. */
function tableOf(text: string, head: string): Map<string, Record<string, string>> {
  const table = [...text.matchAll(/(?:^\|.*\|\n)+/gm)].find(([all]) => all.startsWith(head))!;
  const [names, , ...rows] = table[0].trimEnd().split("\n").map(cellsOf);
  const named = rows.map((cells) => [
    cells[0]!,
    Object.fromEntries(names!.map((name, i) => [name, cells[i]!])),
  ]);
  return new Map(named as [string, Record<string, string>][]);
}

const figures = tableOf(readme, "|                     ");
const questions = tableOf(record, "| question ");
const indexing = tableOf(record, "|                                           | time, s |");
const peers = tableOf(page, "| peer ");

const number = (text: string): number => Number(text.replace(/\s/g, ""));
/** Returns the number at the start of a cell, bold or not, or NaN if there is none. */
const first = (cell: string): number => number(/^[*]*([\d. ]*\d)?/.exec(cell)?.[1] ?? "NaN");

/** Returns true if one number is the other, rounded to a whole number or to some decimal places. */
const isRounded = (said: number, figure: number): boolean =>
  [0, 1, 2, 3].some((digits) => said === Number(figure.toFixed(digits)));

const COLUMNS = {
  quern: "2 workers",
  zoekt: "zoekt",
  csearch: "csearch",
  "ripgrep 13": "rg",
} as const;

/** Rows of the README whose question has another name in the record. */
const QUESTION: Record<string, string> = { "part of a definition's name": "symbol, part" };

const asked = [...figures].flatMap(([label, cells]) => {
  const parts = /^`?([^`]+)`?(?:, any case)? \((\d[\d. ]*)( million)?\)$/.exec(label);
  if (parts === null) return [];
  const [, name, matches, million] = parts;
  return [{ name: QUESTION[name!] ?? name!, matches: matches!, million, cells }];
});

test("the whole table is read", () => {
  expect(figures.size).toBe(asked.length + 3);
  expect(asked.length).toBeGreaterThan(6);
});

test.each(asked)("$name", ({ name, matches, million, cells }) => {
  const row = questions.get(name)!;
  const counted = number(row["matches"]!) / (million === undefined ? 1 : 1e6);
  expect(isRounded(number(matches), counted), `${matches} matches`).toBe(true);
  for (const [tool, column] of Object.entries(COLUMNS)) {
    const [said, figure] = [cells[tool]!, row[column]!];
    if (figure === "–") expect(said, tool).toBe("–");
    else expect(isRounded(first(said), first(figure)), `${tool}: ${said} for ${figure}`).toBe(true);
  }
  const values = Object.keys(COLUMNS).map((tool) => first(cells[tool]!));
  const best = Math.min(...values.filter((value) => !Number.isNaN(value)));
  const bold = Object.keys(COLUMNS).filter((tool) => cells[tool]!.startsWith("**"));
  expect(bold.map((tool) => first(cells[tool]!))).toEqual([best]);
});

/** Returns the record's rows about indexing that begin with the tool's name, either with symbols or without. */
const rowsOf = (tool: string, symbols: boolean): Record<string, string>[] =>
  [...indexing]
    .filter(([who]) => who.startsWith(tool) && who.endsWith(", symbols") === symbols)
    .map(([, row]) => row);

const numbersOf = (cell: string): number[] =>
  [...cell.matchAll(/\d[\d. ]*(?=\D)/g)].map(([text]) => number(text));

test("the times of indexing equal those of the record, for quern from the fastest setting to the slowest", () => {
  const said = figures.get("index")!;
  const seconds = (tool: string, symbols: boolean) =>
    rowsOf(tool, symbols).map((row) => number(row["time, s"]!));
  const [from, to] = numbersOf(said["quern"]!);
  expect(isRounded(from!, Math.min(...seconds("quern", false)))).toBe(true);
  expect(isRounded(to!, Math.max(...seconds("quern", false)))).toBe(true);
  for (const tool of ["zoekt", "csearch"])
    expect(isRounded(first(said[tool]!), seconds(tool, false)[0]!), tool).toBe(true);
  for (const tool of ["quern", "zoekt"])
    expect(
      isRounded(first(figures.get("index with symbols")![tool]!), seconds(tool, true)[0]!),
    ).toBe(true);
});

test("the sizes of indexes equal those of the record", () => {
  const said = figures.get("on disk, content and symbols included")!;
  for (const tool of ["quern", "zoekt", "csearch"]) {
    const row = rowsOf(tool, tool !== "csearch")[0]!;
    expect(isRounded(first(said[tool]!), number(row["on disk, MB"]!) / 1000), tool).toBe(true);
  }
});

test("the sentences around the table equal the record", () => {
  const sentences = readme.replaceAll(/\s+/g, " ");
  const [, files, megabytes] = /^([\d ]+) files, ([\d ]+) MB\./m.exec(record)!;
  expect(sentences).toContain(`${megabytes} MB in ${files} files`);
  const [zoekt, csearch, rg] = ["zoekt", "csearch", "rg"].map((name) => peers.get(name)!);
  const mean = (row: Record<string, string>) => Number(number(row["geometric mean"]!).toFixed(1));
  expect(sentences).toContain(
    `In the geometric mean quern is ${mean(zoekt!)} times as fast as zoekt (${zoekt!["questions"]} questions), ` +
      `${mean(csearch!)} times as fast as csearch (${csearch!["questions"]}) and ${mean(rg!)} times as fast as ripgrep (${rg!["questions"]}).`,
  );
  const slower = (1 / number(zoekt!["least"]!)).toFixed(1);
  expect(sentences).toContain(
    `At worst it takes ${slower} times as long as zoekt; against csearch and ripgrep it is faster at every question`,
  );
  for (const row of [csearch, rg]) expect(number(row!["least"]!)).toBeGreaterThan(1);
});
