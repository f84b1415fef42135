/** Tests the page for a user who searches. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documents } from "../../src/index.ts";
import { inBrowser } from "./browser.ts";
import { fromCorpus, openSite, visit as visitTab, type Site } from "./site.ts";

const labelsOfCards = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(".card")].map((card) => card.ariaLabel)`);

/** Keys are typed and text is pasted as soon as a page is loaded, so each visit has its own process. */
const visit: typeof visitTab = (browser, url, options) =>
  visitTab(browser, url, { colorScheme: "light", ...options });

inBrowser("search", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite(fromCorpus("task-queue", "mailroom", "infra"));
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("a user types a first search, sees results, opens one and goes back", async () => {
    const page = await visit(browser, site.root);
    await page.getByRole("link", { name: "task-queue", exact: true }).waitFor();
    await page.keyboard.type("retryWithBackoff"); // the box has the focus
    await page.getByText(/\d+ matches in \d+ files/).waitFor();
    expect(page.url()).toContain("/search");
    const { stats } = await site.engine.search({ query: "retryWithBackoff", matches: 0 });
    await expect
      .poll(() => page.getByRole("status").first().textContent())
      .toContain(`${stats.totalMatchCount} matches in ${stats.fileCount} files`);
    await expect.poll(() => page.locator("mark").first().textContent()).toBe("retryWithBackoff");
    await expect
      .poll(() => page.title())
      .toBe(`retryWithBackoff – ${stats.totalMatchCount} matches – Quern`);

    await page.getByRole("link", { name: "task-queue src/retry.ts" }).click();
    await page.getByRole("heading", { name: "retry.ts" }).waitFor();
    await page.getByText("export async function").first().waitFor();
    await expect.poll(() => page.title()).toBe("retry.ts – task-queue – Quern");

    await page.goBack();
    await page.getByText(/\d+ matches in \d+ files/).waitFor();
    await expect
      .poll(() => page.getByRole("textbox", { name: "Search code" }).inputValue())
      .toBe("retryWithBackoff");
  });

  test("an address opens its search", async () => {
    const page = await visit(
      browser,
      `${site.root}search?q=class%5Cs%2B%5Cw%2BError&regex=1&case=1`,
    );
    await page
      .locator("mark", { hasText: /^class \w+Error$/ })
      .first()
      .waitFor();
    const pressed = page.locator(".toggle[aria-pressed=true]");
    await expect.poll(() => pressed.allTextContents()).toEqual(["Aa", ".*"]);
  });

  test("an error is shown at its position, with the caret", async () => {
    const query = "alpha or or beta";
    const page = await visit(browser, `${site.root}search?q=${encodeURIComponent(query)}`, {
      expected: [400],
    });
    const alert = page.getByRole("alert");
    await alert.waitFor();
    const lines = (await alert.locator("pre").textContent())!.split("\n");
    expect(lines[0]).toContain("this or has nothing on its left");
    expect(lines.at(-1)!.indexOf("^") - lines.at(-2)!.indexOf(query)).toBe("alpha or ".length);
    await page.getByRole("textbox", { name: "Search code" }).fill("backoff");
    await page.getByText(/\d+ matches in/).waitFor();
  });

  test("a click on a facet narrows the search, and another click undoes it", async () => {
    const page = await visit(browser, `${site.root}search?q=retry+or+backoff`);
    await page.getByRole("link", { name: /^Ruby/ }).click();
    const box = page.getByRole("textbox", { name: "Search code" });
    await page.waitForURL(/lang/);
    await expect.poll(() => box.inputValue()).toBe("(retry or backoff) lang:Ruby");
    await page.locator(".card").first().waitFor();
    await expect
      .poll(() => page.locator(".card-head > .tag").allTextContents())
      .toSatisfy((tags: string[]) => tags.length > 0 && tags.every((tag) => tag === "Ruby"));
    await page.getByRole("link", { name: /^Ruby/ }).click();
    await expect.poll(() => box.inputValue()).toBe("(retry or backoff)");
  });

  test("several values of a facet can be chosen, and values can be excluded", async () => {
    const page = await visit(browser, `${site.root}search?q=retry+or+backoff`);
    const box = page.getByRole("textbox", { name: "Search code" });
    const filesOf = async (query: string): Promise<number> =>
      (await site.engine.search({ query, matches: 0 })).stats.fileCount;
    const shows = (count: number) => page.getByText(new RegExp(`in ${count} files?`)).waitFor();
    await page.getByRole("link", { name: /^Ruby:/ }).click();
    await page.getByRole("link", { name: /^TypeScript:/ }).click(); // is still listed
    const both = "(retry or backoff) (lang:Ruby or lang:TypeScript)";
    await expect.poll(() => box.inputValue()).toBe(both);
    await shows(await filesOf(both));
    await page.getByRole("link", { name: /^Ruby:/ }).click();
    await expect.poll(() => box.inputValue()).toBe("(retry or backoff) lang:TypeScript");
    await page.getByRole("link", { name: "Exclude TypeScript" }).click();
    const without = "(retry or backoff) -lang:TypeScript";
    await expect.poll(() => box.inputValue()).toBe(without);
    await shows(await filesOf(without));
    await page.getByRole("link", { name: "Include TypeScript" }).click();
    await expect.poll(() => box.inputValue()).toBe("(retry or backoff)");
  });

  test("results have the colours of a file, chunks by line, and the number of matches", async () => {
    const query = "e file:^src/worker";
    const page = await visit(browser, `${site.root}search?q=e+file:^src/worker`);
    const card = page.getByRole("article", { name: /^src\/worker\.ts/ });
    const { stats } = await site.engine.search({ query, matches: 0 });
    await card.getByText(`${stats.totalMatchCount} matches`, { exact: true }).waitFor();
    const numbers = (await card.locator(".number").allTextContents()).map(Number);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    const shown = await card.locator(".line mark").count();
    const more = `Show ${stats.totalMatchCount - shown} more matches`;
    await card.getByText(more, { exact: true }).waitFor();
    // the classes of an expression in the file and in the result
    await page.goto(`${site.root}search?q=%22export+class+Worker%22`);
    const line = page.locator(".line.match", { hasText: "export class Worker {" });
    await line.locator(".tok-keyword").first().waitFor();
    const classes = (at: string): Promise<string[]> =>
      page
        .locator(at)
        .evaluateAll((all) => all.map((one) => `${one.className} ${one.textContent}`));
    const inResult = await classes(".line.match [class^=tok-]");
    await line.click();
    await page.locator(".cm-target .tok-keyword").first().waitFor();
    const inFile = await classes(".cm-target [class^=tok-]");
    expect(inResult).toEqual(inFile);
    expect(inFile).toContain("tok-keyword class");
  });

  test("the numbers of facets count the whole answer, and equal those after a click", async () => {
    const query = "e";
    const { files } = await site.engine.search({ query, matches: 1e6 });
    const page = await visit(browser, `${site.root}search?q=${query}`);
    const inLanguage = files.filter(({ language }) => language === "TypeScript").length;
    const link = page.getByRole("link", { name: `TypeScript: ${inLanguage} files` });
    await link.waitFor();
    expect(await page.getByText("Of the files shown so far").count()).toBe(0);
    await link.click();
    await page.getByText(new RegExp(`in ${inLanguage} files`)).waitFor();
    await page.getByRole("link", { name: /^task-queue:/ }).click();
    const folder = page.getByRole("link", { name: /^src: \d+ files/ });
    const [, counted] = /(\d+) files/.exec((await folder.getAttribute("aria-label"))!)!;
    const below = files.filter(
      ({ language, repository, fileName }) =>
        language === "TypeScript" &&
        repository === "task-queue" &&
        fileName.text.startsWith("src/"),
    );
    expect(Number(counted)).toBe(below.length);
    await folder.click();
    await page.getByText(new RegExp(`in ${below.length} files`)).waitFor();
  });

  test("the keyboard alone reaches the search, results, a file, the way back, and help", async () => {
    const page = await visit(browser, site.root);
    const { keyboard } = page;
    await keyboard.type("backoff");
    await page.locator("mark").first().waitFor();
    await keyboard.press("Enter");
    const focused = (): Promise<string> =>
      page.evaluate("document.activeElement.className || document.activeElement.tagName");
    await expect.poll(focused).toBe("A"); // the first file's path
    await keyboard.press("j");
    await expect.poll(focused).toBe("line match");
    // past the elements between the first file and the box
    for (let i = 0; i < 4 && (await focused()) !== "TEXTAREA"; i++) await keyboard.press("k");
    expect(await focused()).toBe("TEXTAREA");
    await keyboard.press("ArrowDown");
    await keyboard.press("Enter");
    await page.waitForURL(/browse/);
    await keyboard.press("Escape");
    await page.locator("mark").first().waitFor();
    await keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await keyboard.press("/");
    await expect.poll(focused).toBe("TEXTAREA");
  });

  test("completion names repositories, languages, paths and symbols", async () => {
    const page = await visit(browser, site.root, { expected: [400] }); // a filter without its value
    const box = page.getByRole("textbox", { name: "Search code" });
    const rows: [typed: string, label: string, taken: string][] = [
      ["repo:task", "task-queue", "repo:^task-queue$ "],
      ["lang:rub", "Ruby", "lang:Ruby "],
      ["file:queue.t", "src/queue.ts", String.raw`file:^src/queue\.ts$ `],
      ["sym:retryWith", "retryWithBackoff", "sym:^retryWithBackoff$ "],
      ["vis", "visibility:", "visibility:"],
    ];
    for (const [typed, label, taken] of rows) {
      await box.fill(typed);
      await page
        .getByRole("option", { name: new RegExp(`^${label}`) })
        .first()
        .waitFor();
      await box.press("ArrowDown");
      await box.press("Enter");
      await expect.poll(() => box.inputValue(), { message: typed }).toBe(taken);
    }
  });

  test("without results, a changed query that has some is a link", async () => {
    const page = await visit(browser, `${site.root}search?q=RETRYWITHBACKOFF&case=1`);
    await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
    await page.getByRole("link", { name: "RETRYWITHBACKOFF", exact: true }).click();
    await page.locator("mark").first().waitFor();
    expect(page.url()).not.toContain("case=1");
  });

  const paste = (page: Page, text: string): Promise<void> =>
    page.evaluate(`{
      const data = new DataTransfer();
      data.setData("text/plain", ${JSON.stringify(text)});
      document.querySelector("#search").dispatchEvent(
        new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data }));
    }`);

  test("pasted code of several lines is found exactly, and stays readable in the box", async () => {
    const page = await visit(browser, site.root);
    const box = page.getByRole("textbox", { name: "Search code" });
    const code =
      'import { parseDuration } from "./duration.ts";\n\timport { retryWithBackoff } from "./retry.ts";\n';
    await box.fill(code); // fill() has the effect of the browser's own paste
    await page.getByText("1 match in 1 file").waitFor();
    await page.getByText("Searched as 2 consecutive lines.").waitFor();
    await page.getByRole("link", { name: "task-queue src/queue.ts", exact: true }).waitFor();
    await expect.poll(() => page.locator(".line.match").count()).toBe(2);
    expect(await box.inputValue()).toBe(code);
    await page.reload();
    await expect.poll(() => box.inputValue()).toBe(code.split("\n\t").join("\n").trimEnd() + "\n");
    // the same lines in another order occur nowhere
    await box.fill(
      'import { retryWithBackoff } from "./retry.ts";\nimport { parseDuration } from "./duration.ts";\n',
    );
    await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
  });

  test("a quotation of several lines is searched as it is", async () => {
    const page = await visit(browser, site.root);
    const quotation = String.raw`"from \"./duration.ts\";` + '\nimport { retryWithBackoff }"';
    await page.getByRole("textbox", { name: "Search code" }).fill(quotation);
    await page.getByText("1 match in 1 file").waitFor();
  });

  test("an expression with blanks is one expression, and its other reading is one click away", async () => {
    const page = await visit(browser, site.root);
    const box = page.getByRole("textbox", { name: "Search code" });
    await page.getByRole("button", { name: "Regular expression" }).click();
    await box.fill("async function \\w+Backoff lang:typescript");
    const counted = page.getByRole("status").first();
    const count = async (query: string): Promise<string> => {
      const request = { query, matches: 0, isRegexEnabled: true };
      const { stats } = await site.engine.search(request);
      return `${stats.totalMatchCount} match`;
    };
    const asOne = await count(String.raw`"async function \\w+Backoff" lang:typescript`);
    const apart = await count(String.raw`async function \w+Backoff lang:typescript`);
    expect(asOne).not.toBe(apart);
    await expect.poll(() => counted.textContent()).toContain(asOne);
    await page.getByText("Searched as the expression async function").waitFor();
    // the address contains the query that is sent, and the box what was typed
    await page.waitForURL(/q=%22async\+function\+%5C%5Cw%2BBackoff%22\+lang%3Atypescript&regex=1/);
    await page.reload();
    await expect.poll(() => box.inputValue()).toBe("async function \\w+Backoff lang:typescript");
    await page.getByRole("link", { name: "Search for its words separately" }).click();
    await expect.poll(() => counted.textContent()).toContain(apart);
    await page.getByText("Searched as 3 expressions in the same file.").waitFor();
    await page.getByRole("link", { name: "Search as one expression" }).click();
    await expect.poll(() => counted.textContent()).toContain(asOne);
  });

  test("pasted code after other words is quoted line by line, so that they keep their meaning", async () => {
    const page = await visit(browser, site.root);
    const box = page.getByRole("textbox", { name: "Search code" });
    await box.fill("(text: ");
    await paste(page, 'a "b"\nc\\d');
    await expect.poll(() => box.inputValue()).toBe(String.raw`(text: "a \"b\"" "c\\d"`);
    expect(await page.locator(".toggle[aria-pressed=true]").count()).toBe(0);
  });

  test("all matches of a file, and lines around them, are shown on demand", async () => {
    const page = await visit(browser, `${site.root}search?q=e+file:^src/worker`);
    const { stats } = await site.engine.search({ query: "e file:^src/worker", matches: 0 });
    const card = page.getByRole("article", { name: /^src\/worker\.ts/ });
    await card.getByRole("button", { name: /^Show all matches/ }).click();
    await expect.poll(() => card.locator(".line mark").count()).toBe(stats.totalMatchCount);
    await card.getByRole("button", { name: /^More context/ }).click();
    await expect.poll(() => card.locator(".line:not(.match)").count()).toBeGreaterThan(0);
    await page.getByRole("textbox", { name: "Search code" }).fill("sleeps file:^src/worker");
    await expect.poll(() => card.locator(".line mark").allTextContents()).toContain("sleeps");
  });

  test("an answer that may lack something says why", async () => {
    const page = await visit(browser, site.root);
    const lacks = async (counters: object): Promise<void> => {
      await page.route("**/api/search", async (route) => {
        const response = await route.fetch();
        const { stats, ...rest } = (await response.json()) as { stats: object };
        await route.fulfill({ response, json: { ...rest, stats: { ...stats, ...counters } } });
      });
    };
    const box = page.getByRole("textbox", { name: "Search code" });
    for (const [query, counters, words] of [
      ["retry", { shardsSkipped: 1, filesSkipped: 7 }, "The time for a search ran out"],
      ["queue", { crashes: 1 }, "A part of the index could not be read"],
      ["sym:queue", { filesSkipped: 7 }, "The definitions in 7 files are not indexed yet"],
    ] as const) {
      await lacks(counters);
      await box.fill(query);
      await page.getByText(words).waitFor();
      await expect.poll(() => page.locator(".missing").count()).toBe(1);
      await page.unrouteAll({ behavior: "ignoreErrors" }); // requests of the completion may still be running
    }
    await box.fill("worker");
    await expect.poll(() => page.locator(".missing").count()).toBe(0);
  });

  test("the next keystroke ends the previous search", async () => {
    const page = await visit(browser, site.root);
    const ended: string[] = [];
    page.on("requestfailed", (request) => {
      if (request.url().endsWith("/api/search"))
        ended.push((request.postDataJSON() as { query: string }).query);
    });
    await page.route("**/api/search", async (route) => {
      const { query } = route.request().postDataJSON() as { query: string };
      if (query !== "back") await route.continue(); // "back" is never answered
    });
    const box = page.getByRole("textbox", { name: "Search code" });
    const asked = page.waitForRequest((request) => request.url().endsWith("/api/search"));
    await box.fill("back");
    await asked;
    await box.pressSequentially("off");
    await page.getByText(/\d+ matches in \d+ files/).waitFor();
    await expect.poll(() => ended).toContain("back");
    await expect.poll(() => page.locator("mark").first().textContent()).toMatch(/backoff/i);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("streamed results are shown at once, and the ranked answer replaces them without moving the focus", async () => {
    const page = await visit(browser, site.root);
    let answer = (): void => {};
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    await page.route("**/api/search", async (route) => {
      await mayAnswer;
      const response = await route.fetch();
      const { files, ...rest } = (await response.json()) as { files: object[] };
      await route.fulfill({ response, json: { ...rest, files: files.toReversed() } });
    });
    const box = page.getByRole("textbox", { name: "Search code" });
    await box.fill("retry");
    await page.getByText(/files so far, not ranked yet/).waitFor();
    const cards = page.locator(".card");
    await cards.nth(3).waitFor();
    const streamed = await labelsOfCards(page);
    await box.press("Enter"); // to the first result
    for (let n = 0; n < 12; n++) await page.keyboard.press("j");
    const seen = (): Promise<{ link: string; top: number }> =>
      page.evaluate(`(() => {
        const { href } = document.activeElement;
        return { link: href, top: Math.round(document.activeElement.getBoundingClientRect().top) };
      })()`);
    await expect.poll(async () => (await seen()).link).toContain("#L");
    const before = await seen();
    answer();
    await page.getByText(/\d+ matches in \d+ files/).waitFor();
    const ranked = await labelsOfCards(page);
    expect(ranked.slice(0, streamed.length)).not.toEqual(streamed);
    const after = await seen();
    expect(after.link).toBe(before.link);
    expect(Math.abs(after.top - before.top)).toBeLessThan(300); // the lines above may differ
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("copies of a file are one result, which names them all", async () => {
    const content = "export const copied = 1;\n";
    const files = ["a/copy.ts", "b/copy.ts", "c/copy.ts"].map((path) => ({ path, content }));
    await using copies = await openSite([documents({ name: "copies", files })]);
    const page = await visit(browser, `${copies.root}search?q=copied`);
    await page.getByText("2 copies with the same lines").click();
    expect(await page.locator(".card").count()).toBe(1);
    const links = page.locator(".copies a .path");
    await expect.poll(async () => (await links.allTextContents()).length).toBe(2);
    await links.first().click();
    await page.locator(".cm-line", { hasText: "copied" }).waitFor();
    await page.goto("about:blank");
  });

  test("going back shows the list at its old position", async () => {
    const page = await visit(browser, `${site.root}search?q=e`);
    const card = page.locator(".card").nth(15);
    await card.waitFor();
    await card.scrollIntoViewIfNeeded();
    await expect.poll(() => page.evaluate<number>("scrollY")).toBeGreaterThan(500);
    // where it is when it is clicked: what comes into view above it gets its height, and moves it
    await page.evaluate(`addEventListener("click", ({ target }) => {
      window.clickedAt = target.closest(".card").getBoundingClientRect().top;
    }, { capture: true, once: true })`);
    await card.getByRole("link").first().click();
    const y = await page.evaluate<number>("window.clickedAt");
    await page.locator(".cm-line").first().waitFor();
    await page.goBack();
    await page.locator(".card").nth(15).waitFor();
    await expect.poll(async () => Math.abs((await card.boundingBox())!.y - y)).toBeLessThan(4);
  });

  test("on a phone, search, filters and files work", async () => {
    const page = await visit(browser, site.root, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const box = page.getByRole("textbox", { name: "Search code" });
    await box.tap();
    await page.keyboard.type("backoff");
    await page.locator("mark").first().waitFor();
    await page.getByText("Filters").tap();
    await page.getByRole("link", { name: /^Ruby/ }).tap();
    await page
      .getByRole("link", { name: /retry\.rb$/ })
      .first()
      .tap();
    await page.locator(".cm-line").first().waitFor();
    const visible = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(visible).toBeLessThanOrEqual(390);
  });
});
