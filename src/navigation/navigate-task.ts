/**
 * The task of navigation: opens the files of the repository, answers the question, and sends the places. It runs in the
 * lane "list", so that searches come first whenever it pauses.
 */

import { Control } from "../search/messages/control.ts";
import { ThreadTools } from "../search/thread/reading/thread-tools.ts";
import { threadEnvironment } from "../store/lmdb/thread-environment.ts";
import { withSegments } from "../store/memory/memory-store.ts";
import type { Task } from "../threads/task.ts";
import { Grammars } from "./grammars.ts";
import { IndexedFiles, newFactsCache } from "./indexed-files.ts";
import { RULES } from "./languages/languages.ts";
import type { NavigationInput, NavigationMessage, NavigationResult } from "./messages.ts";
import { Question } from "./question.ts";

/** How often a streamed task posts the places that it has found, in milliseconds. */
const POST_MS = 50;

/** What a thread keeps from one question to the next. */
const newMemory = (isInline: boolean) => ({
  tools: new ThreadTools(isInline),
  grammars: new Grammars(),
  cache: newFactsCache(),
});

export const navigateTask: Task<NavigationInput, NavigationResult> = async (input, context) => {
  const memory = context.memo("navigation", () => newMemory(context.isInline));
  const control = new Control(input.shared);
  const snapshot = withSegments(threadEnvironment(context).snapshot(), input.packed);
  try {
    const segments = [];
    for (const { segment, scope } of input.segments) {
      const opened = memory.tools.open(snapshot, segment);
      if (!opened) return "gone";
      segments.push({ reader: opened.reader, scope });
    }
    const files = new IndexedFiles(segments, { ...memory, snapshot });
    for (const rules of RULES) {
      // a grammar is loaded only if the repository has files of its language
      for (const path of files.paths)
        if (files.rules(path) === rules) {
          await memory.grammars.prepare(rules);
          break;
        }
    }
    const question = new Question(files, input, {
      hasEnded: () => control.hasEnded,
      pause: () => context.pause(),
    });
    let posted = performance.now();
    const post = (message: NavigationMessage): void => context.post(message);
    return await question.answer((message) => {
      if (!input.isStreamed || performance.now() - posted < POST_MS) return false;
      posted = performance.now();
      post(message());
      return true;
    });
  } finally {
    snapshot.close();
  }
};
