/** Tests that everything named on the pages exists: paths, scripts, options, codes. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Engine } from "../src/index.ts";
import { LANGUAGE_QUERIES } from "../src/ingest/symbols/languages.ts";
import { createHandler, memoryTokenStore, memoryUserStore } from "../src/http/index.ts";
import { PAGES } from "./pages.ts";

const read = (page: string): string => readFileSync(page, "utf8");
const withoutCode = (text: string): string => text.replace(/^```.*?^```$/gms, "");

/** Folders of the project. A path that begins with one of them must exist. */
const TOP = /^(src|test|docs|bench|fuzz|scripts|examples|corpus|\.ci)\/[\w./-]+$/;
/** Paths that a command makes, or that exist only in a clone. */
const MADE = /^(build|dist|bench\/record)\//;

test.each(PAGES)("%s: links lead to existing files", (page) => {
  for (const [, target] of withoutCode(read(page)).matchAll(/\]\(([^)#\s]+)[^)]*\)/g))
    if (!/^https?:/.test(target!))
      expect(existsSync(join(dirname(page), target!)), target).toBe(true);
});

/** Returns the anchors of a page's headings, as code hosts make them. */
const anchorsOf = (page: string): string[] =>
  [...withoutCode(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

test.each(PAGES)("%s: links lead to a heading", (page) => {
  for (const [, target, anchor] of withoutCode(read(page)).matchAll(
    /\]\((?!https?:)([^)#\s]*)#([^)]+)\)/g,
  ))
    expect(anchorsOf(target === "" ? page : join(dirname(page), target!)), target).toContain(
      anchor,
    );
});

test.each(PAGES)("%s: paths of the project exist", (page) => {
  const text = read(page);
  const inline = [...withoutCode(text).matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
  const fences = [...text.matchAll(/^```(?:sh|text)\n(.*?)^```$/gms)].map(([, code]) => code!);
  for (const word of [...inline, ...fences].flatMap((code) => code.split(/[\s"']+/)))
    if (TOP.test(word) && !MADE.test(word)) expect(existsSync(word), word).toBe(true);
});

test("docs/architecture.md: a file without a folder is in the folder named before it", () => {
  for (const item of read("docs/architecture.md").split(/\n(?=- |\d\. |\n)/)) {
    let folder = "";
    for (const [, word] of item.matchAll(/`([\w./-]+)`/g)) {
      if (word!.startsWith("src/")) folder = /\.tsx?$/.test(word!) ? dirname(word!) : word!;
      else if (folder !== "" && /^[\w-]+\.tsx?$/.test(word!))
        expect(existsSync(join(folder, word!)), `${folder} ${word}`).toBe(true);
    }
  }
});

test.each(PAGES)("%s: npm scripts exist", (page) => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  for (const [, name] of read(page).matchAll(/npm run ([\w-]+)/g))
    expect(Object.keys(scripts), name).toContain(name);
});

/** Returns the text between a heading and the next one, without code. */
function sectionOf(page: string, heading: string): string {
  const sections = withoutCode(read(page)).split(/^#+ /m);
  return sections.find((one) => one.startsWith(`${heading}\n`))?.slice(heading.length) ?? "";
}

/** Questions of new users, and the words that the answers need. */
test.each<[page: string, heading: string, ...needs: string[]]>([
  ["questions", "How much memory does it take?", "530 MiB", "limits.md#memory"],
  ["limits", "Memory", "120 MiB + 40 MiB a worker + 1.3 × `memoryBudget`"],
  ["questions", "How do I back it up?", "restore", "keys"],
  ["questions", "What happens at an upgrade?", "INDEX_VERSION"],
  ["questions", "How do I highlight matches?", "UTF-8"],
  ["questions", "Where does it run?", "Alpine", "Windows", "ARM", "Bun", "Deno", "AWS Lambda"],
  ["questions", "How do I run it in a container?", "Dockerfile"],
  ["questions", "Which licences come with it?", "grammars"],
  ["sync", "In one process with the server, and webhooks", "/api/webhook/", "secret"],
  ["embedding", "How do I show results page by page?", "nextCursor"],
  ["embedding", "How do I keep it up to date?", "unchanged files are not", "changes"],
  ["embedding", "Next.js", "Node runtime"],
  ["metrics", "Metrics for Prometheus", "/api/metrics"],
  ["metrics", "Traces", "quern:search", "quern:index"],
  ["metrics", "Spans for OpenTelemetry", "span"],
  ["metrics", "Logs", "onWarning", "audit"],
])("docs/%s.md answers: %s", (page, heading, ...needs) => {
  const answer = sectionOf(`docs/${page}.md`, heading).replace(/\s+/g, " ");
  for (const words of needs) expect(answer).toContain(words);
});

test("docs/questions.md links to the answers on other pages", () => {
  const page = read("docs/questions.md");
  for (const at of ["embedding.md#nextjs", "sync.md#", "metrics.md#logs", "limits.md#memory"])
    expect(page).toContain(at);
});

test("the formula for the memory of an index run gives the stated number for two workers", () => {
  const formula = /(\d+) MiB \+ (\d+) MiB a worker \+ ([\d.]+) × `memoryBudget`/;
  const [, base, worker, share] = formula.exec(read("docs/limits.md"))!.map(Number);
  const budget = Number(/\| `memoryBudget` +\| (\d+) MiB/.exec(read("docs/options.md"))![1]);
  const said = Number(
    /indexes about (\d+) MiB with two workers/.exec(read("docs/questions.md"))![1],
  );
  expect(Math.abs(base! + 2 * worker! + share! * budget - said)).toBeLessThan(5);
});

test("docs/questions.md names the licence of every loaded grammar", () => {
  const answer = sectionOf("docs/questions.md", "Which licences come with it?");
  const licensed = answer
    .split("\n- ")
    .slice(1)
    .flatMap((line) => [...line.matchAll(/`([\w-]+)`/g)].map(([, name]) => name!));
  const loaded = LANGUAGE_QUERIES.map(
    ({ grammar }) => /tree-sitter-([\w-]+)\.wasm$/.exec(grammar)![1]!,
  );
  expect(licensed.toSorted()).toEqual([...new Set(loaded)].toSorted());
});

test("docs/options.md has exactly the options of open()", () => {
  const rows = /`open\(path, options\)`:\n\n(.*?)\n\n/s.exec(read("docs/options.md"))![1]!;
  const named = [...rows.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  const declared = /interface OpenOptions \{(.*?)\n\}/s.exec(read("etc/quern.api.md"))![1]!;
  expect(named).toEqual([...declared.matchAll(/^ {2}(\w+)\?/gm)].map(([, name]) => name));
});

test("docs/embedding.md lists every error code", () => {
  const codes = /type ErrorCode =(.*?);/s.exec(read("etc/quern.api.md"))![1]!;
  for (const [, code] of codes.matchAll(/"(\w+)"/g))
    expect(read("docs/embedding.md")).toContain(`\`${code}\``);
});

test("every counter is in docs/counters.md", () => {
  const counters = /interface SearchStats \{(.*?)\n\}/s.exec(read("etc/quern.api.md"))![1]!;
  const names = [...counters.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(15);
  const page = read("docs/counters.md");
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("every operation is in docs/http.md", async () => {
  const engine = {} as Engine; // the document is made without using the engine
  const handler = createHandler(engine, { tokens: memoryTokenStore(), users: memoryUserStore() });
  const response = await handler(new Request("http://host/api/openapi.json"));
  const { paths } = (await response.json()) as { paths: Record<string, object> };
  expect(Object.keys(paths).length).toBeGreaterThan(8);
  const page = read("docs/http.md");
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations.filter((operation) => !page.includes(`\`${operation}`))).toEqual([]);
});
