/** A repository indexed under the name `r`, and its history. */

import { git as source, type Engine, type History, type OpenOptions } from "../../src/index.ts";
import { openEngine } from "../engine/opened.ts";

export async function openHistory(
  folder: string,
  options: OpenOptions = {},
): Promise<{ engine: Engine; history: History }> {
  const engine = await openEngine(options);
  await engine.index(source(folder, { name: "r" }), { symbols: "skip" });
  return { engine, history: (await engine.history("r"))! };
}

/** Resolves to what `work` resolves to, or to the code of its error. */
export const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: { code?: string }) => error.code,
  );
