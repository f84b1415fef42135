/** Cuts the lines of changes and commits that were found into chunks. */

import { QuernError } from "../base/errors.ts";
import { decodeText } from "../base/decode-text.ts";
import { Control } from "../search/messages/control.ts";
import { cutChunks } from "../search/thread/showing/chunks.ts";
import { Lines } from "../search/thread/showing/positions.ts";
import { isCorrupt } from "../store/format/sealed.ts";
import type { HistoryReader } from "../store/history/history-reader.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import { threadEnvironment } from "../store/lmdb/thread-environment.ts";
import type { Task, TaskContext } from "../threads/task.ts";
import type { Failure, ShowChangesInput, ShownPart, ShownUnit, UnitToShow } from "./messages.ts";
import { sidesOf } from "./search-task.ts";
import { rangesOfUnit } from "./unit-ranges.ts";
import { TextFinder, type FinderTools } from "./text-finder.ts";
import { changesThread } from "./thread.ts";

export const showChangesTask: Task<ShowChangesInput, ShownUnit[] | Failure> = async (
  input,
  context,
) => {
  const control = new Control(input.shared);
  const thread = changesThread(context);
  const { tools } = thread;
  const snapshot = threadEnvironment(context).snapshot();
  const mark = tools.arena.mark();
  try {
    const reader = thread.open(snapshot, input.segment);
    if (!reader) return "gone";
    const showing = new Showing(input, { reader, snapshot, tools, context });
    const shown: ShownUnit[] = [];
    for (const unit of input.units) {
      if (control.hasEnded) return "stopped";
      shown.push(await showing.show(unit));
      const wait = context.pause();
      if (wait) await wait;
    }
    return shown;
  } catch (error) {
    if (isCorrupt(error)) return "damaged";
    throw error;
  } finally {
    tools.arena.release(mark);
    snapshot.close();
  }
};

interface ShowParts {
  readonly reader: HistoryReader;
  readonly snapshot: Snapshot;
  readonly tools: FinderTools;
  readonly context: TaskContext;
}

class Showing {
  readonly #input: ShowChangesInput;
  readonly #parts: ShowParts;
  readonly #finders = new Map<number, TextFinder>();

  constructor(input: ShowChangesInput, parts: ShowParts) {
    this.#input = input;
    this.#parts = parts;
  }

  async show(wanted: UnitToShow): Promise<ShownUnit> {
    const { reader, snapshot } = this.#parts;
    const { type } = this.#input.plan;
    const { commits, changes } = reader;
    const commit = type === "diff" ? changes.commits[wanted.unit]! : wanted.unit;
    const hash = reader.commitId(commit);
    const path = type === "diff" && reader.paths(snapshot)[changes.paths[wanted.unit]!]!;
    const parts = await this.#partsOf(wanted);
    return {
      name: path === false ? hash : decodeText(Buffer.from(path, "latin1")),
      isNamed: wanted.texts.length === 0,
      commit: {
        hash,
        parents: reader.parentsOf(commit),
        author: reader.people(snapshot)[commits.authors[commit]!]!,
        date: commits.committed[commit]!,
        message: decodeText(reader.message(snapshot, commit)),
      },
      parts,
    };
  }

  async #partsOf({ unit, texts, skip, count }: UnitToShow): Promise<ShownPart[]> {
    if (texts.length === 0) return [];
    const { plan, contextLines } = this.#input;
    const finders = texts.map((atom) => ({
      finder: this.#finder(atom),
      sides: sidesOf(plan.atoms[atom]!),
    }));
    const { context } = this.#parts;
    const parts: ShownPart[] = [];
    let [toSkip, left] = [skip, count];
    for (const part of rangesOfUnit(plan.type, unit, { ...this.#parts, finders })) {
      const own = part.pairs.length / 2;
      const from = Math.min(toSkip, own);
      toSkip -= from;
      const to = Math.min(own, from + left);
      left -= to - from;
      if (to > from) {
        const text = Buffer.from(part.text.buffer, part.text.byteOffset, part.text.length);
        const chunks = await cutChunks(
          new Lines(text, (a, b) => newlinesIn(text, a, b)),
          part.pairs.subarray(2 * from, 2 * to),
          {
            contextLines,
            symbolOf: () => undefined,
            enclosing: undefined,
            pause: () => context.pause(),
            isStopped: () => false,
          },
        );
        const { side, firstLine, firstByte } = part;
        parts.push({ side, firstLine, firstByte, chunks });
      }
      if (left === 0) break;
    }
    return parts;
  }

  #finder(atom: number): TextFinder {
    const known = this.#finders.get(atom);
    if (known) return known;
    const { atoms, type } = this.#input.plan;
    const text = atoms[atom]!;
    if (text.kind !== "text") throw new QuernError("INTERNAL", "only text atoms have ranges");
    const finder = new TextFinder(text, type === "diff", this.#parts.tools);
    this.#finders.set(atom, finder);
    return finder;
  }
}

function newlinesIn(text: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf(10, from); at >= 0 && at < to; at = text.indexOf(10, at + 1)) count++;
  return count;
}
