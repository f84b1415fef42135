/** A site to visit: an engine with some repositories, and the page over them. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
  Request,
} from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { CORPUS } from "../../scripts/build-corpus.ts";
import { createHandler } from "../../src/http/handler.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import type { HandlerOptions } from "../../src/http/options.ts";
import { directory, open, type Engine, type Source } from "../../src/index.ts";
import { listen } from "../http/mounts.ts";

export interface Site extends AsyncDisposable {
  engine: Engine;
  /** The address of the page, with a slash at its end. */
  root: string;
}

/** Returns repositories of the corpus. */
export const fromCorpus = (...names: string[]): Source[] =>
  names.map((name) => directory(join(CORPUS, name)));

export async function openSite(
  sources: Source[],
  options: HandlerOptions = { anonymous: "all" },
): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), "quern-page-"));
  const engine = await open(folder, { workers: 1, warmUp: false });
  await engine.index(sources);
  const { root, ...server } = await openPage(engine, options);
  return {
    engine,
    root,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Serves the page over an engine. The caller disposes of the result and then closes the engine. */
export async function openPage(
  engine: Engine,
  options: HandlerOptions,
): Promise<Omit<Site, "engine">> {
  const handler = createHandler(engine, { page: true, ...options });
  const { origin, ...server } = await listen(createServer(toNodeListener(handler)));
  return { root: `${origin}${options.basePath ?? ""}/`, ...server };
}

const WIDE = { viewport: { width: 1280, height: 800 } };
/** The sites that the running test visits. */
const origins = new Set<string>();
const contexts = new WeakMap<Browser, Promise<BrowserContext>>();

/**
 * Resolves to the context that visits without options share. Its tabs have one process, which an empty tab keeps alive.
 * To start a process for each visit takes half of a visit's processor time.
 */
function sharedContext(browser: Browser): Promise<BrowserContext> {
  const open = async (): Promise<BrowserContext> => {
    const context = await browser.newContext(WIDE);
    await context.newPage();
    return context;
  };
  const opened = contexts.get(browser) ?? open();
  contexts.set(browser, opened);
  return opened;
}

/** Closes the test's context, or all tabs of the shared context except the empty one. */
async function closeTabs(browser: Browser, context: BrowserContext): Promise<void> {
  if (context !== (await contexts.get(browser))) return context.close();
  for (const tab of context.pages().slice(1)) await tab.close();
  await context.clearCookies();
}

/**
 * Opens a tab. At the end, a test fails if the visit has caused errors in the console, which include violations of
 * the policy, requests to other hosts, and dialogs. `expected` are the statuses of answers that the test expects.
 */
export async function visit(
  browser: Browser,
  url: string,
  { expected = [], ...options }: BrowserContextOptions & { expected?: number[] } = {},
): Promise<Page> {
  const isShared = Object.keys(options).length === 0;
  const context = isShared
    ? await sharedContext(browser)
    : await browser.newContext({ ...WIDE, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const list: string[] = [];
  origins.add(new URL(url).origin);
  page.on("console", (message) => {
    const isExpected = expected.some((status) => message.text().includes(`status of ${status}`));
    if (message.type() === "error" && !isExpected) list.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => list.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    list.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const see = (request: Request): void => {
    if (!origins.has(new URL(request.url()).origin)) list.push(`went to ${request.url()}`);
  };
  context.on("request", see); // also of a tab that the page opens
  onTestFinished(async () => {
    // a route may still be answering, unless the test has closed the browser
    await page.unrouteAll({ behavior: "ignoreErrors" }).catch(() => undefined);
    await closeTabs(browser, context);
    context.off("request", see);
    origins.clear();
    expect(list).toEqual([]);
  });
  await page.goto(url);
  return page;
}
