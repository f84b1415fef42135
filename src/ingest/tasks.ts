/**
 * Lists the tasks that worker threads run for an index run. The tasks of the lane "ingest" share one session per
 * thread. The walk of a folder uses the lane "list".
 */

import { lazily } from "../base/out-of-files.ts";
import { threadEnvironment } from "../store/lmdb/thread-environment.ts";
import { segmentTarget } from "../store/segments/segment-target.ts";
import type { Task, TaskContext } from "../threads/task.ts";
import type { Batch, BatchResult, FinishResult } from "./run/batch.ts";
import { editionTask } from "./symbols/edition-task.ts";
import type { KnownInput, KnownOutput } from "./symbols/known-symbols.ts";
import { mergeTask } from "./run/merging.ts";
import { SegmentSession } from "./run/segment-session.ts";
import type { SymbolsInput, SymbolsOutput } from "./symbols/symbol-task.ts";
import { walkTask } from "./sources/walk-elsewhere.ts";
import type { HistoryInput, HistoryOutput } from "./history/history-task.ts";
import type { HistoryMergeInput } from "./history/merge-task.ts";
import type { WrittenHistory } from "../store/history/history-builder.ts";
import type { WordsInput } from "./words/words-task.ts";

const session = (context: TaskContext): SegmentSession =>
  context.memo("ingest session", () => {
    const environment = threadEnvironment(context);
    return new SegmentSession((segment, owner) => segmentTarget(environment, segment, owner));
  });

const add: Task<Batch, BatchResult> = (batch, context) =>
  session(context).add(batch, () => context.pause());

const finish: Task<readonly number[], FinishResult> = (segments, context) =>
  session(context).finish(segments);

const discard: Task<undefined, void> = (_, context) => session(context).discard();

// loaded only when they are needed; those of symbols import the queries of forty languages
const knownSymbols = lazily(() => import("./symbols/known-symbols.ts"));
const symbolTask = lazily(() => import("./symbols/symbol-task.ts"));
const wordsTask = lazily(() => import("./words/words-task.ts"));
const historyTask = lazily(() => import("./history/history-task.ts"));
const historyMergeTask = lazily(() => import("./history/merge-task.ts"));

const known: Task<KnownInput, KnownOutput> = async (input, context) =>
  (await knownSymbols()).knownTask(input, context);

const symbols: Task<SymbolsInput, SymbolsOutput> = async (input, context) =>
  (await symbolTask()).symbolsTask(input, context);

const words: Task<WordsInput, void> = async (input, context) =>
  (await wordsTask()).wordsTask(input, context);

const history: Task<HistoryInput, HistoryOutput> = async (input, context) =>
  (await historyTask()).historyTask(input, context);

const historyMerge: Task<HistoryMergeInput, WrittenHistory> = async (input, context) =>
  (await historyMergeTask()).historyMergeTask(input, context);

export const INGEST_TASKS = {
  "ingest.add": add,
  "ingest.finish": finish,
  "ingest.discard": discard,
  "ingest.merge": mergeTask,
  "ingest.known": known,
  "ingest.symbols": symbols,
  "ingest.edition": editionTask,
  "ingest.walk": walkTask,
  "ingest.words": words,
  "ingest.history": history,
  "ingest.historyMerge": historyMerge,
};
