/** The blocks of code on the pages, as modules of a host. */

import { readFileSync } from "node:fs";
import { PAGES } from "./pages.ts";
import { lacks, type Snippet } from "./snippets.ts";

/** Blocks of a page go on with the engine that an earlier block has opened. */
const PRELUDE = `import { open as openEngine } from "quern";\nconst engine = await openEngine("./.quern");\n`;

export const blocks: readonly Snippet[] = PAGES.flatMap((page) =>
  [...readFileSync(page, "utf8").matchAll(/^```(?:ts|js)\n(.*?)^```$/gms)].map(([, text], n) => ({
    name: `${page}, block ${n + 1}`,
    text: lacks(text!, "engine") ? PRELUDE + text! : text!,
  })),
);
