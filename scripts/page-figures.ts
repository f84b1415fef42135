/**
 * Measures the page in a browser: `npx tsx scripts/page-figures.ts [FOLDER]`. It indexes FOLDER (default:
 * node_modules), and prints bytes of the first view, times from a key stroke to painted results, memory after
 * 200 searches, and the frames while 2 MiB and thousands of results are scrolled.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { createHandler } from "../src/http/handler.ts";
import { toNodeListener } from "../src/http/node-listener.ts";
import { directory, open } from "../src/index.ts";
import { large, LARGE_LINES } from "../test/page/fixtures.ts";
import { launchBrowser } from "../test/page/launch.ts";

const SEARCHES = 200;
const STROKES = 20;

const folder = mkdtempSync(join(tmpdir(), "quern-figures-"));
const engine = await open(folder);
const [report] = await engine.index([
  directory(process.argv[2] ?? "node_modules", { name: "measured" }),
  large(),
]);
console.log(`indexed ${report?.added} files, ${Math.round((report?.bytesRead ?? 0) / 1e6)} MB`);
const server = createServer(
  toNodeListener(createHandler(engine, { anonymous: "all", page: true })),
);
await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const browser = await launchBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await firstView(page);
  for (const [what, word] of [
    ["rare", "AsyncGeneratorFunction"],
    ["frequent", "return"],
  ] as const)
    await strokes(page, what, word);
  await memory(page);
  await scrollResults(page);
  await scrollFile(page);
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
}

async function firstView(page: Page): Promise<void> {
  let bytes = 0;
  const sized: Promise<void>[] = [];
  page.on("requestfinished", (request) => {
    if (request.url().includes("/api/")) return;
    sized.push(request.sizes().then(({ responseBodySize }) => void (bytes += responseBodySize)));
  });
  await page.goto(root);
  await page.locator(".repositories li").first().waitFor();
  await Promise.all(sized);
  page.removeAllListeners("requestfinished");
  console.log(`first view: ${bytes} bytes`);
}

/** From the last key stroke to the frame in which the ranked answer of the whole word is painted. */
async function strokes(page: Page, what: string, word: string): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < STROKES; n++) {
    await page.goto("about:blank"); // no answer is kept
    await page.goto(`${root}search?q=${word.slice(0, -1)}`);
    await page.locator(".summary strong").waitFor();
    await page.evaluate(WATCH);
    await page.locator("#search").focus();
    await page.keyboard.press("End");
    await page.keyboard.press(word.at(-1)!);
    times.push(await page.evaluate<number>("window.painted"));
  }
  times.sort((a, b) => a - b);
  const at = (part: number): string => times[Math.floor(part * (times.length - 1))]!.toFixed(0);
  console.log(
    `${what} word ${word}: ${at(0.5)} ms median, ${at(0.95)} ms p95, key stroke to painted`,
  );
}

const WATCH = `window.painted = new Promise((resolve) => {
  let start;
  addEventListener("keydown", () => { start = performance.now(); }, { capture: true });
  new MutationObserver(() => {
    const files = document.querySelector(".files");
    if (start === undefined || !document.querySelector(".summary strong") || files?.classList.contains("stale")) return;
    if (document.title.startsWith(document.querySelector("#search").value + " "))
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})`;

async function memory(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const used = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return usedSize / 1e6;
  };
  const search = async (n: number): Promise<void> => {
    await page.locator("#search").fill(`return n${n}`);
    await page.waitForFunction(`document.title.startsWith("return n${n} ")`);
  };
  for (let n = 0; n < 20; n++) await search(n);
  const before = await used();
  for (let n = 20; n < SEARCHES; n++) await search(n);
  console.log(
    `heap: ${before.toFixed(1)} MB after 20 searches, ${(await used()).toFixed(1)} MB after ${SEARCHES}`,
  );
}

const FRAMES = `window.frames50 = []; {
  let last = performance.now();
  const each = (now) => { window.frames50.push(now - last); last = now; requestAnimationFrame(each); };
  requestAnimationFrame(each);
}`;

async function longest(page: Page, what: string): Promise<void> {
  const frames = (await page.evaluate<number[]>("window.frames50")).slice(1).sort((a, b) => b - a);
  const over = frames.filter((frame) => frame > 50).length;
  console.log(
    `${what}: ${frames.length} frames, ${over} over 50 ms, the longest ${frames[0]?.toFixed(0)} ms`,
  );
}

async function scrollResults(page: Page): Promise<void> {
  await page.goto(`${root}search?q=return`);
  await page.locator(".card").first().waitFor();
  await page.evaluate(FRAMES);
  for (let n = 0; n < 150; n++) await page.mouse.wheel(0, 1500);
  const shown = await page.locator(".line.match").count();
  await longest(page, `${shown} matching lines scrolled`);
}

async function scrollFile(page: Page): Promise<void> {
  await page.goto(`${root}browse/large/-/blob/large.ts`);
  await page.locator(".cm-line").first().waitFor();
  await page.mouse.move(600, 400);
  await page.evaluate(FRAMES);
  for (let n = 0; n < 150; n++) await page.mouse.wheel(0, 4000);
  await longest(page, `2 MiB, ${LARGE_LINES} lines, scrolled`);
}
