/**
 * Tests the controls of every view, as a screen reader names them. controls.golden.txt lists them all. A control
 * without a name fails, and so do two different controls with the same name in the same place, whatever the list says.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildRepository } from "../../scripts/build-corpus.ts";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import { memoryUserStore } from "../../src/auth/user-store.ts";
import { git } from "../../src/index.ts";
import { inBrowser } from "./browser.ts";
import { controlsOf, showControl, unclear } from "./controls.ts";
import { openSite, visit, type Site } from "./site.ts";
import { isInTurn } from "../runs.ts";

const sees =
  (selector: string) =>
  (page: Page): Promise<void> =>
    page.locator(selector).first().waitFor();

const seesAll =
  (...selectors: string[]) =>
  async (page: Page): Promise<void> => {
    for (const selector of selectors) await sees(selector)(page);
  };

/**
 * The controls of a view are complete when they stay the same for this many looks, because lists come from the server
 * and are drawn in parts.
 */
const LOOKS = 8;
const LOOK_MS = 100;

/** Resolves to the controls of a page once they stay the same. */
async function settled(page: Page): ReturnType<typeof controlsOf> {
  let controls = await controlsOf(page);
  for (let same = 1; same < LOOKS;) {
    await page.waitForTimeout(LOOK_MS);
    const next = await controlsOf(page);
    same = JSON.stringify(next) === JSON.stringify(controls) ? same + 1 : 1;
    controls = next;
  }
  return controls;
}

/** A link that appears once the repository's revisions are known. */
const HISTORY = "a:text-is('History')";
const FILE = "browse/task-queue/-/blob/src/duration.ts";

/** The views, each with the steps that show them completely. */
const VIEWS: [name: string, path: string, prepare: (page: Page) => Promise<void>][] = [
  ["the start", "", sees(".repositories li")],
  ["a search", "search?q=parseDuration+file:^src/", sees(".card")],
  ["a file with many matches", "search?q=e+file:worker.ts", sees(".unfold")],
  ["nothing found", "search?q=PARSEDURATION&case=1", sees(".suggestions a")],
  ["an error", "search?q=a+or+or+b", sees(".query-error")],
  [
    "completion",
    "",
    async (page) => {
      await page.getByRole("textbox", { name: "Search code" }).fill("lang:r");
      await sees(".completions li")(page);
    },
  ],
  ["a file", FILE, seesAll(".outline li", HISTORY)],
  [
    "a name in a file",
    FILE,
    async (page) => {
      await page
        .locator(".cm-line span", { hasText: /^parseDuration$/ })
        .first()
        .click();
      await seesAll(".panel .line", HISTORY)(page);
    },
  ],
  ["a folder", "browse/task-queue/-/tree/", seesAll(".readme", HISTORY)],
  ["commits", "browse/task-queue/-/commits/src/queue.ts", sees(".commits li")],
  [
    "a commit",
    "browse/task-queue/-/commits/src/queue.ts",
    async (page) => {
      await page.locator(".commits a").first().click();
      await sees(".card")(page);
    },
  ],
  [
    "keys",
    "browse/nothing",
    async (page) => {
      await page.getByRole("button", { name: /^Help/ }).click();
      await sees("dialog")(page);
    },
  ],
  [
    "a file by its name",
    "browse/nothing",
    async (page) => {
      await sees(".notice h1")(page);
      await page.keyboard.press("t");
      await page.getByRole("dialog").getByRole("combobox").fill("durat");
      await sees(".found-files li")(page);
    },
  ],
];

inBrowser("controls", (browser) => {
  const folder = mkdtempSync(join(tmpdir(), "quern-controls-"));
  let site: Site;
  let locked: Site;
  beforeAll(async () => {
    const { path, name, revisions } = await buildRepository(folder, "task-queue");
    const sources = [git(path, { name, revisions })];
    site = await openSite(sources);
    locked = await openSite([], { tokens: memoryTokenStore(), users: memoryUserStore() });
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await locked[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test.runIf(isInTurn(2))(
    "each control has a name that distinguishes it from the others",
    async () => {
      const list: string[] = [];
      const look = async (name: string, page: Page): Promise<void> => {
        const controls = await settled(page);
        expect(controls.length, name).toBeGreaterThan(0);
        expect(unclear(controls), name).toEqual([]);
        list.push(`${name}:`, ...controls.map(showControl), "");
        await page.close();
      };
      for (const [name, path, prepare] of VIEWS) {
        const page = await visit(browser, site.root + path, { expected: [400] });
        await prepare(page);
        await look(name, page);
      }
      const signIn = await visit(browser, locked.root, { expected: [401] });
      await signIn.getByRole("button", { name: "Sign in" }).waitFor();
      await look("sign-in", signIn);
      await expect(list.join("\n")).toMatchFileSnapshot("controls.golden.txt");
    },
  );

  test("the first Tab offers to skip the header", async () => {
    const page = await visit(browser, `${site.root}search?q=parseDuration`);
    await page.locator(".card").first().waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("skip");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
    expect(page.url()).toContain("search?q=parseDuration");
  });

  test("controls without a name, and two with the same name, are detected", async () => {
    const page = await visit(browser, site.root);
    await page.locator(".repositories li").first().waitFor();
    await page.evaluate(`for (const text of ["", "Go", "Go"]) {
      const button = document.createElement("button");
      button.textContent = text;
      document.querySelector("main").append(button);
    }`);
    expect(unclear(await controlsOf(page))).toEqual(['button ""', expect.stringMatching(/"Go"/)]);
  });
});
