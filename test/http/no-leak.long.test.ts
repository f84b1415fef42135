/** No route reveals repositories that the caller may not see. */

import { afterAll, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { openEngineOf } from "./engine.ts";
import { noLeakSuite } from "./no-leak-suite.ts";

let opened: Promise<Engine> | undefined;
afterAll(async () => (await opened)?.close());

noLeakSuite({ test, open: (...given) => (opened ??= openEngineOf(...given)), runs: 18 });
