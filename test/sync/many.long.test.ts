/** Syncs twenty repositories at once. `node --import tsx scripts/sync-many.ts` does the same with a thousand. */

import { expect, test } from "vitest";
import { syncMany } from "./many.ts";
import { serveRemotes } from "./remotes.ts";
import { openWorkplace } from "./workplace.ts";
import { isInTurn } from "../runs.ts";

test.runIf(isInTurn(3))(
  "twenty repositories are synced at first, without changes, and after changes",
  async () => {
    const remotes = await serveRemotes();
    const { engine } = await openWorkplace();
    const phases = await syncMany(20, { remotes, engine });
    expect(phases).toHaveLength(4);
    // each run requests the references of each repository, and a fetch takes two more requests
    const asked = 20 + 20 + 19;
    const fetched = 20 + 1;
    const posts = remotes.requests.filter((line) => line.startsWith("POST"));
    expect(posts.length).toBeLessThanOrEqual(asked + 2 * fetched);
  },
);
