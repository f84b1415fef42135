/**
 * The page stays smooth while a file of 2 MiB and 3 000 results are opened and scrolled. The test bounds the processor
 * time of each task of the page's thread, because other work on the machine changes it least. QUERN_FIGURES=1 prints
 * it. scripts/page-figures.ts scrolls 10 000 results and measures frames, on a machine that does nothing else.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { documents, type Source } from "../../src/index.ts";
import { inBrowser } from "./browser.ts";
import { large, LARGE_LINES } from "./fixtures.ts";
import { openSite, visit, type Site } from "./site.ts";
import { tasksDuring } from "./tasks.ts";
import { isInTurn } from "../runs.ts";
import { SLOWNESS } from "../slowness.ts";

const RESULTS = 3_000;
const FILES = 780;
/** A longer task makes a user notice a lost frame. */
const LONG_MS = 50 * SLOWNESS;
/**
 * This many tasks may be longer, because a virtual machine counts time that its host took away as the task's own. The
 * faults that these tests detect make hundreds of tasks long, or one very long.
 */
const MOST_LONG = 12;
const LONGEST_MS = 250 * SLOWNESS;

const line = (n: number, file: number): string =>
  n % 7 === 3
    ? `  const needle${n} = call(${file}, "some text, as long as a line usually is", ${n});\n`
    : `  other(${file} + ${n});\n`;

const many = (): Source =>
  documents({
    name: "many",
    files: Array.from({ length: FILES }, (_, file) => ({
      path: `src/folder${file % 40}/file${file}.ts`,
      content: Array.from({ length: 30 }, (_, n) => line(n, file)).join(""),
    })),
  });

function holds(what: string, tasks: readonly number[]): void {
  const long = tasks.filter((ms) => ms > LONG_MS).map((ms) => Math.round(ms));
  const longest = tasks.slice(0, 5).map(Math.round).join(", ");
  if (process.env["QUERN_FIGURES"] === "1")
    console.log(`${what}: ${tasks.length} tasks, the longest ${longest} ms`);
  expect(tasks.length, "the trace has the page's tasks").toBeGreaterThan(100);
  expect(long.length, `${what}: ${long.join(" ")} ms`).toBeLessThanOrEqual(MOST_LONG);
  expect(tasks[0]!, what).toBeLessThan(LONGEST_MS);
}

inBrowser("frames", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite([large(), many()]);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test.runIf(isInTurn(3))(
    "a file of 2 MiB is opened and scrolled to its end without long tasks",
    async () => {
      const page = await visit(browser, site.root);
      const tasks = await tasksDuring(browser, async () => {
        await page.goto(`${site.root}browse/large/-/blob/large.ts`);
        await page.locator(".cm-line").first().waitFor();
        await page.locator(".outline li").nth(1_999).waitFor();
        await page.mouse.move(600, 400);
        for (let n = 0; n < 60; n++) await page.mouse.wheel(0, 4000);
        for (let n = 0; n < 10; n++) await page.keyboard.press("PageDown");
        await page.keyboard.press("Control+End"); // the text has the focus
        const last = page.locator(".cm-line", { hasText: `value${LARGE_LINES - 1} ` });
        await last.locator(".tok-keyword").first().waitFor({ timeout: 60_000 }); // everything is parsed
      });
      holds("2 MiB", tasks);
      expect(await page.locator(".cm-line").count()).toBeLessThan(500); // only visible lines are drawn
    },
  );

  test.runIf(isInTurn(3, 1))(
    "3 000 results are loaded and scrolled without long tasks",
    async () => {
      const page = await visit(browser, `${site.root}search?q=needle`);
      await page.locator(".card").first().waitFor();
      // not by a locator, which looks at all of them in a task of the page
      const count = (): Promise<number> =>
        page.evaluate("document.getElementsByClassName('match').length");
      const tasks = await tasksDuring(browser, async () => {
        await page.mouse.move(600, 400);
        while ((await count()) < RESULTS)
          for (let n = 0; n < 10; n++) await page.mouse.wheel(0, 3000);
      });
      holds("3 000 results", tasks);
    },
  );
});
