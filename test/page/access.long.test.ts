/** Tests the page for a user who needs a key, and for a user from whom a repository is hidden. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiKey } from "../../src/auth/secrets.ts";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import { memoryUserStore, type UserStore } from "../../src/auth/user-store.ts";
import { person } from "../http/service.ts";
import { inBrowser } from "./browser.ts";
import { fromCorpus, openSite, visit, type Site } from "./site.ts";

inBrowser("access", (browser) => {
  const tokens = memoryTokenStore();
  let secret: string;
  let visible: ReadonlySet<number>;
  let site: Site;
  beforeAll(async () => {
    const users: UserStore = {
      ...memoryUserStore(),
      visibleRepositories: async () => visible,
    };
    site = await openSite(fromCorpus("task-queue", "mailroom"), {
      tokens,
      users,
      serviceName: "Acme",
    });
    await users.put(person("ada"));
    secret = (await createApiKey(tokens, { ownerId: "ada" })).secret;
    const [repository] = (await site.engine.repositories()).filter(
      ({ name }) => name === "mailroom",
    );
    visible = new Set([repository!.id]);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("the page asks for a key, keeps it only in this tab, and never puts it into an address", async () => {
    const page = await visit(browser, `${site.root}search?q=retry`, { expected: [401] });
    const field = page.getByLabel("API key of Acme");
    await field.waitFor();
    await page.waitForLoadState("networkidle"); // on a busy machine, the requests without a key come late
    const addresses: string[] = [];
    const keys = new Set<string | undefined>();
    page.on("request", (request) => {
      addresses.push(request.url());
      if (request.url().includes("/api/")) keys.add(request.headers()["x-acme-api-key"]);
    });
    await field.fill("qrn_wrong");
    await field.press("Enter");
    await page.getByText("This key was not accepted").waitFor();
    const box = page.getByRole("textbox", { name: "Search code" });
    await expect.poll(() => box.inputValue()).toBe("retry"); // the typed text is kept
    await field.fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator("mark").first().waitFor();
    await expect.poll(() => box.inputValue()).toBe("retry");
    expect(keys).toEqual(new Set(["qrn_wrong", secret]));
    for (const address of [...addresses, page.url()]) expect(address).not.toContain("qrn_");
    expect(await page.evaluate("localStorage.length")).toBe(0);
    expect(await page.evaluate("document.cookie")).toBe("");

    await page.getByRole("button", { name: "Sign out" }).click();
    await field.waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("after its revocation, a key is asked for again", async () => {
    const { secret: other, id } = await createApiKey(tokens, { ownerId: "ada" });
    const page = await visit(browser, site.root, { expected: [401] });
    await page.getByLabel("API key of Acme").fill(other);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "mailroom", exact: true }).waitFor();
    await tokens.revoke(id, new Date());
    const box = page.getByRole("textbox", { name: "Search code" });
    await box.fill("backoff");
    await page.getByText("This key was not accepted").waitFor();
    await expect.poll(() => box.inputValue()).toBe("backoff");
  });

  test("lists, results, completion and addresses show nothing of a hidden repository", async () => {
    const page = await visit(browser, site.root, { expected: [401, 404, 400] });
    await page.getByLabel("API key of Acme").fill(secret);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "mailroom", exact: true }).waitFor();
    const seen = async (): Promise<string> => (await page.locator("body").textContent()) ?? "";
    expect(await seen()).not.toContain("task-queue");
    const box = page.getByRole("textbox", { name: "Search code" });
    for (const text of ["retry", "repo:task", "file:queue", "sym:TaskQueue"]) {
      const answered = page.waitForResponse((response) => response.url().includes("/api/"));
      await box.fill(text);
      await answered;
      await page.waitForLoadState("networkidle");
      expect((await seen()).replaceAll(text, ""), text).not.toMatch(/task-queue|src\/queue\.ts/);
    }
    await page.goto(`${site.root}browse/task-queue/-/blob/src/queue.ts`);
    await page.getByText("there is no such repository").waitFor();
  });
});
