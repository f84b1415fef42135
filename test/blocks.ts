/** The blocks of code on the pages, as modules of a host. */

import { readFileSync } from "node:fs";
import { PAGES } from "./pages.ts";
import { lacks, type Snippet } from "./snippets.ts";

/** The API report has only declarations. */
const WITH_CODE = PAGES.filter((page) => page !== "docs/api-report.md");

/** Blocks of a page go on with the engine that an earlier block has opened. */
const PRELUDE = `import { open as openEngine } from "quern";\nconst engine = await openEngine("./.quern");\n`;

export const blocks: readonly Snippet[] = WITH_CODE.flatMap((page) =>
  [...readFileSync(page, "utf8").matchAll(/^```(?:ts|js)\n(.*?)^```$/gms)].map(([, text], n) => ({
    name: `${page}, block ${n + 1}`,
    text: lacks(text!, "engine") ? PRELUDE + text! : text!,
  })),
);
