/** Defines the tasks that threads run for searches, in the lane "search". */

import { collectGarbage } from "../../base/collect-garbage.ts";
import { QuernError } from "../../base/errors.ts";
import { readManifest } from "../../store/catalog/manifest.ts";
import { FIRST_MEMORY_SEGMENT } from "../../store/format/format.ts";
import { isCorrupt, unlessCorrupt } from "../../store/format/sealed.ts";
import { threadEnvironment } from "../../store/lmdb/thread-environment.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { withSegments } from "../../store/memory/memory-store.ts";
import type { SharedMemory } from "../../store/segments/shared-memory.ts";
import type { Task, TaskContext } from "../../threads/task.ts";
import { answerBytes } from "../messages/answer-size.ts";
import { Control, STOPPED } from "../messages/control.ts";
import { explainSegments } from "./explain-task.ts";
import { matchTexts, type TextsQuestion } from "../meaning/match-texts.ts";
import {
  nothingFound,
  type ExplainResult,
  type SearchInput,
  type SearchOutput,
  type ShowInput,
  type ShownFile,
  type ShowResult,
} from "../messages/messages.ts";
import { hintsFor, meaningInSlices, type Meaning, type QueryText } from "../meaning/meaning.ts";
import { inOneBuffer } from "../messages/packed-chunks.ts";
import { unpackPlan } from "../messages/plan.ts";
import { prepareInTime, prepareQuery } from "./planning/prepare.ts";
import { SearchRun } from "./search-task.ts";
import { showFile } from "./showing/show.ts";
import { openDefinitions, ThreadTools, type Caches } from "./reading/thread-tools.ts";

const TOOLS = "search tools";
/** The memo() key of the memory that this thread shares with other threads. */
const SHARED = "shared memory";

export const toolsOf = (context: TaskContext): ThreadTools =>
  context.memo(TOOLS, () => new ThreadTools(context.isInline, sharedBy(context)));

const sharedBy = (context: TaskContext): Pick<Caches, "shared"> =>
  context.memo(SHARED, () => context.environment as Pick<Caches, "shared">);

/** Returns the control functions of a task that is never stopped. */
const endless = (context: TaskContext) => ({
  isStopped: () => false,
  giveUp: () => undefined,
  isDue: () => false,
  pause: () => context.pause(),
});

export const snapshotOf = (
  { packed }: Pick<SearchInput, "packed">,
  context: TaskContext,
): Snapshot => withSegments(threadEnvironment(context).snapshot(), packed);

const search: Task<SearchInput, SearchOutput> = async (input, context) => {
  const thread = toolsOf(context);
  const control = new Control(input.shared);
  const stop = {
    isStopped: () => control.stopped !== 0,
    giveUp: () => control.stop(STOPPED.TIMED_OUT),
    isDue: () => control.hasEnded,
    pause: () => context.pause(),
  };
  const tools = thread.forTask(stop);
  const snapshot = snapshotOf(input, context);
  const mark = thread.arena.mark();
  try {
    const query = await prepareInTime(unpackPlan(input.plan), tools);
    if (!query) return nothingFound();
    const run = new SearchRun({
      input,
      worker: context.worker,
      query,
      control,
      snapshot,
      thread,
      tools,
      context,
    });
    return withoutGone(await run.run(), input, context);
  } finally {
    thread.arena.release(mark);
    snapshot.close();
  }
};

/**
 * Changes the failure of each segment that was deleted during the search to "gone". Such a segment may have been
 * reported as damaged, because its values or its text are missing.
 */
function withoutGone(output: SearchOutput, input: SearchInput, context: TaskContext): SearchOutput {
  const parts = output.parts.map((part) =>
    part.failure && !isNamed(input.segments[part.position]!.segment, context)
      ? { ...part, failure: { ...part.failure, kind: "gone" as const } }
      : part,
  );
  return { ...output, parts };
}

/**
 * Returns true if the segment still exists, which means that it is in memory or the newest manifest refers to it. Also
 * returns true if the manifest cannot be read.
 */
function isNamed(segment: number, context: TaskContext): boolean {
  if (segment >= FIRST_MEMORY_SEGMENT) return true;
  const snapshot = threadEnvironment(context).snapshot();
  try {
    const manifest = unlessCorrupt(() => readManifest(snapshot));
    return manifest?.segments.some((one) => one.segment === segment) ?? true;
  } finally {
    snapshot.close();
  }
}

const show: Task<ShowInput, ShowResult> = async (input, context) => {
  const thread = toolsOf(context);
  const control = new Control(input.shared);
  const tools = thread.forTask({
    isStopped: () => control.hasEnded,
    giveUp: () => undefined,
    isDue: () => control.hasEnded,
    pause: () => context.pause(),
  });
  const snapshot = snapshotOf(input, context);
  const mark = thread.arena.mark();
  try {
    const { pause } = tools;
    const query = await prepareQuery(unpackPlan(input.plan), tools);
    const { contextLines, whole, enclosing, isBestFirst } = input;
    const files: (ShownFile | undefined)[] = [];
    const disagreements: string[] = [];
    const onDisagreement = (message: string) => void disagreements.push(message);
    const how = { contextLines, whole, enclosing, isBestFirst, pause, onDisagreement };
    let contentBytesLoaded = 0;
    for (const { segment, file, sets, skip, most, symbols: edition } of input.files) {
      if (control.isFull) break;
      const opened = thread.open(snapshot, segment);
      const symbols =
        opened && (await unlessDamaged(() => openDefinitions(snapshot, opened, edition)));
      if (!opened || symbols === "gone") return "gone";
      const { reader } = opened;
      const isInSet = (set: number) => sets[set]!;
      const result = await unlessDamaged(() =>
        showFile(
          { query, tools, snapshot, ...how },
          { reader, symbols, file, sets: isInSet, skip, most: control.rangesWithRoom(most) },
        ),
      );
      if (!result && !isNamed(segment, context)) return "gone";
      files.push(result?.shown);
      if (result) control.takeRoom(answerBytes(result.shown));
      contentBytesLoaded += result?.bytesLoaded ?? 0;
      const wait = context.pause();
      if (wait) await wait;
    }
    const packed = inOneBuffer(files);
    context.transfer(packed.buffer);
    return { files: packed.files, contentBytesLoaded, disagreements };
  } finally {
    thread.arena.release(mark);
    snapshot.close();
  }
};

const explain: Task<Pick<SearchInput, "plan" | "segments" | "packed">, ExplainResult> = async (
  input,
  context,
) => {
  const thread = toolsOf(context);
  const tools = thread.forTask(endless(context));
  const snapshot = snapshotOf(input, context);
  const mark = thread.arena.mark();
  try {
    const query = await prepareQuery(unpackPlan(input.plan), tools);
    return await explainSegments(input, { query, snapshot, thread, tools });
  } finally {
    thread.arena.release(mark);
    snapshot.close();
  }
};

const meaning: Task<QueryText & { readonly stop: Int32Array }, Meaning> = (
  { stop, ...asked },
  context,
) =>
  meaningInSlices(asked, () => {
    if (Atomics.load(stop, 0) !== 0) throw new QuernError("ABORTED", "nobody waits for it");
    return context.pause();
  });

const hints: Task<QueryText, ReturnType<typeof hintsFor>> = hintsFor;

const texts: Task<TextsQuestion, Uint32Array> = (input, context) =>
  matchTexts(input, toolsOf(context).forTask(endless(context)), () => context.pause());

/** Releases everything that this thread has cached. From now on, the thread shares the given memory. */
const trim: Task<SharedMemory | undefined, void> = (shared, context) => {
  context.forget(SHARED);
  context.memo(SHARED, () => ({ shared }));
  context.forget(TOOLS);
  if (!context.isInline) collectGarbage();
};

async function unlessDamaged<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isCorrupt(error)) return undefined;
    throw error;
  }
}

export const SEARCH_TASKS = {
  "search.meaning": meaning,
  "search.hints": hints,
  "search.texts": texts,
  "search.segments": search,
  "search.show": show,
  "search.explain": explain,
  "search.trim": trim,
};
