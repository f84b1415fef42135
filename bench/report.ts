/** Makes the tables of a record, for the terminal and for the page. */

import { mebibytesOf, ratios } from "./budgets.ts";
import { MEBIBYTE } from "./index-stage.ts";
import { PEER_NAMES, type PeerName } from "./peer-names.ts";
import type { IndexingFigures, ManyFigures, QuestionFigures, Record, Verdict } from "./record.ts";
import { geometricMean } from "./statistics.ts";
import type { Cost, WorkspaceFigures } from "./workspace-figures.ts";
import { figure, type Cell } from "./table.ts";

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

type Measured = Omit<Record, "budgets">;

export const presentPeers = ({ questions }: Measured): PeerName[] =>
  PEER_NAMES.filter((name) => questions.some(({ peers }) => peers[name]));

export function questionTable(record: Measured): Table {
  const peers = presentPeers(record);
  return {
    title: "Questions: median / p95 in ms, every match counted, first 50 matches returned",
    head: [
      "question",
      "matches",
      "1 worker",
      "2 workers",
      "first chunk",
      ...peers.flatMap((peer) => [peer, `${peer} ×`]),
    ],
    rows: record.questions.map((question) => questionRow(question, peers)),
  };
}

/** Returns the table for the page, with the medians of all tools side by side. */
export function medianTable(record: Measured): Table {
  const peers = presentPeers(record);
  return {
    title: "Questions: medians in ms until every match is counted",
    head: ["question", "matches", "2 workers", ...peers],
    rows: record.questions.map(({ name, matches, quern, peers: asked }) => [
      name,
      matches,
      quern.two.median,
      ...peers.map((who): Cell => asked[who]?.count.median ?? "–"),
    ]),
  };
}

/** Returns the table with what most readers want to know about all tools. */
export function summaryTable(record: Measured): Table {
  const peers = presentPeers(record);
  const runsOf = (who: IndexingFigures["who"], symbols: boolean) =>
    record.indexing.filter((run) => run.who === who && run.symbols === symbols);
  const row = (what: string, ours: Cell, of: (peer: PeerName) => Cell): Cell[] => [
    what,
    ours,
    ...peers.map(of),
  ];
  const indexing = (what: string, of: (run: IndexingFigures) => Cell, symbols: boolean): Cell[] => {
    const cell = (who: IndexingFigures["who"]): Cell => runsOf(who, symbols).map(of)[0] ?? "–";
    return row(what, cell("quern"), cell);
  };
  const { engine } = record;
  const resident = engine.searchResidentBytes ?? {};
  const residentOf = (peer: PeerName): Cell =>
    (peer === "zoekt" ? mebibytesOf(resident.zoekt) : undefined) ?? "–";
  return {
    title: "In short",
    head: ["", "quern", ...peers],
    rows: [
      indexing("index, s", ({ seconds }) => seconds, false),
      indexing("index with symbols, s", ({ seconds }) => seconds, true),
      indexing("on disk, MB", ({ bytes }) => bytes / 1e6, false),
      indexing("on disk with symbols, MB", ({ bytes }) => bytes / 1e6, true),
      indexing("memory while indexing, MiB", (run) => mebibytesOf(run.anonymousBytes), false),
      row("memory while searching, MiB", mebibytesOf(engine.searchAnonymousBytes), () => "–"),
      row("the same with mapped files, MiB", mebibytesOf(resident.quern), residentOf),
      row("one changed file, git repository, ms", engine.updateGit?.median, () => "–"),
      row("open, ms", engine.open?.median, () => "–"),
    ],
  };
}

export function questionRow(question: QuestionFigures, peers: readonly PeerName[]): Cell[] {
  const { one, two, firstChunk } = question.quern;
  const spread = ({ median, p95 }: { median: number; p95: number }) =>
    `${figure(median)} / ${figure(p95)}`;
  return [
    question.name,
    question.matches,
    spread(one),
    spread(two),
    figure(firstChunk.median),
    ...peers.flatMap((name) => {
      const peer = question.peers[name];
      return peer ? [spread(peer.count), figure(peer.count.median / two.median)] : ["–", "–"];
    }),
  ];
}

/** Compares a peer's time to its first 50 matches with ours, which includes counting all matches. */
export function firstTable(record: Measured): Table {
  const peers = presentPeers(record);
  return {
    title: "First 50 matches: median in ms (quern counts all of them as well)",
    head: ["question", "quern, 2 workers", ...peers],
    rows: record.questions
      .filter(({ peers: asked }) => Object.keys(asked).length > 0)
      .map(({ name, quern, peers: asked }) => [
        name,
        quern.two.median,
        ...peers.map((peer) => asked[peer]?.first.median),
      ]),
  };
}

export function agreementTable(record: Measured): Table {
  const rows = record.questions.flatMap(({ name, matches, peers }) =>
    Object.entries(peers)
      .filter(([, { agreement }]) => agreement !== "equal")
      .map(([peer, { agreement }]) => [name, matches, peer, agreement]),
  );
  return { title: "Counts that differ", head: ["question", "quern", "peer", "it counts"], rows };
}

export function ratioTable(record: Measured): Table {
  const row = (what: string, all: readonly number[]): Cell[] => [
    what,
    all.length,
    geometricMean(all),
    Math.min(...all),
    Math.max(...all),
  ];
  return {
    title: "Speed with 2 workers, as a multiple of each peer's speed",
    head: ["peer", "questions", "geometric mean", "least", "most"],
    rows: presentPeers(record).map((peer) => row(peer, ratios(record, peer))),
  };
}

export function indexingTable({ indexing }: Measured): Table {
  return {
    title: "Indexing",
    head: ["", "time, s", "on disk, MB", "own memory, MiB", "caller held up, ms"],
    rows: indexing.map((run) => [
      describe(run),
      run.seconds,
      run.bytes / 1e6,
      mebibytesOf(run.anonymousBytes),
      run.stall && `${figure(run.stall.ms)} (${figure(run.stall.msWithWaiting)})`,
    ]),
  };
}

function describe({ who, workers, memoryBudget, symbols }: IndexingFigures): string {
  const budget = memoryBudget === undefined ? "" : `, budget ${memoryBudget / MEBIBYTE} MiB`;
  const threads = workers === undefined ? "" : `, ${workers} workers`;
  return `${who}${threads}${budget}${symbols ? ", symbols" : ""}`;
}

export function budgetTable(budgets: readonly Verdict[]): Table {
  return {
    title: "Budgets",
    head: ["", "budget", "figure", ""],
    rows: budgets.map(({ what, budget, figure: measured, isMet }) => [
      what,
      budget,
      measured ?? "–",
      isMet === undefined ? "not measured" : isMet ? "pass" : "MISS",
    ]),
  };
}

export function growthTable({ growth }: Measured): Table {
  return {
    title: "Growth: more and more repositories of 1 MB",
    head: [
      "",
      "content, MB",
      "index, s",
      "own memory, MiB",
      "on disk, MB",
      "rare, ms",
      "frequent, ms",
    ],
    rows: growth.map((step) => [
      `${step.factor}×`,
      step.contentBytes / 1e6,
      step.seconds,
      mebibytesOf(step.anonymousBytes),
      step.bytes / 1e6,
      step.rare.median,
      step.frequent.median,
    ]),
  };
}

type WorkspaceRow = readonly [what: string, of: (one: WorkspaceFigures) => Cell];

const cost = ({ ms, processorMs }: Cost) => `${figure(ms)} (${figure(processorMs)})`;

export function workspaceTable({ workspaces = [] }: Measured): Table {
  const rows: readonly WorkspaceRow[] = [
    ["files", ({ files }) => files],
    ["content, MB", ({ bytes }) => bytes / 1e6],
    ["time until an indexed folder is followed, s", ({ openSeconds }) => openSeconds],
    ["heap of the follower, MiB", ({ heapBytes }) => heapBytes / MEBIBYTE],
    ["first minute at rest, engine alone: processor", ({ idle }) => idle.engineMs],
    ["first minute at rest, followed: processor", ({ idle }) => idle.followedMs],
    ["third minute, engine alone: processor", ({ laterIdle }) => laterIdle?.[1].engineMs],
    ["third minute, followed: processor", ({ laterIdle }) => laterIdle?.[1].followedMs],
    ["at rest, followed: bytes written", ({ idle }) => idle.written],
    ["write to found: median", ({ findable }) => findable.median],
    ["write to found: median, processor", ({ findable }) => findable.processorMs],
    ["write to found: p99", ({ findable }) => findable.p99],
    ["a search of the engine", ({ unchanged }) => cost(unchanged.engine)],
    ["the same of the workspace, nothing changed", ({ unchanged }) => cost(unchanged.workspace)],
    ...peerNames(workspaces).map((name): WorkspaceRow => [
      `the same of ${name}`,
      ({ peers }) => {
        const peer = peers.find((one) => one.name === name);
        return peer && cost(peer.cost);
      },
    ]),
  ];
  return {
    title: "A folder that is followed: ms, and processor time in parentheses",
    head: ["", ...workspaces.map(({ name }) => name)],
    rows: workspaces.length > 0 ? rows.map(([what, of]) => [what, ...workspaces.map(of)]) : [],
  };
}

const peerNames = (workspaces: readonly WorkspaceFigures[]): string[] => [
  ...new Set(workspaces.flatMap(({ peers }) => peers.map(({ name }) => name))),
];

export function changedTable({ workspaces = [] }: Measured): Table {
  return {
    title: "A search when files have changed: ms, and processor time in parentheses",
    head: ["", "changed files", "the first search", "the next ones"],
    rows: workspaces.flatMap(({ name, changed }) =>
      changed.map(({ files, first, next }) => [name, files, cost(first), cost(next)]),
    ),
  };
}

export function workTreeTable({ workTrees }: Measured): Table {
  return {
    title: "Followed work trees of one repository: what each one after the first takes",
    head: ["work trees", "files", "MB each", "on disk, MB", "heap, MiB", "to create and follow, s"],
    rows: workTrees
      ? [
          [
            figure(workTrees.trees),
            workTrees.files,
            workTrees.bytes / 1e6,
            workTrees.diskBytes / 1e6,
            workTrees.heapBytes / MEBIBYTE,
            workTrees.seconds,
          ],
        ]
      : [],
  };
}

export function frontTable({ cluster }: Measured): Table {
  const { single, fronts = [] } = cluster ?? {};
  const rows = [
    ...(single
      ? [{ name: "one engine", nodesProcessorMs: undefined, slices: undefined, ...single }]
      : []),
    ...fronts.map((front) => ({ name: `a front over ${front.nodes}`, ...front })),
  ];
  return {
    title: "A cluster on one machine: ms for a search, and processor time for a rare literal",
    head: [
      "",
      "slices",
      "rare literal",
      "95th percentile",
      "every file",
      "processor: front",
      "processor: all nodes",
    ],
    rows: rows.map(({ name, slices, rare, frequent, processorMs, nodesProcessorMs }) => [
      name,
      slices,
      rare.median,
      rare.p95,
      frequent.median,
      processorMs,
      nodesProcessorMs,
    ]),
  };
}

export function clusterTable({ cluster }: Measured): Table {
  const title = "What else a cluster takes";
  if (!cluster) return { title, head: [], rows: [] };
  const { publish, fetch, memory, many } = cluster;
  const megabytes = (bytes: number): string => `${figure(bytes / 1e6)} MB`;
  return {
    title,
    head: ["", "clock", "processor time", "memory, MiB"],
    rows: [
      [
        `from commit of ${megabytes(publish.bytes)} until the front searches it, ms`,
        publish.ready.median,
        undefined,
        undefined,
      ],
      [`index() of ${megabytes(publish.bytes)}, ms`, publish.index.median, undefined, undefined],
      [
        `a node starts and fetches ${megabytes(fetch.bytes)}, s`,
        fetch.seconds,
        fetch.processorMs / 1000,
        undefined,
      ],
      [
        `a node with ${memory.segments} segments`,
        undefined,
        undefined,
        mebibytesOf(memory.anonymousBytes),
      ],
      [
        `a node and front with ${figure(many.repositories)} repositories starts, s`,
        many.start.seconds,
        many.start.processorMs / 1000,
        mebibytesOf(many.anonymousBytes),
      ],
      [`one more repository, until it is found, ms`, many.publish.median, undefined, undefined],
    ],
  };
}

export function manyTable({ many }: Measured): Table {
  return {
    title: "Many repositories",
    head: ["repositories", "MB each", "index, s", "own memory, MiB", "rare literal, ms"],
    rows: many ? [manyRow(many)] : [],
  };
}

const manyRow = ({
  repositories,
  bytesEach,
  seconds,
  anonymousBytes,
  rare,
}: ManyFigures): Cell[] => [
  figure(repositories),
  bytesEach / 1e6,
  seconds,
  mebibytesOf(anonymousBytes),
  rare.median,
];
