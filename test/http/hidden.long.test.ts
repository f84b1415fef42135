/** Repositories that a caller may not see change nothing in an engine's answers. */

import { test } from "vitest";
import { openEngine } from "../engine/opened.ts";
import { checkHidden } from "./hidden-suite.ts";

test("a caller gets the answers of an engine that has only the caller's repositories, whatever the others contain", () =>
  checkHidden(openEngine, 3));
