/** A site to visit: an engine with some repositories, and the page over them. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
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

/** Serves the page over an engine. Whoever disposes of the result still has to close the engine. */
export async function openPage(
  engine: Engine,
  options: HandlerOptions,
): Promise<Omit<Site, "engine">> {
  const handler = createHandler(engine, { page: true, ...options });
  const { origin, ...server } = await listen(createServer(toNodeListener(handler)));
  return { root: `${origin}${options.basePath ?? ""}/`, ...server };
}

/**
 * What no visit may cause: errors in the console, which include violations of the policy, requests to other hosts, and
 * dialogs.
 */
interface Complaints {
  list: string[];
  /** The statuses of answers that the test expects. */
  expected: number[];
}

const complaints = new WeakMap<Page, Complaints>();

/** Opens a tab. When the test ends, any complaint of the page fails it. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions & { expected?: number[] } = {},
): Promise<Page> {
  const { expected = [], ...contextOptions } = options;
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...contextOptions,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const list: string[] = [];
  complaints.set(page, { list, expected });
  const { origin } = new URL(url);
  page.on("console", (message) => {
    const isExpected = expected.some((status) => message.text().includes(`status of ${status}`));
    if (message.type() === "error" && !isExpected) list.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => list.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    list.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) list.push(`went to ${request.url()}`);
  });
  onTestFinished(async () => {
    // a route may be answering still, unless the test has closed the browser
    await page.unrouteAll({ behavior: "ignoreErrors" }).catch(() => undefined);
    await context.close();
    expect(list).toEqual([]);
  });
  await page.goto(url);
  return page;
}
