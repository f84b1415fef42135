/** Tests the kinds of search besides that of the text: by a description, and in the history. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildRepository } from "../../scripts/build-corpus.ts";
import { git } from "../../src/index.ts";
import { violations } from "./axe.ts";
import { inBrowser } from "./browser.ts";
import { openSite, visit, type Site } from "./site.ts";

const BOX = { name: "Search code" };

/** Resolves to the signs and texts of the shown lines of changes. */
const changedLines = (page: Page): Promise<string[]> =>
  page.locator(".diff code").allTextContents();

inBrowser("kinds of search", (browser) => {
  const folder = mkdtempSync(join(tmpdir(), "quern-page-kinds-"));
  let site: Site;
  beforeAll(async () => {
    const { path, name, revisions } = await buildRepository(folder, "task-queue");
    site = await openSite([git(path, { name, revisions, history: true })]);
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test("the second tab finds places by a description, and says why", async () => {
    const text = "where is the retry delay computed";
    const { places } = await site.engine.find({ text });
    const page = await visit(browser, `${site.root}search?q=${text.replaceAll(" ", "+")}`);
    await page.getByRole("link", { name: "Description", exact: true }).click();
    await page.waitForURL(/\/find\?q=where/);
    const cards = page.locator(".card");
    await cards.first().waitFor();
    expect(await cards.count()).toBe(places.length);
    const [best] = places;
    await expect.poll(() => cards.first().locator(".path").textContent()).toBe(best!.path);
    expect(await cards.first().locator(".reasons").textContent()).toContain(
      best!.reasons[0]!.detail,
    );
    expect(await cards.first().locator(".number").first().textContent()).toBe(
      String(best!.chunk.contentStart.lineNumber),
    );
    expect(await violations(page)).toEqual([]);
    // typing asks again, a filter limits the files, and a place opens at its lines
    await page.getByRole("textbox", BOX).fill(`${text} file:src/retry`);
    await expect.poll(() => cards.count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.waitForURL(/src\/retry\.ts#L\d+/);
    await page.goBack();
    await cards.first().waitFor();
    const box = page.getByRole("textbox", BOX);
    await expect.poll(() => box.inputValue()).toContain("file:src/retry");
    await page.getByRole("link", { name: "Text", exact: true }).click();
    await page.waitForURL(/\/search\?q=where/);
  });

  test("if nothing is found, the places that the words describe are shown", async () => {
    const page = await visit(browser, `${site.root}search?q=retry+delay+nosuchword`);
    const described = page.getByRole("region", { name: "Places that the words describe" });
    await described.locator(".card").first().waitFor();
    await described.getByRole("link", { name: "More places" }).click();
    await page.waitForURL(/\/find\?/);
  });

  test("changes are shown under their commits, with the side of each line", async () => {
    const query = "type:diff retry";
    const { files, stats } = await site.engine.search({ query, matches: 200, contextLines: 1 });
    expect(files.length).toBeGreaterThan(1);
    const page = await visit(browser, `${site.root}search?q=type:diff+retry`);
    const text = `${stats.totalMatchCount} matches in ${stats.fileCount} results`;
    await page.getByText(text).waitFor();
    const commits = new Set(files.map(({ commit }) => commit!.hash));
    expect(await page.locator(".card").count()).toBe(commits.size);
    const lines = await changedLines(page);
    const sides = new Set(files.flatMap(({ chunks }) => chunks.map(({ side }) => side)));
    expect(new Set(lines.map((line) => line[0]))).toEqual(
      new Set([...sides].map((side) => (side === "added" ? "+" : "−"))),
    );
    expect(await violations(page)).toEqual([]);
    const [first] = files;
    await page.locator(".card h2 a").first().click();
    await page.waitForURL(new RegExp(`/commit/${first!.commit!.hash}$`));
    await page.goBack();
    await page.locator(".diff .line.match").first().click();
    await page.waitForURL(/browse\/task-queue@[0-9a-f]{40}\/-\/blob\//);
    await page.locator(".cm-target mark, .cm-target").first().waitFor();
  });

  test("commits are found by their messages", async () => {
    const { files } = await site.engine.search({ query: "type:commit retry", matches: 50 });
    expect(files.length).toBeGreaterThan(0);
    const page = await visit(browser, `${site.root}search?q=type:commit+retry`);
    await page.locator(".card").first().waitFor();
    expect(await page.locator(".card").count()).toBe(files.length);
    const [subject] = files[0]!.commit!.message.split("\n");
    await expect.poll(() => page.locator(".card .path").first().textContent()).toBe(subject);
  });

  test("a query that finds nothing leads to the history", async () => {
    const page = await visit(browser, `${site.root}search?q=nosuchword`);
    await page.getByRole("link", { name: "Search in the history" }).click();
    await page.waitForURL(/q=nosuchword\+type%3Adiff/);
    await page.getByText("No matches").waitFor();
  });
});
