/** Tests the page for a user who reads files. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { inBrowser } from "./browser.ts";
import { hostile, large, LARGE_LINES, MARKUP } from "./fixtures.ts";
import { fromCorpus, openSite, visit, type Site } from "./site.ts";

inBrowser("files", (browser) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite([...fromCorpus("task-queue"), large(), hostile()]);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("a file has folders, definitions, and lines that can be marked and linked", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts#L10-12`);
    await expect.poll(() => page.locator(".cm-target").count()).toBe(3);
    await expect
      .poll(() => page.locator("nav.tree a[aria-current=page]").textContent())
      .toBe("queue.ts");
    const outline = page.getByRole("complementary", { name: "Definitions" });
    await outline.getByRole("link", { name: "class TaskQueue" }).click();
    await page.waitForURL(/#L22$/);
    await expect
      .poll(() => page.locator(".cm-target").allTextContents())
      .toEqual(["export class TaskQueue {"]);
    await page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^8$/ }).click();
    await page.waitForURL(/#L8$/);
    await page
      .locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^12$/ })
      .click({ modifiers: ["Shift"] });
    await page.waitForURL(/#L8-12$/);
  });

  test("a click on a name, or Enter at the caret, shows its definitions and uses", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts`);
    await page
      .locator(".cm-line span", { hasText: /^retryWithBackoff$/ })
      .first()
      .click();
    const panel = page.getByRole("complementary", { name: /of retryWithBackoff$/ });
    await panel.getByText(/^Definitions 1/).waitFor();
    // 2 imports, 4 calls, and an export, which reads it; not the text in README.md and CHANGELOG.md
    await panel.getByText(/^Certain uses 7/).waitFor();
    const rows = panel.locator(".uses .line");
    expect((await rows.locator(".use").allTextContents()).toSorted()).toEqual([
      "call",
      "call",
      "call",
      "call",
      "import",
      "import",
      "read",
    ]);
    await page.keyboard.press("Enter");
    await panel
      .getByRole("link", { name: /export async function retryWithBackoff/ })
      .first()
      .click();
    await page.waitForURL(/src\/retry\.ts\?name=retryWithBackoff&at=src%2Fqueue.ts%3A3%3A10#L22$/);
    await page
      .locator(".cm-target", { hasText: "export async function retryWithBackoff" })
      .waitFor();
    const place = panel.locator("[aria-current=location]").first(); // the panel stays, and marks the current place
    await expect.poll(() => place.textContent()).toContain("export async function");
    await expect.poll(() => page.title()).toBe("retryWithBackoff in retry.ts – task-queue – Quern");
    await page.reload(); // the address is the state
    await panel.getByText(/^Certain uses/).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "queue.ts", exact: true }).waitFor();
    await panel.waitFor();
    await page.goBack();
    await expect.poll(() => panel.count()).toBe(0);
    await page.goForward();
    await panel.getByRole("button", { name: "Close" }).click();
    await page.waitForURL(/queue\.ts$/);
  });

  test("a name without a place shows all places with the name", async () => {
    const file = `${site.root}browse/task-queue/-/blob/src/queue.ts`;
    const page = await visit(browser, `${file}?name=retryWithBackoff`);
    const panel = page.getByRole("complementary", { name: /of retryWithBackoff$/ });
    const { stats } = await site.engine.search({
      query: "content:\\bretryWithBackoff\\b repo:task-queue lang:TypeScript",
      matches: 0,
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
    });
    const title = `All places with this name ${stats.totalMatchCount}`;
    await panel.getByRole("heading", { name: title }).waitFor();
  });

  test("two members of one name have different uses", async () => {
    const file = `${site.root}browse/task-queue/-/blob/src/queue.ts`;
    const page = await visit(browser, file);
    await page.locator(".cm-line").first().waitFor();
    const usesAt = async (line: number, column: number): Promise<string> => {
      await page.goto(`${file}?name=start&at=src/queue.ts:${line}:${column}`);
      const panel = page.getByRole("complementary", { name: /of start$/ });
      await panel.getByText(/^Certain uses|^No use/).waitFor();
      return panel.locator(".places").first().innerText();
    };
    expect(await usesAt(53, 3)).toContain("start(): void {"); // the queue's own method
    expect(await usesAt(57, 14)).toContain("start(signal: AbortSignal)"); // the method of a worker
  });

  test("the tree shows the open file, however long it is", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/worker.ts`, {
      viewport: { width: 1280, height: 200 },
    });
    const link = page.locator(".tree a[aria-current]");
    await link.waitFor();
    const isSeen = async (): Promise<boolean> => {
      const [tree, box] = [await page.locator(".tree").boundingBox(), await link.boundingBox()];
      return box!.y >= tree!.y && box!.y + box!.height <= tree!.y + tree!.height;
    };
    await expect.poll(isSeen).toBe(true);
  });

  test("the pointer over a name shows its signature and its comment", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts`);
    await page
      .locator(".cm-line span", { hasText: /^TaskQueue$/ })
      .first()
      .hover();
    const card = page.locator(".name-card");
    await card.waitFor();
    expect(await card.innerText()).toContain("export class TaskQueue");
    expect(await card.innerText()).toContain("A queue of tasks of several kinds.");
    expect(await card.innerText()).toContain("src/queue.ts:22 · certain");
    // there is no card for a keyword
    await page.mouse.move(0, 0);
    await expect.poll(() => card.count()).toBe(0);
  });

  test("the key d goes to the definition of a name, and Esc back", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts#L78`);
    await page.locator(".cm-target").waitFor();
    for (let n = 0; n < 12; n++) await page.keyboard.press("ArrowRight");
    await page.keyboard.press("d");
    await page.waitForURL(/src\/retry\.ts#L22$/);
    await page.locator(".cm-target", { hasText: "retryWithBackoff<T>" }).waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL(/queue\.ts#L78$/);
  });

  test("the keyboard alone reaches lines, a name's uses, another file, and the way back", async () => {
    const page = await visit(browser, `${site.root}search?q=retryWithBackoff+file:queue.ts`);
    await page.locator("mark").first().waitFor();
    await page.getByRole("textbox", { name: "Search code" }).focus();
    const { keyboard } = page;
    const focused = (): Promise<string> =>
      page.evaluate(`(document.activeElement.shadowRoot ?? document).activeElement.className`);
    await keyboard.press("Enter");
    await keyboard.press("Enter");
    await page.locator(".cm-line").first().waitFor();
    await expect.poll(focused).toContain("cm-content"); // the text has the focus
    for (let n = 0; n < 10; n++) await keyboard.press("ArrowRight");
    await keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: /of retryWithBackoff$/ });
    await panel.locator(".line").first().waitFor();
    await keyboard.press("j");
    await expect.poll(focused).toBe("line match");
    await keyboard.press("Enter");
    await page.waitForURL(/retry\.ts/);
    await page.locator(".cm-target").waitFor();
    for (const step of [/queue\.ts\?name/, /queue\.ts#/, /search/]) {
      await keyboard.press("Escape");
      await page.waitForURL(step);
    }
    await expect.poll(focused).not.toBe("cm-content");
  });

  test("folders can be opened, and lead to files and back", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/tree/`);
    await page.getByRole("link", { name: "src", exact: true }).click();
    await page.getByRole("link", { name: "store", exact: true }).click();
    await page.getByRole("link", { name: "memory.ts" }).click();
    await page.locator(".cm-line").first().waitFor();
    const tree = page.getByRole("navigation", { name: "Files" });
    await tree.getByRole("button", { name: "test" }).click();
    await tree
      .getByRole("link", { name: "queue.spec.ts" })
      .or(tree.getByRole("link").first())
      .first()
      .waitFor();
    await page.getByRole("navigation", { name: "Path" }).getByRole("link", { name: "src" }).click();
    await page.waitForURL(/-\/tree\/src$/);
    await page.getByRole("link", { name: "Search here" }).click();
    const box = page.getByRole("textbox", { name: "Search code" });
    await expect.poll(() => box.inputValue()).toBe("repo:^task-queue$ file:^src/ ");
  });

  test("t finds a file by parts of its path", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/tree/`);
    await page.getByRole("link", { name: "src", exact: true }).waitFor();
    await page.getByRole("heading", { name: "README.md" }).waitFor();
    await page.getByRole("textbox", { name: "Search code" }).press("Escape");
    await page.keyboard.press("t");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("st mem");
    await page.getByRole("option", { name: /src\/store\/memory\.ts/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/blob\/src\/store\/memory\.ts$/);
  });

  test("t finds a file although letters are swapped or left out", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/tree/`);
    await page.getByRole("link", { name: "src", exact: true }).waitFor();
    await page.getByRole("textbox", { name: "Search code" }).press("Escape");
    await page.keyboard.press("t");
    const box = page.getByRole("combobox", { name: "Find a file in task-queue" });
    for (const typed of ["stroe/memroy.ts", "mmry"]) {
      await box.fill(typed);
      await page.getByRole("option", { name: /src\/store\/memory\.ts/ }).waitFor();
    }
    await box.fill("memory"); // exact paths first, and each once
    const options = page.getByRole("option");
    await expect.poll(() => options.first().textContent()).toContain("memory.ts");
    const shown = await options.allTextContents();
    expect(new Set(shown).size).toBe(shown.length);
    await box.fill("zzzzzzzz");
    await page.getByText("No path is like this.").waitFor();
  });

  test("a file of 2 MiB can be scrolled to its end, and only visible lines are drawn", async () => {
    const page = await visit(browser, `${site.root}browse/large/-/blob/large.ts#L${LARGE_LINES}`);
    await page.locator(".cm-target", { hasText: `value${LARGE_LINES - 1} ` }).waitFor();
    await expect.poll(() => page.locator(".cm-line").count()).toBeLessThan(500);
  });

  test("names and contents with markup are shown as text", async () => {
    const page = await visit(browser, `${site.root}search?q=needle`);
    await page.locator(".card").nth(3).waitFor();
    const shown = await page.locator(".results").textContent();
    expect(shown).toContain(MARKUP);
    expect(shown).toContain("U+202E");
    expect(shown).not.toContain("\u202e");
    await page
      .getByRole("link", { name: `${MARKUP}.js` })
      .first()
      .click();
    await page.locator(".cm-line", { hasText: "<script>alert(1)</script>" }).waitFor();
    const { pathname } = new URL(page.url());
    await page.goto(new URL(pathname.replace(/\/-\/blob\/.*/, "/-/tree/"), site.root).href);
    await page.locator(".readme pre", { hasText: MARKUP }).waitFor();
    await expect
      .poll(() => page.locator("img, script:not([src]), iframe, #page svg[onload]").count())
      .toBe(0);
  });

  test("Raw opens only the text in a new tab", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts`);
    const opened = page.context().waitForEvent("page");
    await page.getByRole("button", { name: "Raw" }).click();
    const raw = await opened;
    await raw.waitForLoadState();
    const text = await site.engine.read({ repository: "task-queue", path: "src/queue.ts" });
    await expect.poll(() => raw.locator("body").textContent()).toBe(text!.content);
  });

  test("a missing file is reported", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue/-/blob/nope.ts`, {
      expected: [404],
    });
    await page.getByText("there is no such file").waitFor();
    await page.getByRole("link", { name: "Open its folder" }).waitFor();
  });

  test("a missing file leads to files with its name, and to the default revision", async () => {
    const page = await visit(browser, `${site.root}browse/task-queue@gone/-/blob/lib/queue.ts`, {
      expected: [404],
    });
    const atDefault = page.getByRole("link", { name: "Open it at the default revision" });
    expect(await atDefault.getAttribute("href")).toMatch(
      /browse\/task-queue\/-\/blob\/lib\/queue\.ts$/,
    );
    await page.getByRole("link", { name: "Search for files with this name" }).click();
    await page.getByRole("link", { name: "task-queue src/queue.ts", exact: true }).click();
    await page.locator(".cm-line").first().waitFor();
  });
});
