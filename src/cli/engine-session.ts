/** Opens an engine for the duration of one command. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Engine, OpenOptions } from "../engine.ts";
import type { Io } from "./io.ts";

/**
 * The maximum size of an index that is searched without threads, in bytes. Starting four threads takes 0.2 s of
 * processor time.
 */
const SMALL_INDEX_BYTES = 16 * 2 ** 20;

/** Returns options for an engine that runs only one search. */
export function forOneSearch(db: string): OpenOptions & { db: string } {
  const file = statSync(join(db, "quern.mdb"), { throwIfNoEntry: false });
  const isSmall = (file?.size ?? 0) <= SMALL_INDEX_BYTES;
  return { db, readOnly: true, ...(isSmall && { workers: 0 }) };
}

/** Returns a listener that prints warnings of an engine. */
export const warnOn =
  ({ stderr }: Pick<Io, "stderr">): NonNullable<OpenOptions["onWarning"]> =>
  ({ code, message }) =>
    void stderr.write(`quern: warning: ${code}: ${message}\n`);

export async function withEngine<T>(
  io: Io,
  { db, ...options }: OpenOptions & { db: string },
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  // loaded only here, because this module loads most of the code, and --help does not need that
  const { open } = await import("../opened-engine.ts");
  const engine = await open(db, { ...options, onWarning: warnOn(io) });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}
