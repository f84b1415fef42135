/** The maximum number of calls of `run` at the same time. Each call sends or fetches an object. */
const AT_ONCE = 4;

/**
 * Calls `run` for all items, for up to AT_ONCE of them at the same time. Starts no further call after the first
 * failure.
 */
export async function eachOf<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const left = all[Symbol.iterator]();
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    for (const one of left) {
      if (hasFailed) return;
      await run(one).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  for (const one of lanes) if (one.status === "rejected") throw one.reason;
}
