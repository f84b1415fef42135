/** Twenty repositories at once; `node --import tsx scripts/sync-many.ts` does the same with a thousand. */

import { expect, test } from "vitest";
import { syncMany } from "./many.ts";
import { serveRemotes } from "./remotes.ts";
import { openWorkplace } from "./workplace.ts";
import { isInTurn } from "../runs.ts";

test.runIf(isInTurn(3))(
  "twenty repositories are synced, again, and after some have changed",
  async () => {
    const remotes = await serveRemotes();
    const { engine } = await openWorkplace();
    const phases = await syncMany(20, { remotes, engine });
    expect(phases).toHaveLength(4);
    // each is asked for its references in every run, and twice more where it is fetched
    const asked = 20 + 20 + 19;
    const fetched = 20 + 1;
    const posts = remotes.requests.filter((line) => line.startsWith("POST"));
    expect(posts.length).toBeLessThanOrEqual(asked + 2 * fetched);
  },
);
