/** Tests that a view's address has the user's choices: they can be sent, survive a reload, and end with "back". */

import { afterAll, beforeAll, expect, test } from "vitest";
import { documents } from "../../src/index.ts";
import { inBrowser } from "./browser.ts";
import { fromCorpus, openSite, visit, type Site } from "./site.ts";

const MANY = 120;

inBrowser("views", (browser) => {
  let site: Site;
  beforeAll(async () => {
    const many = Array.from({ length: MANY }, (_, n) =>
      documents({
        name: `many/${String(n).padStart(3, "0")}`,
        files: [{ path: `file${n}.txt`, content: `${"filler\n".repeat(5)}word ${n}\n` }],
      }),
    );
    site = await openSite([...fromCorpus("task-queue", "mailroom"), ...many]);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("the filter of repositories and the number of shown ones are in the address", async () => {
    const page = await visit(browser, site.root);
    const rows = page.locator(".repositories li");
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBe(100);
    const filter = page.getByRole("searchbox", { name: /^Filter/ });
    await filter.fill("many/01");
    await expect.poll(() => rows.count()).toBe(10);
    await page.waitForURL(/\?q=many%2F01$/);
    await expect.poll(() => page.title()).toBe("many/01 – Repositories – Quern");
    await page.reload();
    await expect.poll(() => rows.count()).toBe(10);
    await expect.poll(() => filter.inputValue()).toBe("many/01");
    await page.getByRole("link", { name: "many/015", exact: true }).click();
    await page.getByRole("link", { name: "file15.txt" }).waitFor();
    await page.goBack();
    await expect.poll(() => rows.count()).toBe(10);
    await page.goto(`${site.root}?page=1000000`); // limited to the highest possible number
    await expect.poll(() => rows.count()).toBe(MANY + 2);
  });

  test("results can be grouped by repository", async () => {
    const page = await visit(browser, `${site.root}search?q=retry`);
    await page.getByRole("checkbox", { name: "Group by repository" }).check();
    await page.waitForURL(/group=repository/);
    const groups = page.locator(".group");
    await expect
      .poll(async () => (await groups.allTextContents()).toSorted())
      .toEqual(["mailroom", "task-queue"]);
    await page.reload();
    await expect.poll(() => groups.count()).toBe(2);
    await page.getByRole("textbox", { name: "Search code" }).fill("retry lang:typescript");
    await expect.poll(() => groups.allTextContents()).toEqual(["task-queue"]); // one more letter keeps the grouping
    const cards = page.locator(".found > .files > div").nth(0).locator(".repository");
    await expect
      .poll(async () => [...new Set(await cards.allTextContents())])
      .toEqual(["task-queue"]);
    await page.getByRole("checkbox", { name: "Group by repository" }).uncheck();
    await expect.poll(() => groups.count()).toBe(0);
  });

  test("back in a list, the opened result has the focus, and j continues from it", async () => {
    const page = await visit(browser, `${site.root}search?q=word`);
    const paths = page.locator(".card-head > a");
    await paths.nth(20).waitFor();
    const focused = (): Promise<string> => page.evaluate("document.activeElement.textContent");
    await page.getByRole("textbox", { name: "Search code" }).focus();
    for (let n = 0; n < 12; n++) await page.keyboard.press(n === 0 ? "Enter" : "j");
    const left = await focused();
    await page.keyboard.press("Enter");
    await page.locator(".cm-line").first().waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe(left);
    await page.keyboard.press("j");
    await expect.poll(focused).not.toBe(left);
    await page.keyboard.press("k");
    await expect.poll(focused).toBe(left);
  });

  test("the webUrl of a result leads to the page", async () => {
    const page = await visit(browser, site.root);
    const body = JSON.stringify({ query: "retryWithBackoff", matches: 10 });
    const response = await fetch(`${site.root}api/search`, { method: "POST", body });
    const { files } = (await response.json()) as { files: { webUrl: string }[] };
    await page.goto(files[0]!.webUrl);
    await page.locator(".cm-line").first().waitFor();
    expect(page.url().startsWith(`${site.root}browse/`)).toBe(true);
  });

  test("an opened view gets the focus, so that a screen reader begins there", async () => {
    const page = await visit(browser, `${site.root}?q=task`);
    await page.getByRole("link", { name: "task-queue", exact: true }).click();
    await page.locator(".entries li").first().waitFor();
    const focused = (): Promise<string> => page.evaluate("document.activeElement.id");
    await expect.poll(focused).toBe("main");
  });
});
