/**
 * Takes the steps of a new user, with the two lines of the README: `quern index .` and `quern serve`. Every step is
 * taken on a phone, a laptop and a wide screen, light and dark. With QUERN_PICTURES=1, build/pictures/walk/ has
 * pictures of them.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CORPUS } from "../../scripts/build-corpus.ts";
import { bundledPrograms } from "../programs.ts";
import { inBrowser } from "./browser.ts";
import { visit } from "./site.ts";

const PICTURES = "build/pictures/walk";
const SCHEMES = ["light", "dark"] as const;

const SCREENS: [name: string, options: BrowserContextOptions][] = [
  ["phone", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ["laptop", { viewport: { width: 1280, height: 800 } }],
  ["wide", { viewport: { width: 2560, height: 1440 } }],
];

let command: string;
const run = (folder: string, ...argv: string[]): ChildProcess =>
  spawn(process.execPath, [command, ...argv], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });

async function untilUrl(server: ChildProcess): Promise<string> {
  let said = "";
  for await (const text of server.stdout!) {
    said += String(text);
    const [, url] = /search at (\S+);/.exec(said) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`quern serve ended, and said: ${said}`);
}

inBrowser("the first walk", (browser) => {
  const above = mkdtempSync(join(tmpdir(), "quern-walk-"));
  const folder = join(above, "task-queue");
  let server: ChildProcess | undefined;
  let root: string;
  beforeAll(async () => {
    [command] = (await bundledPrograms(["src/cli/bin.ts"])) as [string];
    mkdirSync(PICTURES, { recursive: true });
    cpSync(join(CORPUS, "task-queue"), folder, { recursive: true });
    const [code] = (await once(run(folder, "index", "."), "exit")) as [number];
    expect(code).toBe(0);
    server = run(folder, "serve", "--anonymous", "all", "--port", "0");
    root = await untilUrl(server);
  });
  afterAll(async () => {
    if (server?.exitCode === null) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    rmSync(above, { recursive: true, force: true });
  });

  test.each(SCREENS)("a new user's steps work on a %s, light and dark", async (screen, options) => {
    const page = await visit(browser, root, { ...options, reducedMotion: "reduce" });
    let steps = 0;
    const seen = async (what: string): Promise<void> => {
      steps += 1;
      for (const scheme of SCHEMES) {
        await page.emulateMedia({ colorScheme: scheme });
        const width = await widthOf(page);
        expect(width, `${what} is wider than the screen, ${scheme}`).toBe(options.viewport!.width);
        const path = join(PICTURES, `${screen}-${scheme}-${steps}-${what}.png`);
        if (process.env["QUERN_PICTURES"] === "1") await page.screenshot({ path });
      }
    };
    await page.locator(".repositories li").waitFor();
    await seen("start");
    await page.getByRole("textbox", { name: "Search code" }).fill("retryWithBackoff");
    await page.getByText(/\d+ matches in \d+ files/).waitFor();
    await seen("search");
    await page.getByRole("link", { name: /src\/retry\.ts$/ }).click();
    await page.locator(".tok-keyword").first().waitFor();
    await page.locator(".outline li").first().waitFor({ state: "attached" });
    // the part below the text is visible, too
    await expect
      .poll(() => page.evaluate("document.documentElement.scrollHeight"))
      .toBe(options.viewport!.height);
    await seen("file");
    await page
      .locator(".cm-line span", { hasText: /^retryWithBackoff$/ })
      .first()
      .click();
    await page.locator(".panel .line").first().waitFor();
    await seen("name");
    await page.goBack();
    await page.goBack();
    await page.getByText(/\d+ matches in \d+ files/).waitFor();
    await page.getByRole("link", { name: "Quern", exact: true }).click();
    await page.locator(".repositories a.name").click();
    await page.locator(".readme").waitFor();
    await seen("folder");
    await page.getByRole("textbox", { name: "Search code" }).fill("nosuchword");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nothing was found" }).waitFor();
    await seen("nothing");
    await page.getByRole("button", { name: /^Help/ }).click();
    await page.getByRole("dialog").waitFor();
    await seen("help");
  });
});

const widthOf = (page: Page): Promise<number> =>
  page.evaluate<number>("Math.max(innerWidth, document.documentElement.scrollWidth)");
