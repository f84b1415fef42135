/** The page shows the same over a front as over one engine: results, files, folders, history, and nothing hidden. */

import { renameSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { buildRepository } from "../../scripts/build-corpus.ts";
import { createApiKey } from "../../src/auth/secrets.ts";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import { memoryUserStore, type UserStore } from "../../src/auth/user-store.ts";
import { documents, git } from "../../src/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { person } from "../http/service.ts";
import { inBrowser } from "../page/browser.ts";
import { fromCorpus, openPage, visit } from "../page/site.ts";
import { openFront, startNodes, type RunningNode } from "./fronts.ts";
import { newCluster } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const SECRET_TEXT = "export function retryOfNobody() {}\n";

/** Opens the page over a front and two nodes, with a key of a user who may see two of three repositories. */
async function openOverFront() {
  const folder = temporaryFolder();
  const { path: clone, name, revisions } = await buildRepository(folder, "task-queue");
  const cluster = await newCluster({ shardBytes: 2_000, replicas: 1 });
  const nodes = await startNodes(cluster, 2);
  const front = await openFront(cluster);
  const files = [{ path: "src/plans.ts", content: SECRET_TEXT }];
  await front.index([
    git(clone, { name, revisions }),
    ...fromCorpus("mailroom"),
    documents({ name: "hidden-plans", files }),
  ]);
  const tokens = memoryTokenStore();
  const known = await front.repositories();
  const visible = known.filter((one) => one.name !== "hidden-plans");
  const repositoryIds = new Set(visible.map(({ id }) => id));
  const users: UserStore = {
    ...memoryUserStore(),
    visibleRepositories: async () => repositoryIds,
  };
  await users.put(person("ada"));
  const { secret } = await createApiKey(tokens, { ownerId: "ada" });
  const { root, ...server } = await openPage(front, { tokens, users });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { front, nodes, clone, root, secret, viewer: { repositoryIds } };
}

async function signedIn(browser: Browser, url: string, secret: string): Promise<Page> {
  // a front answers no descriptions, which the page asks for if a search finds nothing
  const page = await visit(browser, url, { expected: [401, 404, 400] });
  await page.getByLabel(/^API key/).fill(secret);
  await page.keyboard.press("Enter");
  return page;
}

/** Returns the names of the nodes that have received such a call since the last time. */
function askedFor(nodes: readonly RunningNode[], path: string): string[] {
  const asked = nodes.filter((node) => node.asked.delete(path));
  return asked.map(({ name }) => name);
}

inBrowser("over a front", (browser) => {
  test("a user gets from a search to a file, its folder and its history", async () => {
    const { front, nodes, clone, root, secret, viewer } = await openOverFront();
    const page = await signedIn(browser, root, secret);
    const names = page.locator(".repositories a.name");
    await expect.poll(() => names.allTextContents()).toEqual(["mailroom", "task-queue"]);

    const query = "retryWithBackoff";
    const { stats } = await front.search({ query, matches: 0 }, { viewer });
    askedFor(nodes, "/v1/search");
    await page.getByRole("textbox", { name: "Search code" }).fill("retry");
    await page.getByText(/\d+ matches in \d+ files/).waitFor();
    expect(askedFor(nodes, "/v1/search")).toEqual(["node-0", "node-1"]);
    await page.getByRole("textbox", { name: "Search code" }).fill(query);
    const counts = `${stats.totalMatchCount} matches in ${stats.fileCount} files`;
    await page.getByText(counts, { exact: false }).waitFor();
    await page.getByRole("link", { name: /src\/retry\.ts$/ }).click();
    const file = await front.read({ repository: "task-queue", path: "src/retry.ts" });
    const [first = ""] = file!.content.split("\n");
    await page.locator(".cm-line", { hasText: first }).first().waitFor();
    await page
      .getByRole("complementary", { name: "Definitions" })
      .getByRole("link", { name: /retryWithBackoff/ })
      .waitFor();

    await page.goto(`${root}browse/task-queue/-/tree/src`);
    const listed = await front.list({ repository: "task-queue", path: "src" });
    for (const { name } of listed!) await page.getByRole("link", { name }).first().waitFor();

    await page.goto(`${root}browse/task-queue/-/commits/`);
    const messages = (): Promise<string[]> => page.locator(".commits li > a").allTextContents();
    const { commits } = await (await front.history("task-queue"))!.commits({});
    await expect.poll(messages).toEqual(commits.map(({ message }) => message));
    renameSync(clone, join(clone, "..", "elsewhere")); // as on a front that has no clone
    await page.reload();
    await page.locator(".error", { hasText: /history/ }).waitFor();
  });

  test("lists, results, completion and addresses show nothing of a hidden repository", async () => {
    const { front, root, secret } = await openOverFront();
    const { stats } = await front.search({ query: "retryOfNobody", matches: 0 });
    expect(stats.totalMatchCount).toBe(1);
    const page = await signedIn(browser, root, secret);
    await page.getByRole("link", { name: "mailroom", exact: true }).waitFor();
    const seen = async (): Promise<string> => (await page.locator("body").textContent()) ?? "";
    expect(await seen()).not.toContain("hidden-plans");
    const box = page.getByRole("textbox", { name: "Search code" });
    for (const text of ["retryOfNobody", "repo:hidden", "file:plans", "sym:retryOf"]) {
      const answered = page.waitForResponse((response) => response.url().includes("/api/"));
      await box.fill(text);
      await answered;
      await page.waitForLoadState("networkidle");
      expect((await seen()).replaceAll(text, ""), text).not.toMatch(
        /hidden-plans|src\/plans|Nobody/,
      );
    }
    for (const path of ["-/blob/src/plans.ts", "-/tree/src", "-/commits/"]) {
      await page.goto(`${root}browse/hidden-plans/${path}`);
      await page.getByText("there is no such repository").waitFor();
    }
  });
});
