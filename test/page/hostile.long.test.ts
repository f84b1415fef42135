/**
 * Texts of a repository that contain markup are shown as text, in every place where the page shows them. If
 * one were not, the policy of the document would forbid its actions. visit() fails a test whose page
 * opens a dialog, violates the policy, or sends a request to any other host.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git } from "../../src/index.ts";
import { listen } from "../http/mounts.ts";
import { inBrowser } from "./browser.ts";
import { hostile, hostileHistory, HOSTILE_BRANCH, MARKUP, RTL } from "./fixtures.ts";
import { openSite, visit, type Site } from "./site.ts";
import { someOf } from "../runs.ts";

const REPOSITORY = encodeURIComponent(`evil/${MARKUP}`).replace("%2F", "/");
const BRANCH = HOSTILE_BRANCH.split("/").map(encodeURIComponent).join("/");
const CODE = "U+202E";
/** The markup as a name: git removes angle brackets from names. */
const AUTHOR = MARKUP.replace(/[<>]/g, "");

const sees =
  (selector: string) =>
  (page: Page): Promise<void> =>
    page.locator(selector).first().waitFor();

const types =
  (text: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole("textbox", { name: "Search code" }).fill(text);
    await page.locator(".completions li").first().waitFor();
  };

/** The places where texts are shown, with the steps to reach them, and a part of the text that is then shown. */
const PLACES: [what: string, path: string, prepare: (page: Page) => Promise<void>, text: string][] =
  [
    ["names of repositories", "", sees(".repositories li"), MARKUP],
    [
      "a filter of repositories",
      `?q=${encodeURIComponent(MARKUP)}`,
      sees(".repositories li"),
      MARKUP,
    ],
    ["results and facets", "search?q=needle", sees(".card"), MARKUP],
    ["groups", "search?q=needle&group=repository", sees(".group"), MARKUP],
    ["a query", `search?q=${encodeURIComponent(MARKUP)}`, sees(".card"), MARKUP],
    [
      "a query that finds nothing",
      `search?q=${encodeURIComponent(`"${MARKUP}nowhere"`)}`,
      sees(".nothing"),
      "Nothing was found",
    ],
    [
      "an error",
      `search?q=${encodeURIComponent(`${MARKUP}${RTL} or or x`)}`,
      sees(".query-error"),
      MARKUP,
    ],
    [
      "other revisions in results",
      `search?q=${encodeURIComponent("one rev:*")}`,
      sees(".ref"),
      `<img/src=x/onerror=alert(1)>${CODE}`,
    ],
    ["completion of repositories", "", types("repo:img"), MARKUP],
    ["completion of paths", "", types("file:img"), MARKUP],
    ["completion of symbols", "", types("sym:img"), MARKUP],
    [
      "a file that is looked for",
      "browse/nothing",
      async (page) => {
        await sees(".notice h1")(page);
        await page.keyboard.press("t");
        await page.getByRole("dialog").getByRole("combobox").fill("js");
        await sees(".found-files li")(page);
      },
      MARKUP,
    ],
    ["a folder", `browse/${REPOSITORY}/-/tree/`, sees(".readme"), MARKUP],
    ["definitions", `browse/${REPOSITORY}/-/blob/keys.json`, sees(".outline li"), MARKUP],
    [
      "a name's panel",
      `browse/${REPOSITORY}/-/blob/src/a${encodeURIComponent(RTL)}gpj.js?name=${encodeURIComponent(MARKUP + RTL)}`,
      sees(".panel h3"),
      `${MARKUP}${CODE}`,
    ],
    [
      "places of a name",
      `browse/${REPOSITORY}/-/blob/src/a${encodeURIComponent(RTL)}gpj.js?name=needle`,
      sees(".panel .line"),
      CODE,
    ],
    ["branches", "browse/hostile/-/tree/", sees(".revision"), `onerror=alert(1)>${CODE}`],
    ["a file of a branch", `browse/hostile@${BRANCH}/-/tree/`, sees(".entries li"), CODE],
    ["commits", "browse/hostile/-/commits/", sees(".commits li"), MARKUP],
    [
      "an author",
      `browse/hostile/-/commits/?author=${encodeURIComponent(AUTHOR + RTL)}`,
      sees(".commits li"),
      `by ${AUTHOR}${CODE}`,
    ],
    [
      "a commit",
      "browse/hostile/-/commits/",
      async (page) => {
        await page.locator(".commits li > a").first().click();
        await sees(".diff .line")(page);
      },
      `renamed from ${MARKUP}${CODE}`,
    ],
    ["blame", "browse/hostile/-/blob/after.txt?blame=1", sees(".cm-blame a"), `${AUTHOR}${CODE}`],
  ];

/** Resolves to all text of the view: the title, the text of the shadow root, and names and tooltips of elements. */
const textOf = (page: Page): Promise<string> =>
  page.evaluate(`[document.title, document.body.textContent,
    ...[document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot)]
      .filter((root) => root !== null)
      .flatMap((root) => [root.textContent ?? "", ...[...root.querySelectorAll("*")]
        .flatMap((one) => [one.title, one.ariaLabel, one.placeholder].filter((text) => typeof text === "string"))]),
  ].join("\\n")`);

/** Resolves to elements and attributes that the page itself never has. */
const injected = (page: Page): Promise<string[]> =>
  page.evaluate(`[document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot)]
    .filter((root) => root !== null)
    .flatMap((root) => [...root.querySelectorAll("*")])
    .filter((one) => one.matches("img:not(.cm-widgetBuffer), iframe, object, embed, base, script:not([src]), a[href^='javascript:' i]") ||
      one.getAttributeNames().some((name) => name.startsWith("on")))
    .map((one) => one.outerHTML)`);

inBrowser("hostile texts", (browser) => {
  const folder = mkdtempSync(join(tmpdir(), "quern-hostile-"));
  let site: Site;
  beforeAll(async () => {
    const history = await hostileHistory(join(folder, "hostile"));
    const revisions = ["main", HOSTILE_BRANCH];
    site = await openSite([hostile(), git(history, { name: "hostile", revisions })]);
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(someOf(PLACES, 3))(
    "markup is shown as text in %s",
    async (_what, path, prepare, text) => {
      const page = await visit(browser, site.root + path, { expected: [400, 404] });
      await prepare(page);
      await expect.poll(() => textOf(page)).toContain(text);
      expect(await injected(page)).toEqual([]);
      expect(await textOf(page)).not.toContain(RTL);
    },
  );

  /** The page's own elements number a few hundred. */
  const MOST_ELEMENTS = 40_000;
  const MOST_CHARACTERS = 5_000_000;

  test("long texts are shown up to a limit", async () => {
    const long = `a${RTL}`.repeat(250_000);
    const repository = join(folder, "long");
    const run = (...args: string[]) =>
      execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=b", ...args]);
    run("init", "-q", "-b", "main", repository);
    const inside = (...args: string[]) => run("-C", repository, ...args);
    inside("commit", "-q", "--allow-empty", "-m", "first");
    writeFileSync(join(repository, "README.md"), long);
    writeFileSync(join(repository, "lines.txt"), `b${RTL}\n`.repeat(100_000));
    writeFileSync(join(folder, "message"), `${long}\n\n${long}`);
    inside("add", ".");
    inside("commit", "-q", "-F", join(folder, "message"));
    await site.engine.index(git(repository, { name: "long" }), { symbols: "skip" });
    for (const [path, selector] of [
      ["browse/long/-/tree/", ".readme pre"],
      ["browse/long/-/commits/", ".commits li"],
      [`browse/long/-/commit/${inside("rev-parse", "HEAD").toString().trim()}`, ".diff .line"],
    ] as const) {
      const page = await visit(browser, site.root + path);
      await page.locator(selector).first().waitFor();
      const [elements, characters] = await page.evaluate<[number, number]>(
        `[document.querySelectorAll("*").length, document.documentElement.textContent.length]`,
      );
      expect(elements, path).toBeLessThan(MOST_ELEMENTS);
      expect(characters, path).toBeLessThan(MOST_CHARACTERS);
    }
  });

  test("injected elements are detected", async () => {
    const page = await visit(browser, site.root);
    await page.evaluate(`{
      const link = document.createElement("a");
      link.href = "javascript:alert(1)";
      document.body.append(document.createElement("img"), link);
    }`);
    expect((await injected(page)).length).toBe(2);
  });

  test("the policy forbids the actions of injected markup", async () => {
    let reached = 0;
    await using other = await listen(
      createServer((_request, response) => {
        reached += 1;
        response.end();
      }),
    );
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const dialogs: string[] = [];
      page.on("dialog", (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await page.goto(site.root);
      await page.locator(".repositories li").first().waitFor();
      const broken = await page.evaluate<string[]>(`new Promise((resolve) => {
        const broken = [];
        addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
          broken.push(effectiveDirective);
        });
        const attempt = (act) => { try { act(); } catch { broken.push("trusted-types"); } };
        const div = document.body.appendChild(document.createElement("div"));
        attempt(() => { div.innerHTML = "<img src=x onerror=alert(1)>"; });
        setTimeout(() => attempt(() => { eval("alert(2)"); })); // the test's own script may use eval
        attempt(() => { div.setAttribute("onclick", "alert(3)"); div.click(); });
        attempt(() => { div.setAttribute("style", "color: red"); });
        const add = (name, attributes) => {
          const element = Object.assign(document.createElement(name), attributes);
          document.body.append(element);
        };
        attempt(() => add("img", { src: "${other.origin}/x.png" }));
        attempt(() => add("iframe", { src: "${other.origin}/" }));
        attempt(() => add("base", { href: "${other.origin}/" }));
        attempt(() => add("script", { src: "${other.origin}/x.js" }));
        const form = document.createElement("form");
        form.action = "${other.origin}/";
        document.body.append(form);
        attempt(() => form.submit());
        fetch("${other.origin}/").catch(() => setTimeout(() => resolve(broken), 200));
      })`);
      expect(new Set(broken)).toEqual(
        new Set([
          "trusted-types",
          "require-trusted-types-for",
          "style-src-attr",
          "img-src",
          "frame-src",
          "base-uri",
          "form-action",
          "connect-src",
        ]),
      );
      expect(dialogs).toEqual([]);
      expect(reached).toBe(0);
    } finally {
      await context.close();
    }
  });
});
