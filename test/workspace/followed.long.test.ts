/**
 * Random changes happen to a folder while it is followed, with every kind of notices, and searched. No answer differs
 * from the state of the disk. `npx tsx fuzz/run.ts workspace` runs longer, and also changes git's branches.
 */

import { test } from "vitest";
import { followRandomChanges, ROWS } from "./random-changes.ts";

test.each(ROWS)(
  "answers are right during random changes (notices: %s; changes of %s)",
  async (notices, _, runs, step) => followRandomChanges(notices, runs, step),
);
