/** An engine for the time of one command. */

import { open, type Engine, type OpenOptions } from "../engine.ts";
import type { Io } from "./io.ts";

export async function withEngine<T>(
  io: Io,
  { db, ...options }: OpenOptions & { db: string },
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
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
