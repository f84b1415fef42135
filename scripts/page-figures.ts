/**
 * Measures the page in a browser: `npx tsx scripts/page-figures.ts FOLDER [INDEX]`. It indexes FOLDER, or uses the
 * index in INDEX if there is one, and prints
 *
 * - the bytes of the first view;
 * - times from a key stroke to painted results, and from the answer's last byte to them;
 * - memory after 200 searches;
 * - frame times, and the longest task, while 10 000 results and a file of 2 MiB are scrolled.
 *
 * Other work on the machine makes times and frames longer, so the load is printed with them. The processor time of a
 * task, from the browser's own trace, does not depend on it.
 */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { createHandler } from "../src/http/handler.ts";
import { toNodeListener } from "../src/http/node-listener.ts";
import { directory, open, type Engine } from "../src/index.ts";
import { large, LARGE_LINES } from "../test/page/fixtures.ts";
import { launchBrowser } from "../test/page/launch.ts";
import { tasksDuring } from "../test/page/tasks.ts";

const SEARCHES = 200;
const STROKES = 20; // of each word
const RESULTS = 10_000;
const [, , source = "node_modules", given] = process.argv;

/** Records when the answer for the whole word is painted. */
const watch = (word: string): string => `window.painted = new Promise((resolve) => {
  let start;
  addEventListener("keydown", () => { start = performance.now(); }, { capture: true });
  const answered = () => performance.getEntriesByType("resource")
    .filter(({ name, startTime }) => name.endsWith("/api/search") && startTime >= start)
    .at(-1)?.responseEnd ?? NaN;
  let first;
  const look = () => {
    const files = document.querySelector(".files");
    if (start === undefined || !document.querySelector(".card") || files?.classList.contains("stale")) return;
    if (!document.title.startsWith(${JSON.stringify(`${word} `)})) return;
    first ??= new Promise((painted) => requestAnimationFrame(() => setTimeout(() => painted(performance.now() - start))));
    if (!document.querySelector(".summary strong")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(async () => {
      const now = performance.now();
      resolve({ first: await first, ranked: now - start, answer: now - answered() });
    }));
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
}); 0`;

/** Records how long each frame took, in milliseconds. */
const FRAMES = `window.frames50 = []; {
  let last = performance.now();
  const each = (now) => { window.frames50.push(now - last); last = now; requestAnimationFrame(each); };
  requestAnimationFrame(each);
}`;

const folder = given ?? mkdtempSync(join(tmpdir(), "quern-figures-"));
const isThere = existsSync(join(folder, "quern.mdb"));
const engine = await open(folder);
if (!isThere) await engine.index([directory(source, { name: "measured", gitignore: false })]);
await engine.index(large());
await describe(engine);
const handler = createHandler(engine, { anonymous: "all", page: true });
const server = createServer(toNodeListener(handler));
await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const browser = await launchBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(120_000);
  await firstView(page);
  for (const word of ["raid5_compute_sector", "mutex_lock", "return"]) await strokes(page, word);
  await memory(page);
  await scrollFile(page);
  await scrollResults(page);
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
  await engine.close();
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}

async function describe(measured: Engine): Promise<void> {
  const { stats } = await measured.search({ query: '""', matches: 0 });
  console.log(`${stats.fileCount} files are indexed; ${loadNow()}`);
}

function loadNow(): string {
  return `load ${loadavg()[0]!.toFixed(1)}`;
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

// ── from a key stroke to painted results ──

interface Painted {
  /** Milliseconds from the key stroke to the frame in which files of the whole word are painted. */
  first: number;
  /** Milliseconds to the ranked answer, which a stream precedes if it takes long. */
  ranked: number;
  /** Milliseconds from the last byte of the ranked answer to that frame. */
  answer: number;
}

async function strokes(page: Page, word: string): Promise<void> {
  const times: Painted[] = [];
  for (let n = 0; n < STROKES; n++) {
    await page.goto("about:blank"); // so that no answer is cached
    await page.goto(`${root}search?q=${word.slice(0, -1)}`);
    await page.locator(".summary strong").waitFor();
    await page.evaluate(watch(word));
    await page.locator("#search").focus();
    await page.keyboard.press("End");
    await page.keyboard.press(word.at(-1)!);
    times.push(await page.evaluate<Painted>("window.painted"));
  }
  const { stats } = await engine.search({ query: word, matches: 0 });
  const all = (name: keyof Painted): string => spread(times.map((time) => time[name]));
  console.log(
    `${word}, ${stats.totalMatchCount} matches: key stroke to painted ${all("first")}, ranked ${all("ranked")}; ` +
      `answer to painted ${all("answer")}; ${loadNow()}`,
  );
}

function spread(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): string => sorted[Math.floor(part * (sorted.length - 1))]!.toFixed(0);
  return `median ${at(0.5)} ms, p95 ${at(0.95)} ms`;
}

// ── memory ──

async function memory(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const used = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    return usedSize / 1e6;
  };
  const search = async (n: number): Promise<void> => {
    await page.locator("#search").fill(`return n${n}`);
    while (!(await page.title()).startsWith(`return n${n} `)) await page.waitForTimeout(10);
  };
  await page.goto(`${root}search?q=return`);
  for (let n = 0; n < 20; n++) await search(n);
  const before = await used();
  for (let n = 20; n < SEARCHES; n++) await search(n);
  const after = await used();
  await session.detach();
  console.log(
    `heap: ${before.toFixed(1)} MB after 20 searches, ${after.toFixed(1)} MB after ${SEARCHES}`,
  );
}

// ── scrolling ──

/** Scrolls, and prints how long the frames and tasks took meanwhile. */
async function scrolled(page: Page, what: string, scroll: () => Promise<string>): Promise<void> {
  let name = "";
  let frames: number[] = [];
  const tasks = await tasksDuring(browser, async () => {
    await page.evaluate(FRAMES);
    name = await scroll();
    frames = (await page.evaluate<number[]>("window.frames50")).slice(1).sort((a, b) => b - a);
  });
  const over = (times: readonly number[]): number => times.filter((time) => time > 50).length;
  console.log(
    `${what}: ${name}; ${frames.length} frames, ${over(frames)} over 50 ms, longest ${frames[0]?.toFixed(0)} ms; ` +
      `${tasks.length} tasks, ${over(tasks)} over 50 ms of processor time, longest ${tasks[0]?.toFixed(0)} ms; ${loadNow()}`,
  );
}

async function scrollFile(page: Page): Promise<void> {
  await page.goto("about:blank");
  await scrolled(page, "2 MiB opened and scrolled", async () => {
    await page.goto(`${root}browse/large/-/blob/large.ts`);
    await page.evaluate(FRAMES);
    await page.locator(".cm-line").first().waitFor();
    await page.mouse.move(600, 400);
    for (let n = 0; n < 200; n++) await page.mouse.wheel(0, 4000);
    await page.keyboard.press("Control+Home"); // the text has the focus
    await page.keyboard.press("Control+End");
    const last = page.locator(".cm-line", { hasText: `value${LARGE_LINES - 1} ` });
    await last.locator(".tok-keyword").first().waitFor(); // everything is parsed
    return `${LARGE_LINES} lines`;
  });
}

async function scrollResults(page: Page): Promise<void> {
  await page.goto(`${root}search?q=mutex_lock`);
  await page.locator(".card").first().waitFor();
  await page.mouse.move(600, 400);
  await scrolled(page, "results scrolled", async () => {
    // not by a locator, which would examine all of them in a task of the page
    const count = (): Promise<number> =>
      page.evaluate("document.getElementsByClassName('match').length");
    for (let last = -1, now = await count(); now < RESULTS && last < now; now = await count()) {
      last = now;
      for (let n = 0; n < 10; n++) await page.mouse.wheel(0, 3000);
      const isDrawn = `document.getElementsByClassName("match").length > ${now} ||
        document.querySelector(".more") === null`;
      while (!(await page.evaluate(isDrawn))) await page.waitForTimeout(10);
    }
    return `${await count()} matching lines in ${await page.locator(".card").count()} files`;
  });
}
