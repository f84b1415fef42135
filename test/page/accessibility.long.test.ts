/** Checks every view with axe: wide and narrow, light and dark, and zoomed. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import { memoryUserStore } from "../../src/auth/user-store.ts";
import { violations } from "./axe.ts";
import { inBrowser } from "./browser.ts";
import { hostile } from "./fixtures.ts";
import { fromCorpus, openSite, visit, type Site } from "./site.ts";
import { someOf } from "../runs.ts";

/** The views, each with an element that shows that it is loaded. */
const VIEWS: [name: string, path: string, sign: string][] = [
  ["the start", "", ".repositories li"],
  ["a search", "search?q=retry", ".card"],
  ["a description", "find?q=where+is+the+retry+delay+computed", ".reasons"],
  ["nothing found", "search?q=nosuchword", ".nothing"],
  ["an error", "search?q=a+or+or+b", ".query-error"],
  ["a file", "browse/task-queue/-/blob/src/queue.ts#L10-12", ".outline li"],
  ["a folder", "browse/task-queue/-/tree/", ".readme"],
  ["an inner folder", "browse/task-queue/-/tree/src", ".entries li"],
  ["odd names", "search?q=needle", ".unseen"],
  ["an unknown address", "browse/nothing", ".notice h1"],
];

inBrowser("accessibility", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite([...fromCorpus("task-queue"), hostile()]);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const isRight = async (page: Page, sign: string): Promise<void> => {
    await page.locator(sign).first().waitFor({ state: "attached" });
    expect(await violations(page)).toEqual([]);
    expect(await beyondTheEdge(page)).toEqual([]);
  };

  test.each(someOf(VIEWS, 3))(
    "axe finds no faults, and nothing is beyond the edge: %s",
    async (_name, path, sign) => {
      const page = await visit(browser, site.root + path, { expected: [400, 404] });
      await isRight(page, sign);
      await page.setViewportSize({ width: 320, height: 800 });
      await page.emulateMedia({ colorScheme: "dark" });
      await page.reload();
      await isRight(page, sign);
      // a browser that zooms to 200 % has half as many CSS pixels of 1280 × 800
      await page.setViewportSize({ width: 640, height: 400 });
      await isRight(page, sign);
    },
  );

  test("axe finds no faults in dialogs, completion and the panel of a name", async () => {
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

  test("axe detects a fault", async () => {
    const page = await visit(browser, site.root);
    await page.locator(".repositories li").first().waitFor();
    await page.evaluate("document.body.append(document.createElement('button'))");
    expect(await violations(page)).toEqual([expect.stringMatching(/^button-name/)]);
  });

  test("axe finds no faults in the field for a key, even after a key was rejected", async () => {
    await using locked = await openSite([], {
      tokens: memoryTokenStore(),
      users: memoryUserStore(),
    });
    for (const [width, colorScheme] of [
      [1280, "light"],
      [320, "dark"],
    ] as const) {
      const viewport = { width, height: 800 };
      const page = await visit(browser, locked.root, { viewport, colorScheme, expected: [401] });
      const field = page.getByLabel("API key of Quern");
      await field.waitFor();
      expect(await violations(page)).toEqual([]);
      await field.fill("qrn_wrong");
      await field.press("Enter");
      await page.getByText("This key was not accepted").waitFor();
      expect(await violations(page)).toEqual([]);
    }
  });
});

/** Resolves to the elements beyond the right edge that cannot be reached by scrolling their container. */
const beyondTheEdge = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll("body *")]
    .filter((one) => one.checkVisibility({ contentVisibilityAuto: true }) && !one.closest(".unseen-heading"))
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 100))`);
