/** Tests how the page shows the history of a repository. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildRepository } from "../../scripts/build-corpus.ts";
import { createHandler } from "../../src/http/handler.ts";
import { git } from "../../src/index.ts";
import { beginningOfDiff, diffLines } from "../../src/page/history/diff-lines.ts";
import { openEngine } from "../http/engine.ts";
import { inBrowser } from "./browser.ts";
import { violations } from "./axe.ts";
import { hostileHistory, large, MARKUP, RTL } from "./fixtures.ts";
import { openSite, visit, type Site } from "./site.ts";

test("a hunk's lines have their numbers on both sides", () => {
  const body = " a\n-b\n+c\n+d\n e\n\\ No newline at end of file\n";
  const lines = diffLines({ oldRange: { start: 4 }, newRange: { start: 9 }, body });
  expect(
    lines.map(({ kind, old, new: now, text }) => `${kind} ${old ?? "-"} ${now ?? "-"} ${text}`),
  ).toEqual(["same 4 9 a", "removed 5 - b", "added - 10 c", "added - 11 d", "same 6 12 e"]);
});

test.each<[what: string, lines: string[], files: number, shown: number[], isCut: boolean]>([
  ["5 000 lines with their file", Array.from({ length: 4_999 }, () => "+a"), 1, [4_999], false],
  ["one line more", Array.from({ length: 5_000 }, () => "+a"), 1, [4_999], true],
  ["lines of several files", Array.from({ length: 3_000 }, () => "+a"), 3, [3_000, 1_998], true],
  ["long lines", Array.from({ length: 2_000 }, () => `+${"a".repeat(300)}`), 1, [2_000], false],
  ["very long lines", Array.from({ length: 1_500 }, () => "+".repeat(9_000)), 1, [999], true],
  ["many files", ["+a"], 4_000, Array.from({ length: 2_500 }, () => 1), true],
])("the beginning of a long diff is shown: %s", (_, lines, count, shown, isCut) => {
  const body = `${lines.join("\n")}\n`;
  const hunk = { oldRange: { start: 1 }, newRange: { start: 1 }, body };
  const file = { oldPath: "a", newPath: "a", hunks: [hunk] };
  const begun = beginningOfDiff(Array.from({ length: count }, () => file));
  expect(begun.files.map(({ hunks }) => hunks.flat().length)).toEqual(shown);
  expect(begun.isCut).toBe(isCut);
});

// the routes of commits may not be part of this build
const engine = await openEngine([]);
const document = await createHandler(engine, { anonymous: "all", page: true })(
  new Request("http://localhost/"),
);
const hasHistory = (await document.text()).includes('data-history="true"');
await engine.close();

describe.runIf(hasHistory)("with routes of commits", () =>
  inBrowser("history", (browser) => {
    const folder = mkdtempSync(join(tmpdir(), "quern-page-git-"));
    let site: Site;
    beforeAll(async () => {
      const { path, name, revisions } = await buildRepository(folder, "task-queue");
      const hostile = await hostileHistory(join(folder, "hostile"));
      site = await openSite([
        git(path, { name, revisions }),
        git(hostile, { name: "hostile" }),
        large(),
      ]);
    });
    afterAll(async () => {
      await site[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    test("a file leads to its commits, a commit to its changes, and these to the old file", async () => {
      const history = (await site.engine.history("task-queue"))!;
      const { commits, total } = await history.commits({ path: "src/queue.ts" });
      const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts`);
      await page.getByRole("link", { name: "History" }).click();
      await page.getByText(new RegExp(`, ${total} commits?$`)).waitFor();
      await expect
        .poll(() => page.locator(".commits li > a").allTextContents())
        .toEqual(commits.map(({ message }) => message));
      expect(await violations(page)).toEqual([]);
      const withParent = commits.find(({ hash }) => hash !== commits.at(-1)!.hash) ?? commits[0]!;
      await page.getByRole("link", { name: withParent.message }).first().click();
      await page.getByRole("heading", { name: withParent.message }).waitFor();
      await page.locator(".diff .added, .diff .removed").first().waitFor();
      expect(await violations(page)).toEqual([]);
      await expect.poll(() => page.title()).toBe(`${withParent.message} – task-queue – Quern`);
      await page.locator(".card-head a").first().click();
      await page.locator(".cm-line").first().waitFor();
      expect(page.url()).toContain(`@${withParent.hash}/-/blob/`);
    });

    test("blame names the author of each line, and leads to the commit", async () => {
      const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts`);
      await page.locator(".cm-line").first().waitFor();
      await page.getByRole("link", { name: "Blame" }).click();
      const first = page.locator(".cm-blame a").first();
      await first.waitFor();
      const blame = await (await site.engine.history("task-queue"))!.blame({
        path: "src/queue.ts",
      });
      const { authorName } = blame!.commits[blame!.ranges[0]!.hash]!;
      await expect.poll(() => first.textContent()).toContain(authorName);
      expect(await violations(page)).toEqual([]);
      await first.click();
      await page.waitForURL(new RegExp(`/-/commit/${blame!.ranges[0]!.hash}$`));
      await page.goBack();
      await first.waitFor();
      await page.getByRole("link", { name: "Blame" }).click();
      await expect.poll(() => page.locator(".cm-blame").count()).toBe(0);
    });

    test("a file leads to its other revisions, and to a permanent link", async () => {
      const page = await visit(browser, `${site.root}browse/task-queue/-/blob/src/queue.ts`);
      const repository = (await site.engine.repositories()).find(
        ({ name }) => name === "task-queue",
      )!;
      const other = repository.revisions.find(({ isDefault }) => !isDefault)!;
      await page.getByRole("combobox", { name: "Revision" }).selectOption(other.name);
      await page.waitForURL(new RegExp(`task-queue@${other.name}/-/blob/src/queue\\.ts$`));
      await page.locator(".cm-line").first().waitFor();
      await page.getByRole("heading", { name: "queue.ts" }).click();
      await page.keyboard.press("y");
      await page.waitForURL(new RegExp(`@${other.commit!}/-/blob/`));
      await page.locator(".cm-line").first().waitFor();
    });

    test("commits are found by their messages and authors", async () => {
      const history = (await site.engine.history("task-queue"))!;
      const { commits } = await history.commits({});
      const { message, authorName } = commits[0]!;
      const page = await visit(browser, `${site.root}browse/task-queue/-/commits/`);
      const field = page.getByRole("searchbox", { name: /^Filter commits/ });
      await field.fill(message);
      await field.press("Enter");
      await page.waitForURL(/[?]q=/);
      const messages = (): Promise<string[]> => page.locator(".commits li > a").allTextContents();
      await expect.poll(messages).toEqual([message]);
      await page.reload(); // the address is the state
      await expect.poll(messages).toEqual([message]);
      await expect.poll(() => field.inputValue()).toBe(message);
      await page.getByRole("link", { name: authorName, exact: true }).first().click();
      await page.waitForURL(/author=/);
      await expect.poll(messages).toEqual([message]);
      await page.getByRole("link", { name: /show commits of all authors/ }).waitFor();
      await page.goto(`${site.root}browse/task-queue/-/commits/?author=nobody`);
      await page.getByText("No commit matches.").waitFor();
      await page.getByRole("link", { name: /show commits of all authors/ }).click();
      await expect.poll(messages).toEqual(commits.map((commit) => commit.message));
    });

    test("messages, names and paths of commits with markup are shown as text", async () => {
      const page = await visit(browser, `${site.root}browse/hostile/-/commits/`);
      const link = page.getByRole("link", { name: MARKUP }).first();
      await link.waitFor();
      await expect.poll(() => page.title()).not.toContain(RTL);
      await link.click();
      await page.locator("pre", { hasText: "</pre><script>alert(2)</script>" }).waitFor();
      await expect.poll(() => page.locator("pre").first().textContent()).toContain("second line\n");
      const shown = async (): Promise<string> => (await page.locator("main").textContent()) ?? "";
      await expect.poll(shown).toContain(`renamed from ${MARKUP}U+202E`);
      await expect.poll(shown).toContain("<svg onload=alert(3)>");
      expect(await shown()).not.toContain(RTL);
      await page.locator(".card-head a").first().click();
      await page.getByRole("link", { name: "Blame" }).click();
      await page.locator(".cm-blame a").first().waitFor();
      const injected = page.locator("img, script:not([src]), iframe, #page svg[onload]");
      expect(await injected.count()).toBe(0);
    });

    test("a repository without history says so", async () => {
      const page = await visit(browser, `${site.root}browse/large/-/commits/`, { expected: [404] });
      await page.locator(".error").waitFor();
      await expect.poll(() => page.locator(".error").textContent()).toMatch(/history/);
    });
  }),
);
