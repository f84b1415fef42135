/** Reports progress to a client that asks for it, so that the client keeps waiting. */

import type { ServerContext } from "@modelcontextprotocol/server";

const EVERY_MS = 500;

/** Runs a call. If the client gave a progress token, reports progress every half second. */
export async function withProgress<T>(
  { _meta, notify }: ServerContext["mcpReq"],
  run: () => Promise<T>,
): Promise<T> {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return run();
  let progress = 0;
  const timer = setInterval(() => {
    const seconds = (++progress * EVERY_MS) / 1_000;
    const params = { progressToken, progress, message: `at work for ${seconds} s` };
    notify({ method: "notifications/progress", params }).catch(() => undefined); // the client has left
  }, EVERY_MS);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}
