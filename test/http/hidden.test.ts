/** What a caller may not see changes nothing of an engine's answers. */

import { test } from "vitest";
import { openEngine, RUNS } from "../engine/opened.ts";
import { checkHidden } from "./hidden-suite.ts";

test(
  "whoever asks gets the answers of an engine of their repositories alone, whatever the others hold",
  { timeout: 60_000 * RUNS },
  () => checkHidden(openEngine, 12),
);
