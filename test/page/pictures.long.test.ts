/**
 * Takes the pictures for README.md and docs/page.md. Each run writes them to build/pictures/. QUERN_PICTURES=1 writes
 * them to docs/pictures/; look at them before you commit them.
 */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CORPUS } from "../../scripts/build-corpus.ts";
import { inBrowser } from "./browser.ts";
import { fromCorpus, openSite, visit, type Site } from "./site.ts";
import { someOf } from "../runs.ts";

const TARGET = process.env["QUERN_PICTURES"] === "1" ? "docs/pictures" : "build/pictures";
const MOST_BYTES = 200_000;

const laptop: BrowserContextOptions = { viewport: { width: 1280, height: 720 } };
const phone: BrowserContextOptions = { viewport: { width: 390, height: 720 } };

interface Picture {
  name: string;
  path: string;
  options: BrowserContextOptions;
  /** Brings the page into the state of the picture. */
  prepare: (page: Page) => Promise<void>;
}

const sees =
  (selector: string) =>
  (page: Page): Promise<void> =>
    page.locator(selector).first().waitFor();

const PICTURES: Picture[] = [
  { name: "start", path: "", options: laptop, prepare: sees(".repositories li") },
  { name: "search", path: "search?q=retry", options: laptop, prepare: sees("mark") },
  {
    name: "file",
    path: "browse/task-queue/-/blob/src/queue.ts#L8-16",
    options: { ...laptop, colorScheme: "dark" },
    async prepare(page) {
      await page
        .locator(".cm-line span", { hasText: /^retryWithBackoff$/ })
        .first()
        .click();
      await page.locator(".panel .line").first().waitFor();
      await page.locator(".tok-keyword").first().waitFor();
    },
  },
  {
    name: "phone",
    path: "search?q=backoff+lang:typescript",
    options: { ...phone, colorScheme: "dark" },
    prepare: sees("mark"),
  },
];

inBrowser("pictures", (browser) => {
  let site: Site;
  beforeAll(async () => {
    expect(existsSync(CORPUS)).toBe(true);
    site = await openSite(
      fromCorpus("task-queue", "mailroom", "infra", "trail-map", "dashboard", "wetter"),
    );
    mkdirSync(TARGET, { recursive: true });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test.each(someOf(PICTURES, 3))(
    "takes the picture $name",
    async ({ name, path, options, prepare }) => {
      const page = await visit(browser, site.root + path, options);
      await prepare(page);
      const file = join(TARGET, `${name}.png`);
      const taken = await page.screenshot({ path: file });
      expect(taken.length).toBeLessThan(MOST_BYTES);
      expect(readFileSync(join("docs/pictures", `${name}.png`)).length).toBeLessThan(MOST_BYTES);
    },
  );
});
