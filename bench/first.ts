/**
 * Measures searches that are asked for the first time: npx tsx bench/first.ts --index INDEX --folder FOLDER. INDEX is a
 * data directory with the files of FOLDER. Each of `--words` random identifiers of these files is asked once, after
 * open() and some idle seconds.
 *
 * `--engine URL` measures another build of quern as well, such as that of an older commit; it may be repeated, and
 * `--other INDEX` gives these builds an index of their own. `--zoekt FOLDER` starts zoekt's server on its own index. All
 * of them are asked in turn, so that a busy machine slows down all of them. zoekt's times are those that it reports
 * itself, because its HTTP interface takes another 1.3 to 2.4 ms.
 */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { filesOf } from "./corpus.ts";
import { randomNumbers } from "./generated.ts";
import { zoektServer } from "./peer-zoekt.ts";
import { startSubject, type Subject } from "./quern.ts";
import { geometricMean, spreadOf } from "./statistics.ts";

const { values: flags } = parseArgs({
  options: {
    index: { type: "string", default: "index" },
    folder: { type: "string", default: "." },
    other: { type: "string" },
    engine: { type: "string", multiple: true, default: [] },
    zoekt: { type: "string" },
    words: { type: "string", default: "500" },
    idle: { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
  },
});

/** The classes of words by their number of matches. Each number is the first that no longer belongs to the class. */
const CLASSES = [10, 100, 1000, 10_000, Infinity];

/**
 * Returns random identifiers. The first half are drawn from a list of distinct identifiers, so most of them are rare.
 * The others are drawn from the text, where frequent identifiers are more likely.
 */
function drawWords(folder: string, count: number, seed: number): string[] {
  const random = randomNumbers(seed);
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const files = [...filesOf(folder)];
  const texts = Array.from({ length: 600 }, () => readFileSync(pick(files)!, "latin1"));
  const inText = texts.flatMap((text) => text.match(/[A-Za-z_]\w{4,40}/g) ?? []);
  const distinct = [...new Set(inText)];
  const words = new Set<string>();
  while (words.size < count) words.add(pick(words.size < count / 2 ? distinct : inText)!);
  return [...words].sort(() => random() - 0.5);
}

interface Row {
  readonly matches: number;
  /** The milliseconds of each subject, in the order of `subjects`. */
  readonly times: readonly number[];
}

interface Asked {
  readonly name: string;
  readonly ask: (word: string) => Promise<{ readonly ms: number; readonly matches: number }>;
  readonly end: () => Promise<void>;
}

function quern(name: string, subject: Subject): Asked {
  const ask = (word: string) =>
    subject.do("first", { request: { query: `"${word}"`, matches: 50 } });
  return { name, ask, end: () => subject.end() };
}

async function openQuern(name: string, path: string, url?: string): Promise<Asked> {
  const subject = await startSubject(url);
  await subject.do("open", { path, workers: 2, memoryBudget: 256 * 2 ** 20 });
  return quern(name, subject);
}

async function zoekt(folder: string): Promise<Asked> {
  const server = await zoektServer(folder);
  const options = {
    ShardMaxMatchCount: 1e9,
    TotalMaxMatchCount: 1e9,
    MaxDocDisplayCount: 50,
    MaxMatchDisplayCount: 50,
  };
  await server.search(["zoekt"], options);
  const ask = async (word: string) => {
    const result = await server.search([`content:"${word}"`, "case:no"], options);
    return { ms: result.Duration / 1e6, matches: result.MatchCount };
  };
  return { name: "zoekt", ask, end: () => server.close() };
}

const subjects = [await openQuern("quern", flags.index)];
for (const [i, engine] of flags.engine.entries())
  subjects.push(
    await openQuern(`engine ${i + 1}`, flags.other ?? flags.index, pathToFileURL(engine).href),
  );
if (flags.zoekt !== undefined) subjects.push(await zoekt(flags.zoekt));
await sleep(1000 * Number(flags.idle));

const rows: Row[] = [];
for (const word of drawWords(flags.folder, Number(flags.words), Number(flags.seed))) {
  const answers = [];
  for (const { ask } of subjects) answers.push(await ask(word));
  rows.push({ matches: answers[0]!.matches, times: answers.map(({ ms }) => ms) });
}
for (const { end } of subjects) await end();

console.log(`milliseconds, and times of the others divided by quern's: ${rows.length} words`);
for (const [i, most] of [...CLASSES.entries(), [-1, Infinity] as const]) {
  const least = i > 0 ? CLASSES[i - 1]! : 0;
  const some = rows.filter(({ matches }) => matches >= least && matches < most);
  if (some.length === 0) continue;
  const columns = subjects.map(({ name }, column) => {
    const { median, p95 } = spreadOf(some.map(({ times }) => times[column]!));
    const ratio = geometricMean(some.map(({ times }) => times[column]! / times[0]!))!;
    return `${name} ${median.toFixed(2)} (95 %: ${p95.toFixed(2)}; × ${ratio.toFixed(2)})`;
  });
  const what = i < 0 ? "all" : `${least} to ${most}`;
  console.log(`${what}: ${some.length} words; ${columns.join("; ")}`);
}
