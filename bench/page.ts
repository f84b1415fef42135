/** docs/benchmarks.md and its plots, from the newest record of each corpus. */

import { mkdirSync, writeFileSync } from "node:fs";
import { format } from "prettier";
import { judge } from "./budgets.ts";
import { MEBIBYTE } from "./index-stage.ts";
import { dotPlot, linePlots } from "./plot.ts";
import type { Record } from "./record.ts";
import {
  agreementTable,
  budgetTable,
  firstTable,
  growthTable,
  indexingTable,
  manyTable,
  presentPeers,
  questionTable,
  ratioTable,
  type Table,
} from "./report.ts";
import { figure, markdownTable } from "./table.ts";

const docs = new URL("../docs/", import.meta.url);

const HEAD = `# Benchmarks

Made by the benchmark itself from the records in \`bench/record/\`; not written by hand.

\`\`\`sh
npm run bench                                  # smoke: the fixture repositories, means, counts checked; under a minute
npm run bench -- --corpus PATH                 # everything below, for a folder of yours
npm run bench -- --corpus PATH --peers rg,zoekt --queries FILE --stages index,questions
npm run bench -- --corpus PATH --caller 2      # who holds up the caller's thread, with two workers: a row for each operation
npm run bench -- --page                        # this page again, from the records
\`\`\`

Peers that are not on the PATH are left out. Nothing is downloaded.`;

export async function writePage(records: readonly Record[]): Promise<string> {
  mkdirSync(new URL("benchmarks/", docs), { recursive: true });
  const page = [HEAD, ...records.map(section)].join("\n\n");
  const formatted = await format(page, { parser: "markdown", printWidth: 100 });
  writeFileSync(new URL("benchmarks.md", docs), formatted);
  return "docs/benchmarks.md";
}

function section(record: Record): string {
  const { at, corpus, machine, method, failures } = record;
  const where = `${machine.processor}, ${machine.cores} cores, ${figure(machine.memoryBytes / 2 ** 30)} GiB, ${machine.system}, Node ${machine.node}, quern ${machine.quern}${machine.commit ? ` (${machine.commit})` : ""}`;
  const tables = [
    budgetTable(judge(record)),
    indexingTable(record),
    ratioTable(record),
    questionTable(record),
    firstTable(record),
    agreementTable(record),
    manyTable(record),
    growthTable(record),
  ].filter(({ rows }) => rows.length > 0);
  return [
    `## ${corpus.name}`,
    `${figure(corpus.files)} files, ${figure(corpus.bytes / 1e6)} MB. Measured on ${at.slice(0, 10)}: ${where}.`,
    method.map((line) => `- ${line}`).join("\n"),
    ...plots(record),
    ...tables.map(markdown),
    ...(failures.length ? ["### Failed", failures.map((one) => `- ${one}`).join("\n")] : []),
  ].join("\n\n");
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
