/** Every view held against axe, wide and narrow, light and dark; and the names of all controls. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { violations } from "./axe.ts";
import { inBrowser } from "./browser.ts";
import { hostile } from "./fixtures.ts";
import { fromCorpus, openSite, visit, type Site } from "./site.ts";

/** Views with what shows that they are there. */
const VIEWS: [name: string, path: string, sign: string][] = [
  ["the start", "", ".repositories li"],
  ["a search", "search?q=retry", ".card"],
  ["nothing found", "search?q=nosuchword", ".nothing"],
  ["an error", "search?q=a+or+or+b", ".query-error"],
  ["a file", "browse/task-queue/-/blob/src/queue.ts#L10-12", ".outline li"],
  ["a folder", "browse/task-queue/-/tree/", ".readme"],
  ["a folder within", "browse/task-queue/-/tree/src", ".entries li"],
  ["odd names", "search?q=needle", ".unseen"],
  ["no view", "browse/nothing", ".notice h1"],
];

inBrowser("accessibility", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite([...fromCorpus("task-queue"), hostile()]);
  }, 120_000);
  afterAll(() => site[Symbol.asyncDispose]());

  test.each(VIEWS)("axe finds nothing: %s", async (_name, path, sign) => {
    for (const [width, colorScheme] of [
      [1280, "light"],
      [320, "dark"],
    ] as const) {
      const viewport = { width, height: 800 };
      const page = await visit(browser, site.root + path, {
        viewport,
        colorScheme,
        expected: [400, 404],
      });
      await page.locator(sign).first().waitFor({ state: "attached" });
      expect(await violations(page)).toEqual([]);
      const overflow = await page.evaluate<number>(
        "document.documentElement.scrollWidth - innerWidth",
      );
      expect(overflow, "what stands beyond the right edge").toBeLessThanOrEqual(0);
    }
  });

  test("axe finds nothing: dialogs, completion, the panel of a name, the field for a key", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts`);
    await page
      .locator(".cm-line span", { hasText: /^retryWithBackoff$/ })
      .first()
      .click();
    await page.locator(".panel .line").first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("t");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("queue");
    await page.locator(".found-files li").first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("textbox", { name: "Search code" }).fill("lang:r");
    await page.locator(".completions li").first().waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("axe would find something", async () => {
    const page = await visit(browser, site.root);
    await page.locator(".repositories li").first().waitFor();
    await page.evaluate("document.body.append(document.createElement('button'))");
    expect(await violations(page)).toEqual([expect.stringMatching(/^button-name/)]);
  });

  test("every control of a file has a name that a screen reader can say", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/store/memory.ts`);
    await page.locator(".outline li").first().waitFor();
    const snapshot = await page.locator("body").ariaSnapshot();
    const controls = snapshot.match(/- (?:button|link|textbox|combobox|checkbox)\b.*/g) ?? [];
    expect(controls.length).toBeGreaterThan(20);
    expect(controls.filter((control) => !/- \w+ ["/]/.test(control))).toEqual([]);
    expect(snapshot).toContain('- textbox "src/store/memory.ts"');
  });
});
