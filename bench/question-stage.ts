/**
 * Measures every question with quern (one worker, two workers, with a text cache, stream) and with each peer, one tool
 * after another, all warm.
 */

import type { SearchRequest } from "../src/search/messages/request.ts";
import { agree } from "./agreement.ts";
import { MEBIBYTE } from "./index-stage.ts";
import type { Corpus, Peer } from "./peer.ts";
import type { PeerName } from "./peer-names.ts";
import type { Question } from "./queries.ts";
import { startSubject, type Subject } from "./quern.ts";
import type { EngineFigures, PeerFigures, QuestionFigures } from "./record.ts";
import { sample, spreadOf, timed, WARMING, type Patience } from "./statistics.ts";

/** Returns a request for exact counts, and for the first 50 matches with their chunks. */
export const requestOf = (question: Question): SearchRequest => ({
  query: question.query,
  matches: 50,
  isRegexEnabled: question.isRegex,
  isCaseSensitivityEnabled: question.isCaseSensitive,
});

export interface Asking {
  readonly corpus: Corpus;
  /** The data directory of quern. */
  readonly path: string;
  readonly peers: readonly Peer[];
  readonly questions: readonly Question[];
  readonly patience: Patience;
  readonly onQuestion: (figures: QuestionFigures) => void;
}

export interface Answers {
  readonly questions: QuestionFigures[];
  readonly failures: string[];
  readonly anonymousBytes: number | undefined; // the peak of the process with two workers
  readonly residentBytes: NonNullable<EngineFigures["searchResidentBytes"]>;
}

export async function askAll(asking: Asking): Promise<Answers> {
  const { path, peers } = asking;
  const subjects = {
    one: await searcher(path, 1),
    two: await searcher(path, 2),
    checker: await searcher(path, 2),
  };
  const failures: string[] = [];
  const questions: QuestionFigures[] = [];
  for (const question of asking.questions)
    for (const subject of [subjects.one, subjects.two])
      await subject.do("ask", { request: requestOf(question), patience: WARMING });
  for (const question of asking.questions) {
    try {
      const figures = await askEverybody(asking, question, subjects);
      questions.push(figures);
      failures.push(...disputesOf(figures));
      asking.onQuestion(figures);
    } catch (error) {
      failures.push(`${question.name}: ${String(error)}`);
    }
  }
  const { anonymousBytes } = subjects.two.peak();
  const residentBytes = {
    quern: subjects.two.peak().residentBytes,
    zoekt: peers.find(({ name }) => name === "zoekt")?.peak?.().residentBytes,
  };
  for (const subject of Object.values(subjects)) await subject.end();
  return { questions, failures, anonymousBytes, residentBytes };
}

/**
 * The processes that run quern. `checker` is separate, so that its work does not count in the figures of the others.
 */
type Subjects = Readonly<Record<"one" | "two" | "checker", Subject>>;

async function askEverybody(
  asking: Asking,
  question: Question,
  subjects: Subjects,
): Promise<QuestionFigures> {
  const { checker } = subjects;
  const ours = await askQuern(question, asking.patience, subjects);
  const peers: Partial<Record<PeerName, PeerFigures>> = {};
  for (const peer of asking.peers) {
    const figures = await askPeer(asking, { question, peer, ours: ours.matches, checker });
    if (figures) peers[peer.name] = figures;
  }
  return { ...ours, peers };
}

const disputesOf = ({ name, matches, peers }: QuestionFigures): string[] =>
  Object.entries(peers)
    .filter(([, { isExplained }]) => !isExplained)
    .map(([peer, { agreement }]) => `${name}: ${matches} against ${peer}'s ${agreement}`);

export async function searcher(path: string, workers: number): Promise<Subject> {
  const subject = await startSubject();
  await subject.do("open", { path, workers, memoryBudget: 256 * MEBIBYTE });
  return subject;
}

async function askQuern(
  question: Question,
  patience: Patience,
  { one, two }: Subjects,
): Promise<Omit<QuestionFigures, "peers">> {
  const request = requestOf(question);
  const alone = await one.do("ask", { request, patience });
  const both = await two.do("ask", { request, patience });
  const firstChunk = await two.do("firstChunk", { request, patience });
  const counts = [alone, both].map(({ matches }) => matches);
  if (new Set(counts).size > 1 || ![alone, both].every(({ isComplete }) => isComplete))
    throw new Error(`${question.name}: ${counts.join(", ")} with 1 worker and 2`);
  return {
    name: question.name,
    group: question.group,
    query: question.query,
    matches: both.matches,
    files: both.files,
    contentBytes: both.contentBytes,
    quern: {
      one: spreadOf(alone.times),
      two: spreadOf(both.times),
      firstChunk: spreadOf(firstChunk),
    },
  };
}

interface PeerAsking {
  readonly question: Question;
  readonly peer: Peer;
  readonly ours: number;
  readonly checker: Subject;
}

async function askPeer(
  { corpus, patience }: Asking,
  { question, peer, ours, checker }: PeerAsking,
): Promise<PeerFigures | undefined> {
  const words = peer.words(question);
  if (!words) return undefined;
  const theirs = await peer.count(words);
  const count = spreadOf(await sample(() => timed(() => peer.count(words)), patience));
  const first = spreadOf(await sample(() => peer.first(words), patience));
  const perFile = () => checker.do("perFile", { request: requestOf(question) });
  const dispute = { corpus, question, peer, words, theirs, ours, perFile };
  const { text: agreement, isExplained } = await agree(dispute);
  return { words: words.join(" "), count, first, ...theirs, agreement, isExplained };
}
