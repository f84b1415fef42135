/** Runs all stages over one corpus, then prints the verdicts and writes the record and the page. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { judge } from "./budgets.ts";
import { middleOfThree } from "./command.ts";
import { corpusAt, readCorpus } from "./corpus.ts";
import {
  dataFolder,
  INDEX_RUNS,
  indexCorpus,
  KEPT,
  peerIndexing,
  type IndexRun,
} from "./index-stage.ts";
import { thisMachine } from "./machine.ts";
import { codesearch } from "./peer-csearch.ts";
import { ripgrep } from "./peer-rg.ts";
import { zoekt } from "./peer-zoekt.ts";
import type { Corpus, Peer } from "./peer.ts";
import type { PeerName } from "./peer-names.ts";
import { buildPackage, describeBuild } from "./quern.ts";
import { readQuestions, type Question } from "./queries.ts";
import { askAll } from "./question-stage.ts";
import { writePage } from "./page.ts";
import { newestRecords, writeRecord, type Record } from "./record.ts";
import * as report from "./report.ts";
import { measureGrowth, measureMany } from "./scale-stage.ts";
import { describePatience, THOROUGH } from "./statistics.ts";
import { terminalTable } from "./table.ts";
import { measureEngine, measureGit } from "./update-stage.ts";
import { copyCorpus, makeMonorepo, measureWorkspace, measureWorkTrees } from "./workspace-stage.ts";

/** The stages. "index" runs indexing more often than the questions need. */
export const STAGES = [
  "index",
  "questions",
  "update",
  "git",
  "many",
  "growth",
  "workspace",
  "monorepo",
  "worktrees",
] as const;
export type Stage = (typeof STAGES)[number];

export interface FullRun {
  readonly corpus: string;
  readonly folder: string;
  readonly peers: readonly PeerName[];
  readonly stages: readonly Stage[];
  readonly queries: string | URL;
}

type Draft = { -readonly [Key in keyof Omit<Record, "budgets">]: Record[Key] };

const log = (text: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);

/** Resolves to whether every count agrees with the peers' counts, or is explained. */
export async function fullRun(run: FullRun): Promise<boolean> {
  buildPackage();
  const corpus = corpusAt(run.corpus);
  log(`reading ${corpus.path}`);
  const draft: Draft = {
    at: new Date().toISOString(),
    machine: thisMachine(),
    corpus: readCorpus(corpus),
    method: [],
    indexing: [],
    questions: [],
    engine: {},
    growth: [],
    failures: [],
  };
  const areAsked = run.stages.some((stage) => stage === "index" || stage === "questions");
  const peers = areAsked ? await openPeers(run, corpus, draft) : [];
  draft.method = methodOf(peers, run.stages);
  try {
    await measure(run, { corpus, peers, draft });
  } finally {
    for (const peer of peers) await peer.close();
  }
  const record: Record = { ...draft, budgets: judge(draft) };
  printAll(record);
  log(`${writeRecord(record)}, ${await writePage(newestRecords())}`);
  return record.failures.length === 0;
}

async function openPeers({ peers, folder }: FullRun, corpus: Corpus, draft: Draft) {
  const opened: Peer[] = [];
  const place = (name: string) => join(folder, name);
  const open: { readonly [Name in PeerName]: () => Promise<Peer | undefined> } = {
    rg: async () => ripgrep(corpus),
    csearch: () => codesearch(corpus, place("csearch")),
    zoekt: async () => {
      const plain = await zoekt(corpus, place("zoekt-plain"), { hasSymbols: false });
      await plain?.close();
      rmSync(place("zoekt-plain"), { recursive: true, force: true });
      if (plain) draft.indexing = [...draft.indexing, ...peerIndexing(plain, false)];
      return await zoekt(corpus, place("zoekt"), { hasSymbols: true });
    },
  };
  for (const name of peers) {
    log(`preparing ${name}`);
    const peer = await open[name]();
    if (peer) opened.push(peer);
    else log(`${name} is not on the PATH: left out`);
    if (peer) draft.indexing = [...draft.indexing, ...peerIndexing(peer, name === "zoekt")];
  }
  return opened;
}

interface Measuring {
  readonly corpus: Corpus;
  readonly peers: readonly Peer[];
  readonly draft: Draft;
}

/** Runs a stage. If it fails, only its own figures are missing, because a run is long. */
async function measure(run: FullRun, measuring: Measuring): Promise<void> {
  const { corpus, peers, draft } = measuring;
  const { folder, stages } = run;
  const has = (...some: Stage[]) => some.some((stage) => stages.includes(stage));
  const path = dataFolder(folder, KEPT);
  const engine = async (figures: Promise<Record["engine"]>) =>
    (draft.engine = { ...draft.engine, ...(await figures) });
  const steps: readonly [name: string, isWanted: boolean, step: () => Promise<unknown>][] = [
    ["index", has("index"), () => indexOften(run, measuring)],
    ["index with symbols", has("questions", "update"), () => indexAs(measuring, path, KEPT)],
    [
      "questions",
      has("questions"),
      () => ask(readQuestions(run.queries), { corpus, path, peers, draft }),
    ],
    ["update", has("update"), () => engine(measureEngine(corpus, path))],
    ["git", has("git"), () => engine(measureGit(corpus, folder))],
    ["many", has("many"), async () => (draft.many = await measureMany(folder, 1000))],
    ["growth", has("growth"), async () => (draft.growth = await measureGrowth(folder, 32))],
    [
      "workspace",
      has("workspace"),
      () => follow(draft, corpus.name, folder, (place) => copyCorpus(corpus, place)),
    ],
    ["monorepo", has("monorepo"), () => follow(draft, "monorepo", folder, makeMonorepo)],
    ["worktrees", has("worktrees"), async () => (draft.workTrees = await measureWorkTrees(folder))],
  ];
  for (const [name, isWanted, step] of steps) {
    if (!isWanted) continue;
    log(name);
    await step().catch((error: unknown) => {
      draft.failures = [...draft.failures, `${name}: ${String(error)}`];
      log(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
    });
  }
}

async function indexAs({ corpus, draft }: Measuring, path: string, how: IndexRun): Promise<void> {
  const run = () => {
    rmSync(path, { recursive: true, force: true });
    return indexCorpus(corpus, path, how);
  };
  const figures = how === INDEX_RUNS[0] ? await middleOfThree(run) : await run();
  draft.indexing = [...draft.indexing, figures];
}

async function indexOften({ folder }: FullRun, measuring: Measuring): Promise<void> {
  for (const how of INDEX_RUNS) {
    const path = dataFolder(folder, how);
    await indexAs(measuring, path, how);
    rmSync(path, { recursive: true });
  }
}

async function follow(
  draft: Draft,
  name: string,
  folder: string,
  make: (path: string) => string,
): Promise<void> {
  const path = make(join(folder, "followed", name));
  const data = join(folder, `quern-following-${name}`);
  draft.workspaces = [...(draft.workspaces ?? []), await measureWorkspace({ name, path, data })];
  for (const made of [path, data]) rmSync(made, { recursive: true, force: true });
}

async function ask(
  questions: readonly Question[],
  { draft, ...where }: Measuring & { readonly path: string },
): Promise<void> {
  const onQuestion = ({ name, matches }: { name: string; matches: number }) =>
    log(`${name}: ${matches}`);
  const answers = await askAll({ ...where, questions, patience: THOROUGH, onQuestion });
  draft.questions = answers.questions;
  draft.failures = [...draft.failures, ...answers.failures];
  const { anonymousBytes, residentBytes } = answers;
  const memory = { searchAnonymousBytes: anonymousBytes, searchResidentBytes: residentBytes };
  draft.engine = { ...draft.engine, ...memory };
}

const methodOf = (peers: readonly Peer[], stages: readonly Stage[]): string[] => [
  `Tools run one at a time, with warm file caches. V8 optimizes only code that runs often, so quern has answered each question 3 to 200 times before. ${describePatience(THOROUGH)} Most rows of indexing are from one run. Two are medians of three runs: csearch, and quern with 2 workers, a budget of 256 MiB and no symbols.`,
  "Every match is counted. quern and zoekt also return the first 50 matches with their text. All tools get the same files: files up to 2 MiB, regardless of ignore files, without .git.",
  `quern: ${describeBuild()} in a process of its own; its index contains the content`,
  "Memory is the most that a process held. Own memory is RssAnon, sampled every 10 ms; resident memory is VmHWM, which includes mapped files. For many repositories and growth, the indexing process also generates the content.",
  `"Caller held up" is the longest time between two turns of the calling thread's event loop during an index run. Only the time in parentheses includes waiting for a free core.`,
  ...(stages.includes("workspace")
    ? [
        "A folder that is followed: processor times are sums over all threads. Each written file has a word of its own, and a search for this word begins when the file is written. rg and git grep search for a word that is in no file.",
      ]
    : []),
  ...peers.map(({ version, method }) => `${version}: ${method}`),
];

function printAll(record: Record): void {
  const tables = [
    report.questionTable(record),
    report.firstTable(record),
    report.agreementTable(record),
    report.indexingTable(record),
    report.manyTable(record),
    report.growthTable(record),
    report.workspaceTable(record),
    report.changedTable(record),
    report.workTreeTable(record),
    report.ratioTable(record),
    report.budgetTable(record.budgets),
  ];
  for (const { title, head, rows } of tables)
    if (rows.length > 0) console.log(`\n${title}\n\n${terminalTable(head, rows)}`);
  for (const failure of record.failures) console.log(`\nFAILED ${failure}`);
}
