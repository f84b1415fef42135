/** Lists the budgets, each with the figure of a record that it limits. */

import { geometricMean } from "./statistics.ts";
import { figure } from "./table.ts";
import type { IndexingFigures, QuestionFigures, Record, Verdict } from "./record.ts";
import { PEER_NAMES, type PeerName } from "./peer-names.ts";
import { MEBIBYTE } from "./index-stage.ts";

type Measured = Omit<Record, "budgets">;

interface Budget {
  readonly what: string;
  readonly limit: number;
  readonly unit: string;
  /** Whether the limit is the most or the least that the figure may be. */
  readonly sense: "most" | "least";
  readonly figure: (record: Measured) => number | undefined;
}

const most = (what: string, limit: number, unit: string, figure: Budget["figure"]): Budget => ({
  what,
  limit,
  unit,
  sense: "most",
  figure,
});
const least = (what: string, limit: number, unit: string, figure: Budget["figure"]): Budget => ({
  what,
  limit,
  unit,
  sense: "least",
  figure,
});

const LOCK = String.raw`[a-z]+_lock\(&?[a-z]+->`;
const NO_LITERAL = "expression without literal";

const BUDGETS: readonly Budget[] = [
  least("slowest question against any peer", 1, "× as fast", (r) => lowest(ratios(r))),
  least("geometric mean against zoekt", 6, "× as fast", (r) => geometricMean(ratios(r, "zoekt"))),
  least("slowest question against zoekt", 1.5, "× as fast", (r) => lowest(ratios(r, "zoekt"))),
  most("rare literals (≤ 50 hits), the slowest", 1.5, "ms", (r) => highest(rare(r).map(median))),
  most("task_struct, either case", 7, "ms", (r) => ofQueries(r, ["task_struct"])),
  most("return -EINVAL, any case", 40, "ms", (r) => ofNames(r, ["return -EINVAL"])),
  most("the, any case", 100, "ms", (r) => ofNames(r, ["the"])),
  least("the, against zoekt", 8, "× as fast", (r) =>
    lowest(ratios(r, "zoekt", { names: ["the"] })),
  ),
  most(LOCK, 50, "ms", (r) => ofNames(r, [LOCK])),
  least(`${LOCK}, against rg`, 8, "× as fast", (r) => lowest(ratios(r, "rg", { names: [LOCK] }))),
  most("expressions with a literal, the slowest", 50, "ms", (r) =>
    highest(ofGroup(r, "expression").map(median)),
  ),
  least("expressions with a literal, the slowest against rg", 8, "× as fast", (r) =>
    lowest(ratios(r, "rg", { names: namesOf(ofGroup(r, "expression")) })),
  ),
  most("alternations of literals", 15, "ms", (r) =>
    ofNames(r, ["(alloc|free)_pages?", "fixme|todo"]),
  ),
  least("expressions without a literal, per thread, the slowest", 1000, "MB/s", (r) =>
    lowest(ofGroup(r, NO_LITERAL).map(throughput)),
  ),
  least("expressions without a literal, the slowest against rg", 3, "× as fast", (r) =>
    lowest(ratios(r, "rg", { names: namesOf(ofGroup(r, NO_LITERAL)) })),
  ),
  most("first chunk of a stream, the slowest", 5, "ms", (r) =>
    highest(
      r.questions.filter(({ matches }) => matches > 0).map(({ quern }) => quern.firstChunk.median),
    ),
  ),
  most("1 000 repositories of 1 MB: rare literal", 5, "ms", (r) =>
    r.many?.repositories === 1000 ? r.many.rare.median : undefined,
  ),
  most("two workers against one, over 20 ms, the worst", 0.65, "× the time", twoAgainstOne),
  most("blocking of the caller by a search", 5, "ms", ({ engine }) => engine.searchStall?.ms),
  most("blocking of the caller by indexing", 5, "ms", (r) =>
    highest(quernRuns(r).flatMap(({ stall }) => (stall ? [stall.ms] : []))),
  ),
  least("indexing without symbols, against zoekt", 8, "× as fast", (r) =>
    indexRatio(r, "zoekt", false),
  ),
  least("indexing without symbols, against csearch", 1, "× as fast", (r) =>
    indexRatio(r, "csearch", false),
  ),
  most("indexing with symbols, against zoekt with ctags", 0.7, "× the time", (r) =>
    inverse(indexRatio(r, "zoekt", true)),
  ),
  most("one changed file, documents", 50, "ms", ({ engine }) => engine.updateDocuments?.median),
  most("one changed file, git", 300, "ms", ({ engine }) => engine.updateGit?.median),
  most("index without content", 0.14, "× content", (r) =>
    sizeRatio(r, (bytes, content) => (bytes - content) / content),
  ),
  most("data directory", 1.25, "× content", (r) =>
    sizeRatio(r, (bytes, content) => bytes / content),
  ),
  ...[64, 256, 1024].map((mebibytes) =>
    most(
      `memory of indexing, budget ${mebibytes} MiB`,
      120 + 2 * 40 + 1.3 * mebibytes,
      "MiB",
      (r) =>
        mebibytesOf(
          quernRuns(r).find(
            (run) => run.memoryBudget === mebibytes * MEBIBYTE && !run.symbols && run.workers === 2,
          )?.anonymousBytes,
        ),
    ),
  ),
  most("memory of a searching process", 150, "MiB", ({ engine }) =>
    mebibytesOf(engine.searchAnonymousBytes),
  ),
  most("open", 30, "ms", ({ engine }) => engine.open?.median),
  most("a followed folder: write to found, the slowest median", 10, "ms", (r) =>
    highest(workspaces(r).map(({ findable }) => findable.median)),
  ),
  most("a followed folder: added to a search when nothing changed", 1, "ms of processor", (r) =>
    highest(
      workspaces(r).map(
        ({ unchanged: { engine, workspace } }) => workspace.processorMs - engine.processorMs,
      ),
    ),
  ),
  most("a followed folder: added to the third minute at rest", 1, "ms of processor", (r) =>
    highest(
      workspaces(r).flatMap(({ laterIdle }) =>
        laterIdle ? [laterIdle[1].followedMs - laterIdle[1].engineMs] : [],
      ),
    ),
  ),
  most("a work tree of a repository that is indexed, 10 MB", 1, "MB on disk", ({ workTrees }) =>
    workTrees ? workTrees.diskBytes / 1e6 : undefined,
  ),
  most(
    "a front over 1 to 8 nodes: added to a rare literal, the worst",
    3,
    "ms",
    ({ cluster }) =>
      cluster &&
      highest(cluster.fronts.map(({ rare }) => rare.median - cluster.single.rare.median)),
  ),
  most(
    "commit of 10 MB to ready, median",
    300,
    "ms",
    ({ cluster }) => cluster?.publish.ready.median,
  ),
];

export function judge(record: Measured): Verdict[] {
  return BUDGETS.map(({ what, limit, unit, sense, figure: measure }) => {
    const measured = measure(record);
    const isMet = sense === "most" ? (measured ?? NaN) <= limit : (measured ?? NaN) >= limit;
    return {
      what,
      budget: `${sense === "most" ? "≤" : "≥"} ${figure(limit)} ${unit}`,
      figure: measured === undefined ? undefined : `${figure(measured)} ${unit}`,
      isMet: measured === undefined ? undefined : isMet,
    };
  });
}

const workspaces = ({ workspaces: all = [] }: Measured) => all;
const median = ({ quern }: QuestionFigures) => quern.two.median;
const lowest = (values: readonly number[]) => (values.length ? Math.min(...values) : undefined);
const highest = (values: readonly number[]) => (values.length ? Math.max(...values) : undefined);
const inverse = (value: number | undefined) => (value === undefined ? undefined : 1 / value);
export const mebibytesOf = (bytes: number | undefined) =>
  bytes === undefined ? undefined : bytes / MEBIBYTE;

const rare = ({ questions }: Measured) =>
  questions.filter(({ group, matches }) => group === "rare literal" && matches <= 50);

const named = ({ questions }: Measured, names: readonly string[]) =>
  questions.filter(({ name }) => names.includes(name));

const ofGroup = ({ questions }: Measured, wanted: string) =>
  questions.filter(({ group }) => group === wanted);

const namesOf = (questions: readonly QuestionFigures[]) => questions.map(({ name }) => name);

const ofNames = (record: Measured, names: readonly string[]) =>
  highest(named(record, names).map(median));

const ofQueries = ({ questions }: Measured, queries: readonly string[]) =>
  highest(questions.filter(({ query }) => queries.includes(query)).map(median));

interface Compared {
  /** The names of the questions. Default: all. */
  readonly names?: readonly string[];
}

/** Returns, for each question that both can answer, how many times as fast as a peer quern is if it counts every match. */
export function ratios(record: Measured, peer?: PeerName, { names }: Compared = {}): number[] {
  const questions = names ? named(record, names) : record.questions;
  const peers = peer ? [peer] : PEER_NAMES;
  return questions.flatMap((question) =>
    peers.flatMap((one) => {
      const [ours, theirs] = [median(question), question.peers[one]?.count.median];
      return ours === undefined || theirs === undefined ? [] : [theirs / ours];
    }),
  );
}

const throughput = ({ contentBytes, quern }: QuestionFigures) =>
  contentBytes / 1e3 / quern.one.median;

function twoAgainstOne({ questions }: Measured): number | undefined {
  const long = questions.filter(({ quern }) => quern.one.median > 20);
  return highest(long.map(({ quern }) => quern.two.median / quern.one.median));
}

const quernRuns = ({ indexing }: Measured): IndexingFigures[] =>
  indexing.filter(({ who }) => who === "quern");

const standardRun = (record: Measured, symbols: boolean) =>
  quernRuns(record).find(
    (run) => run.workers === 2 && run.symbols === symbols && run.memoryBudget === 256 * MEBIBYTE,
  );

function indexRatio(record: Measured, peer: PeerName, symbols: boolean): number | undefined {
  const ours = standardRun(record, symbols);
  const theirs = record.indexing.find((run) => run.who === peer && run.symbols === symbols);
  return ours && theirs && theirs.seconds / ours.seconds;
}

function sizeRatio(
  record: Measured,
  ratio: (bytes: number, content: number) => number,
): number | undefined {
  const run = standardRun(record, true);
  const content = record.engine.contentBytes;
  return run && content ? ratio(run.bytes, content) : undefined;
}
