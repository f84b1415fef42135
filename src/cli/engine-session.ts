/** An engine for the time of one command. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Engine, OpenOptions } from "../engine.ts";
import type { Io } from "./io.ts";

/** An index of this size is searched before threads have started: 4 of them take 0.2 s of processor time. */
const SMALL_INDEX_BYTES = 16 * 2 ** 20;

/** Options for one question. */
export function forOneSearch(db: string): OpenOptions & { db: string } {
  const file = statSync(join(db, "quern.mdb"), { throwIfNoEntry: false });
  const isSmall = (file?.size ?? 0) <= SMALL_INDEX_BYTES;
  return { db, readOnly: true, ...(isSmall && { workers: 0 }) };
}

export async function withEngine<T>(
  io: Io,
  { db, ...options }: OpenOptions & { db: string },
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const { open } = await import("../engine.ts"); // most of what there is to load, and help needs none of it
  const engine = await open(db, {
    ...options,
    onWarning: ({ code, message }) => io.stderr.write(`quern: warning: ${code}: ${message}\n`),
  });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}
