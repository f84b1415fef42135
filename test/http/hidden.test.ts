/** Repositories that a caller may not see change nothing in an engine's answers. */

import { test } from "vitest";
import { openEngine } from "../engine/opened.ts";
import { checkHidden } from "./hidden-suite.ts";

test("whoever asks gets the answers of an engine of their repositories alone, whatever the others hold", () =>
  checkHidden(openEngine, 3));
