/** Forty repositories at once; `node --import tsx scripts/sync-many.ts` does the same with a thousand. */

import { expect, test } from "vitest";
import { syncMany } from "./many.ts";
import { serveRemotes } from "./remotes.ts";
import { openWorkplace } from "./workplace.ts";

test("forty repositories are synced, again, and after some have changed", async () => {
  const remotes = await serveRemotes();
  const { engine } = await openWorkplace();
  const phases = await syncMany(40, { remotes, engine });
  expect(phases).toHaveLength(4);
  // each is asked for its references in every run, and twice more where it is fetched
  const asked = 40 + 40 + 38;
  const fetched = 40 + 2;
  const posts = remotes.requests.filter((line) => line.startsWith("POST"));
  expect(posts.length).toBeLessThanOrEqual(asked + 2 * fetched);
}, 300_000);
