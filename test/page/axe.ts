/** What axe finds in the view that is shown. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE); // the policy binds the page, not what the browser is told from outside
  const found = await page.evaluate<Violation[]>("axe.run().then(({ violations }) => violations)");
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
