/**
 * Fuzzes the reader of `git cat-file --batch` with mutated output, cut anywhere. Every request must be settled with an
 * object of the size in its header, with nothing, or with an error of quern's. The places of the cuts must make no
 * difference.
 */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { EventEmitter } from "node:events";
import { QuernError } from "../src/base/errors.ts";
import { ObjectReader, OBJECT_LIMITS, type GitObject } from "../src/git/git-objects.ts";
import { GitProcesses } from "../src/git/git-process.ts";
import { randomFrom } from "../test/regex/random.ts";
import { pieces } from "./pieces.ts";
import { holds, type Target } from "./target.ts";

const REQUESTS = 4;
const LIMITS = { ...OBJECT_LIMITS, maxSize: 4096, deaths: 3 };

export const gitObjects: Target = {
  async check(input) {
    for (const mode of ["--batch", "--batch-check"] as const) {
      const whole = await outcomes(mode, [input]);
      const cut = await outcomes(mode, pieces(input, randomFrom(input.length)));
      holds(whole === cut, `in one piece: ${whole}; in several: ${cut}`);
    }
  },
};

/** Fake processes that write the given output, and end. */
class ScriptedGit extends GitProcesses {
  readonly #output: readonly Buffer[];

  constructor(output: readonly Buffer[]) {
    super(".", new AbortController().signal);
    this.#output = output;
  }

  override start(): ChildProcessWithoutNullStreams {
    return scripted(this.#output) as unknown as ChildProcessWithoutNullStreams;
  }
}

/** The part of a child process that a reader of objects uses. */
function scripted(output: readonly Buffer[]) {
  const stdout = Object.assign(new EventEmitter(), { resume: () => {} });
  const child = Object.assign(new EventEmitter(), {
    stdout,
    stderr: { resume: () => {} },
    stdin: { write: () => setImmediate(write), end: () => {} },
    kill: () => setImmediate(() => child.emit("close")),
  });
  const write = () => {
    for (const piece of output) stdout.emit("data", piece);
    setImmediate(() => child.emit("close"));
  };
  return child;
}

async function outcomes(
  mode: "--batch" | "--batch-check",
  output: readonly Buffer[],
): Promise<string> {
  const git = new ScriptedGit(output);
  const reader = new ObjectReader(git, mode, LIMITS);
  const asked = Array.from({ length: REQUESTS }, (_, n) => reader.read(`request-${n}`));
  const shown = (await Promise.allSettled(asked)).map((result) => show(result, mode));
  reader.close();
  git.kill();
  return shown.join("; ");
}

function show(result: PromiseSettledResult<GitObject | undefined>, mode: string): string {
  if (result.status === "rejected") {
    if (!(result.reason instanceof QuernError)) throw result.reason;
    return result.reason.code;
  }
  const object = result.value;
  if (!object) return "none";
  const { content, size, type, id } = object;
  holds(content.length === (mode === "--batch" ? size : 0), `${content.length} bytes of ${size}`);
  holds(content.buffer.byteLength === content.length, "the content shares its memory");
  return `${id} ${type} ${size} ${Buffer.from(content).toString("hex")}`;
}
