/** Writes docs/benchmarks.md and its plots from the newest record of each corpus. */

import { mkdirSync, writeFileSync } from "node:fs";
import { format } from "prettier";
import { scaleTable } from "./cluster-scale.ts";
import { MEBIBYTE } from "./index-stage.ts";
import { dotPlot, linePlots } from "./plot.ts";
import type { Record } from "./record.ts";
import {
  agreementTable,
  changedTable,
  clusterTable,
  frontTable,
  indexingTable,
  manyTable,
  medianTable,
  presentPeers,
  ratioTable,
  summaryTable,
  workspaceTable,
  workTreeTable,
  type Table,
} from "./report.ts";
import { figure, markdownTable } from "./table.ts";

const docs = new URL("../docs/", import.meta.url);

const HEAD = `# Benchmarks

This page compares the speed, index size and memory of quern with those of zoekt, csearch and ripgrep.
[What bounds speed](speed.md) explains the figures, [missed-budgets.md](missed-budgets.md) lists what is slower than
planned, and [limits.md](limits.md) says what is guaranteed.`;

const FOOT = `## Measure it yourself

\`\`\`sh
npm run bench                          # smoke: the fixture repositories, counts checked; under a minute
npm run bench -- --corpus PATH         # everything, for a folder of yours
npm run bench -- --cluster             # a cluster on this machine, with PostgreSQL from npm
npm run bench -- --page                # this page again, from the records in bench/record/
\`\`\`

Peers that are not on the PATH are left out. The records in \`bench/record\` also have figures for
one worker and for the first 50 matches, 95th percentiles, budgets, and the query behind each name.`;

export async function writePage(records: readonly Record[]): Promise<string> {
  mkdirSync(new URL("benchmarks/", docs), { recursive: true });
  const told = new Set<string>();
  const sections = records
    .toSorted((one, other) => presentPeers(other).length - presentPeers(one).length)
    .map((record, place) => section(record, place === 0, told));
  const page = [HEAD, ...sections, ...paper(records), FOOT].join("\n\n");
  const formatted = await format(page, { parser: "markdown", printWidth: 100 });
  writeFileSync(new URL("benchmarks.md", docs), formatted);
  return "docs/benchmarks.md";
}

/** Returns a record's part of the page, without the lines of method that an earlier part has. */
function section(record: Record, isMain: boolean, told: Set<string>): string {
  const { corpus, failures } = record;
  const method = record.method.filter(
    (line) => ![...told].some((before) => before.startsWith(line)),
  );
  for (const line of method) told.add(line);
  const tables = [
    indexingTable(record),
    ...(isMain ? [] : [ratioTable(record)]),
    ...(isMain ? [medianTable(record)] : []),
    manyTable(record),
    workspaceTable(record),
    changedTable(record),
    workTreeTable(record),
    frontTable(record),
    clusterTable(record),
  ].filter(({ rows }) => rows.length > 0);
  return [
    ...(isMain ? [summary(record)] : []),
    `## ${corpus.name}`,
    `${figure(corpus.files)} files, ${figure(corpus.bytes / 1e6)} MB. ${measuredOn(record)}`,
    ...plots(record),
    ...tables.map(markdown),
    ...(isMain ? differences(record) : []),
    ...(method.length ? ["### Method", bullets(method)] : []),
    ...(failures.length ? ["### Failed", bullets(failures)] : []),
  ].join("\n\n");
}

/** The part of the page that is computed from figures of several records. */
function paper(records: readonly Record[]): string[] {
  const table = scaleTable(records);
  const stands = `Nothing in this table was measured. [bench/cluster-scale.ts](../bench/cluster-scale.ts) computes the figures. It assumes that objects shrink to 0.29 of their size, and that a quarter of the stored text is in no revision. It also assumes that all searched data is in memory, and that work is spread evenly.`;
  return table.rows.length > 0 ? ["## A large cluster", markdown(table), stands] : [];
}

const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");

function measuredOn({ at, machine }: Record): string {
  const { processor, cores, memoryBytes, system, node, quern, commit } = machine;
  const version = `quern ${quern}${commit ? ` (${commit})` : ""}`;
  return `Measured on ${at.slice(0, 10)}: ${processor}, ${cores} cores, ${figure(memoryBytes / 2 ** 30)} GiB, ${system}, Node ${node}, ${version}.`;
}

function summary(record: Record): string {
  const { corpus, machine } = record;
  return [
    markdown(summaryTable(record)).replace(/^### /, "## "),
    markdown(ratioTable(record)),
    `The corpus is ${corpus.name}, and the machine has ${machine.cores} cores. Every match is counted. The indexes of quern and zoekt hold the content; the index of csearch does not.`,
  ].join("\n\n");
}

/** Returns the questions for which a peer's count differs, by reason. */
function differences(record: Record): string[] {
  const { title, rows } = agreementTable(record);
  const questions = new Map<string, string[]>();
  for (const [question, , peer, theirs] of rows)
    for (const reason of String(theirs)
      .replace(/^.*?: /, "")
      .split("; ")) {
      const why = reason.replace(/ \(\d+\)$/, "");
      const key = why.startsWith(`${String(peer)} `) ? why : `${String(peer)}: ${why}`;
      questions.set(key, [...(questions.get(key) ?? []), `\`${String(question)}\``]);
    }
  const lines = [...questions].map(([reason, names]) => `${reason}: ${names.join(", ")}`);
  return lines.length > 0 ? [`### ${title}`, bullets(lines)] : [];
}

const markdown = ({ title, head, rows }: Table) =>
  `### ${title}\n\n${markdownTable(
    head.map((cell) => cell || " "),
    rows,
  )}`;

function plots(record: Record): string[] {
  const { name } = record.corpus;
  const written: string[] = [];
  const write = (what: string, alt: string, image: string) => {
    const file = `benchmarks/${name}-${what}.svg`;
    writeFileSync(new URL(file, docs), image);
    written.push(`![${alt}](${file})`);
  };
  if (record.questions.length > 0)
    write("questions", "Time of each question", questionPlot(record));
  if (record.growth.length > 0) write("growth", "Growth with the content", growthPlot(record));
  return written;
}

function questionPlot(record: Record): string {
  const peers = presentPeers(record);
  const rows = record.questions.map((question) => ({
    name: question.name,
    values: [question.quern.two.median, ...peers.map((peer) => question.peers[peer]?.count.median)],
  }));
  return dotPlot("Median, ms", ["quern", ...peers], rows);
}

function growthPlot({ growth }: Record): string {
  const one = (of: (step: Record["growth"][number]) => number) => [
    { name: "", values: growth.map(of) },
  ];
  const rare = growth.map((step) => step.rare.median);
  const frequent = growth.map((step) => step.frequent.median);
  return linePlots(
    growth.map(({ factor }) => `${factor}×`),
    [
      { title: "Index time", unit: "s", lines: one((step) => step.seconds) },
      {
        title: "Own memory",
        unit: "MiB",
        lines: one((step) => (step.anonymousBytes ?? 0) / MEBIBYTE),
      },
      { title: "On disk", unit: "MB", lines: one((step) => step.bytes / 1e6) },
      {
        title: "Search",
        unit: "ms",
        lines: [
          { name: "rare", values: rare },
          { name: "frequent", values: frequent },
        ],
      },
    ],
  );
}
