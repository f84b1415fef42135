/**
 * Tests the page with the answers of another version. The page's types fit the library's own. Every view still works
 * if all objects in all answers have unknown fields, kinds and events, and if they lack every optional field and route.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { z } from "@hono/zod-openapi";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildRepository } from "../../scripts/build-corpus.ts";
import type { explanation } from "../../src/http/explain-schema.ts";
import type * as history from "../../src/http/history-schemas.ts";
import type * as schemas from "../../src/http/schemas.ts";
import type * as symbols from "../../src/http/symbol-schemas.ts";
import { git } from "../../src/index.ts";
import type * as read from "../../src/page/wire/answers.ts";
import { inBrowser } from "./browser.ts";
import { openSite, visit, type Site } from "./site.ts";
import { someOf } from "../runs.ts";

/** A type after conversion to JSON: a field that is undefined is absent. */
type Sent<T> = T extends object ? { [Name in keyof T]: Sent<Exclude<T[Name], undefined>> } : T;

/** Does not compile if a server's answer does not fit the page's types. */
type Fits<Answer extends z.ZodType, Read> = [Sent<z.infer<Answer>>] extends [Read] ? true : false;
type All<Checks extends true[]> = Checks;

export type AnswersFit = All<
  [
    Fits<typeof schemas.searchResponse, read.SearchAnswer>,
    Fits<typeof schemas.streamEvent, read.StreamEvent>,
    Fits<ReturnType<typeof explanation>, read.Explanation>,
    Fits<typeof schemas.repositoryList, read.Repository[]>,
    Fits<typeof schemas.revisionList, read.Revision[]>,
    Fits<typeof schemas.sourceResponse, read.Source>,
    Fits<typeof schemas.treeResponse, { tree: read.TreeNode }>,
    Fits<typeof symbols.symbolResponse, read.SymbolAnswer>,
    Fits<typeof history.commitList, read.Commit[]>,
    Fits<typeof history.diffResponse, { files: read.Diff[] }>,
    Fits<typeof history.blameResponse, read.Blame>,
  ]
>;

const KINDS: ReadonlyMap<string, string> = new Map([
  ["kind", "lambda"],
  ["reason", "on-holiday"],
  ["change", "ask-somebody"],
]);

/** Returns an answer in which every object has more fields, and every union one more kind. */
function ofTomorrow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ofTomorrow);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [
    name,
    KINDS.get(name) ?? ofTomorrow(field),
  ]);
  return { ...Object.fromEntries(fields), unheardOf: { of: [null, 1, { deep: "x" }] }, "": 0 };
}

function eventsOfTomorrow(body: string): string {
  const lines = body.split("\n").map((line) => {
    if (!line.startsWith("data: {")) return line;
    const event = JSON.stringify(ofTomorrow(JSON.parse(line.slice(6))));
    return `event: new\nid: 1\ndata: {"type":"progress","percent":1}\n\ndata: ${event}`;
  });
  return lines.join("\n");
}

async function serveTomorrow(page: Page): Promise<void> {
  await page.route("**/api/**", async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const isStream = (response.headers()["content-type"] ?? "").includes("event-stream");
    const body = isStream ? eventsOfTomorrow(text) : JSON.stringify(ofTomorrow(JSON.parse(text)));
    await route.fulfill({ response, body });
  });
}

/** Optional fields, which an older server does not send. */
const OPTIONAL = new Set(
  [...readFileSync("src/page/wire/answers.ts", "utf8").matchAll(/^ +(\w+)\?:/gm)].map(
    ([, name]) => name!,
  ),
);
OPTIONAL.delete("files"); // entries that are not indexed may lack this field, but answers may not

function ofYesterday(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ofYesterday);
  if (typeof value !== "object" || value === null) return value;
  const known = Object.entries(value).filter(([name]) => !OPTIONAL.has(name));
  return Object.fromEntries(known.map(([name, field]) => [name, ofYesterday(field)]));
}

/** Routes that were added together with the page. An older server lacks them. */
const NEW_ROUTES = /api\/(?:explain|revisions)/;

async function serveYesterday(page: Page): Promise<void> {
  await page.route("**/api/**", async (route) => {
    if (NEW_ROUTES.test(route.request().url()))
      return route.fulfill({ status: 404, json: { message: "no such route" } });
    const response = await route.fetch();
    const { "x-total-count": _, ...headers } = response.headers();
    const isStream = (headers["content-type"] ?? "").includes("event-stream");
    if (isStream) return route.fulfill({ response });
    return route.fulfill({ response, headers, json: ofYesterday(await response.json()) });
  });
}

const FILE = "browse/task-queue/-/blob/src/queue.ts";

/** The views, each with an element that shows that it is loaded. */
const VIEWS: [name: string, path: string, sign: string][] = [
  ["the start", "", ".repositories li"],
  ["a search", "search?q=retryWithBackoff", ".card .kind"],
  ["nothing found", "search?q=RETRYWITHBACKOFF&case=1", ".suggestions a"],
  ["not indexed", "search?q=repo:^unheard-of$+x", ".suggestions strong"],
  ["a file", FILE, ".outline li"],
  ["blame", `${FILE}?blame=1`, ".cm-blame a"],
  ["a folder", "browse/task-queue/-/tree/", ".readme"],
  ["commits", "browse/task-queue/-/commits/", ".commits li"],
];

inBrowser("answers of other versions", (browser) => {
  const folder = mkdtempSync(join(tmpdir(), "quern-answers-"));
  let site: Site;
  beforeAll(async () => {
    const { path, name, revisions } = await buildRepository(folder, "task-queue");
    site = await openSite([git(path, { name, revisions })]);
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(someOf(VIEWS, 3))(
    "the page can show a newer server's answers: %s",
    async (_name, path, sign) => {
      const page = await visit(browser, site.root);
      await serveTomorrow(page);
      await page.goto(site.root + path);
      await page.locator(sign).first().waitFor();
    },
  );

  test.each<[name: string, path: string, sign: string]>([
    ["the start", "", ".repositories li"],
    ["a search", "search?q=retryWithBackoff", ".card mark"],
    ["facets of the shown results", "search?q=retryWithBackoff", ".facet a"],
    ["nothing found", "search?q=RETRYWITHBACKOFF&case=1", ".nothing"],
    ["a file", FILE, ".cm-line"],
    ["a name", `${FILE}?name=retryWithBackoff`, ".panel .line"],
    ["blame", `${FILE}?blame=1`, ".cm-blame a"],
    ["a folder", "browse/task-queue/-/tree/", ".readme"],
    ["commits", "browse/task-queue/-/commits/", ".commits li"],
  ])("the page can show an older server's answers: %s", async (_name, path, sign) => {
    expect(OPTIONAL.size).toBeGreaterThan(15);
    const page = await visit(browser, `${site.root}browse/nothing`, { expected: [404] });
    await serveYesterday(page);
    await page.goto(site.root + path);
    await page.locator(sign).first().waitFor();
  });

  test("with an older server, further results are loaded without cursors", async () => {
    const page = await visit(browser, `${site.root}browse/nothing`, { expected: [404] });
    await serveYesterday(page);
    await page.goto(`${site.root}search?q=e`);
    await page.locator(".card").first().waitFor();
    const { stats } = await site.engine.search({ query: "e", matches: 0 });
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 5000);
        return page.locator(".card, .copies li").count();
      })
      .toBe(stats.fileCount);
  });

  test("the page says that a newer server lacks a part of it, and loads again", async () => {
    const page = await visit(browser, `${site.root}search?q=retryWithBackoff`, { expected: [404] });
    await page.locator(".card").first().waitFor();
    await page.route("**/assets/code-view-*.js", (route) => route.fulfill({ status: 404 }));
    await page.locator(".card-head a").first().click();
    await page.getByText("A part of this page could not be loaded").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.getByRole("button", { name: "Load the page again" }).click();
    await page.locator(".cm-line").first().waitFor();
  });

  test("the page can show a newer server's names, commits, errors and streams", async () => {
    const page = await visit(browser, site.root, { expected: [400] });
    await serveTomorrow(page);
    await page.goto(site.root + FILE);
    await page
      .locator(".cm-line span", { hasText: /^retryWithBackoff$/ })
      .first()
      .click();
    await page.locator(".panel .line").first().waitFor();
    await page.getByRole("link", { name: "History" }).click();
    await page.locator(".commits li > a").first().click();
    await page.locator(".diff .line").first().waitFor();
    await page.route("**/api/search", () => {}); // never answers, so that the stream is shown
    await page.getByRole("textbox", { name: "Search code" }).fill("retryWithBackoff");
    await page.keyboard.press("Enter");
    await page.locator(".card .kind", { hasText: "lambda" }).first().waitFor();
    await expect.poll(() => page.locator(".summary").textContent()).toMatch(/not ranked yet/);
    await page.unroute("**/api/search");
    await page.getByRole("textbox", { name: "Search code" }).fill("a or or b");
    await page.locator(".query-error").waitFor();
  });
});
