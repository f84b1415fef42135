/** Runs axe on the current view and returns its findings. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

const OPTIONS = {
  resultTypes: ["violations"], // otherwise, axe describes each element that passes a rule, which takes most of its time
  // rules that are off by default
  rules: { "target-size": { enabled: true }, "label-content-name-mismatch": { enabled: true } },
};

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

export async function violations(page: Page): Promise<string[]> {
  // the policy applies to the page, not to scripts that the test runs in the browser
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  const found = await page.evaluate<Violation[]>(
    `axe.run(${JSON.stringify(OPTIONS)}).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
