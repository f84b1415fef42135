/** Questions in words: what is found first, what a viewer may learn, pages, unsaved texts, and bad requests. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import type { FindRequest, FindResponse } from "../../src/find/request.ts";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { wordsOf } from "../../src/words/split.ts";
import { stemOf } from "../../src/words/stems.ts";
import { openEngine, sharedEngine } from "../engine/opened.ts";
import { randomFrom } from "../regex/random.ts";
import { isInTurn, someOf } from "../runs.ts";

const SHOP = [
  {
    path: "src/http/retry.ts",
    content: [
      "/** Decides how long to wait before a failed request is sent again. */",
      "export class RetryPolicy {",
      "  /** Doubles the delay after each attempt. */",
      "  delayAfter(attempt: number): number {",
      "    return this.base * 2 ** attempt;",
      "  }",
      "}",
    ].join("\n"),
  },
  {
    path: "src/http/client.ts",
    content: "export function sendRequest(url: string) {\n  return fetch(url);\n}\n",
  },
  { path: "src/cache/lru.ts", content: "export class LruCache {\n  evictOldest() {}\n}\n" },
  {
    path: "src/cache/lru.test.ts",
    content:
      "test('evicts the oldest entry of the lru cache', () => {\n  new LruCache().evictOldest();\n});\n",
  },
  { path: "src/parse/index.ts", content: "export function parseDuration(text: string) {}\n" },
  { path: "docs/cache.md", content: "# Cache\n\nHow the LRU cache evicts the oldest entries.\n" },
  { path: "src/user.py", content: "def load_user(name):\n    return name\n" },
  { path: "config.json", content: '{ "retries": 3, "cache": true }\n' },
];

const shop = sharedEngine((engine) => engine.index(documents({ name: "shop", files: SHOP })));

const QUESTIONS: readonly (readonly [
  text: string,
  path: string,
  definition: string | undefined,
])[] = [
  ["where is the delay between retries computed", "src/http/retry.ts", "delayAfter"],
  ["LRU cache eviction", "src/cache/lru.ts", "evictOldest"],
  ["parse duration string", "src/parse/index.ts", "parseDuration"],
  ["RetryPolicy", "src/http/retry.ts", "RetryPolicy"],
  ["retry policy", "src/http/retry.ts", "RetryPolicy"],
  ["RetryPolicy.delayAfter", "src/http/retry.ts", "delayAfter"],
  ["how are requests sent", "src/http/client.ts", "sendRequest"],
  ["loadUser", "src/user.py", "load_user"],
  ["test of the lru cache", "src/cache/lru.ts", undefined],
];

describe("the first place of a question", () => {
  test.each(QUESTIONS)("%s", async (text, path, definition) => {
    const { places, isComplete, missing } = await shop().find({ text });
    expect(isComplete, missing.join()).toBe(true);
    expect(places[0]?.path).toBe(path);
    if (definition !== undefined) expect(places[0]?.definition?.name).toBe(definition);
  });
});

test("a place has its lines, its reasons and its address", async () => {
  const { places, words, unknownWords, stats } = await shop().find({
    text: "delay after an attempt zyzzyva",
    places: 1,
  });
  const [place] = places;
  expect(place).toMatchObject({
    repository: "shop",
    path: "src/http/retry.ts",
    revision: "HEAD",
    language: "TypeScript",
    definition: {
      name: "delayAfter",
      kind: "method",
      parent: { name: "RetryPolicy", kind: "class" },
    },
    lines: { from: 3, to: 6 },
    chunk: { contentStart: { lineNumber: 3, column: 1 } },
  });
  const { byteOffset } = place!.chunk.contentStart;
  const text = SHOP[0]!.content;
  expect(text.slice(byteOffset)).toBe(
    place!.chunk.content + text.slice(byteOffset + place!.chunk.content.length),
  );
  expect(place!.chunk.content).toMatch(/^ {2}\/\*\* Doubles the delay[^]*\}\n$/);
  expect(place!.reasons.map(({ what }) => what)).toContain("definition");
  expect(words.map(({ word }) => word)).toEqual(["delay", "after", "attempt", "zyzzyva"]);
  expect(unknownWords).toEqual(["zyzzyva"]);
  expect(stats.filesScored).toBe(SHOP.length);
});

describe("filters", () => {
  const pathsOf = async (request: FindRequest) =>
    (await shop().find(request)).places.map(({ path }) => path);

  test.each([
    ["lang:python", /\.py$/],
    ["file:^src/cache/", /^src\/cache\//],
    ["-file:test -lang:markdown", /^(?!.*(?:test|\.md$))/],
    ["repo:nothing", /^$/],
  ])("%s", async (query, allowed) => {
    const paths = await pathsOf({ text: "load the user cache", query, places: 50 });
    for (const path of paths) expect(path).toMatch(allowed);
    expect(paths.length > 0).toBe(query !== "repo:nothing");
  });

  test.each(["needle", "content:x", "sym:x", "lang:go or foo"])(
    "%s is no filter",
    async (query) => {
      await expect(shop().find({ text: "cache", query })).rejects.toThrow(
        /query accepts only filters.*put all other words into "text"/,
      );
    },
  );
});

const WRONG: readonly (readonly [name: string, request: unknown, message: RegExp])[] = [
  ["no object", "cache", /must be an object/],
  ["no text", {}, /text is missing; it must be a non-empty string/],
  ["blank text", { text: " \n" }, /text must be a non-empty string/],
  ["a number", { text: 3 }, /text must be a non-empty string, not 3/],
  ["a megabyte", { text: "x".repeat(2 ** 20) }, /at most 8192 bytes long, got 1048576/],
  ["no places", { text: "a", places: 0 }, /places must be a whole number from 1 to 100, not 0/],
  ["many lines", { text: "a", lines: 1000 }, /lines must be a whole number from 1 to 200/],
  ["tokens", { text: "a", maxTokens: -1 }, /maxTokens must be a whole number of 1 or more/],
  ["unknown field", { text: "a", limit: 3 }, /limit/],
  ["a broken cursor", { text: "a", after: "abc" }, /after must be the nextCursor of a response/],
  ["a filter with a mistake", { text: "a", query: "file:(" }, /./],
];

describe("a wrong request is rejected", () => {
  test.each(WRONG)("%s", async (_, request, message) => {
    await expect(shop().find(request as FindRequest)).rejects.toThrow(message);
  });

  test("a cursor of another question", async () => {
    const { nextCursor } = await shop().find({ text: "cache", places: 1 });
    await expect(shop().find({ text: "user", after: nextCursor! })).rejects.toThrow(/same text/);
  });

  test("an unknown option", async () => {
    const options = { maxBytes: 3 } as never;
    await expect(shop().find({ text: "a" }, options)).rejects.toThrow(/maxBytes/);
  });
});

const HOSTILE: readonly (readonly [name: string, text: string])[] = [
  ["control characters", "\u0000\u0007\u{10ffff}"],
  ["names of Object.prototype", "constructor __proto__ toString"],
  ["punctuation", "((("],
  ["only stop words", "the of and"],
  ["four thousand words", "x ".repeat(4_000)],
  ["a thousand different words", Array.from({ length: 1000 }, (_, i) => `w${i}`).join(" ")],
  ["an emoji", "🦆"],
];

test.each(HOSTILE)("answers a question of %s", async (_, text) => {
  const { isComplete, words } = await shop().find({ text });
  expect(isComplete).toBe(true);
  expect(words.length).toBeLessThanOrEqual(32);
});

test("a signal rejects, and a time-out leaves out", async () => {
  const aborted = shop().find({ text: "cache" }, { signal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
  const { isComplete, missing } = await shop().find({ text: "cache" }, { timeoutMs: 0 });
  expect({ isComplete, missing }).toEqual({ isComplete: false, missing: ["timed-out"] });
});

test("unsaved texts are found, and removed files are not", async () => {
  const overlay = [
    { repository: "shop", path: "src/new.ts", content: "export function roundToCents() {}\n" },
    { repository: "shop", path: "src/parse/index.ts", removed: true as const },
  ];
  const first = async (text: string) => (await shop().find({ text }, { overlay })).places[0]?.path;
  expect(await first("round to cents")).toBe("src/new.ts");
  expect(await first("parse duration string")).not.toBe("src/parse/index.ts");
});

// ── random indexes ──

const NOUNS =
  "retry cache user order price stream buffer token parser config session index query segment".split(
    " ",
  );
const VERBS = "load parse evict compute merge write read open close validate".split(" ");

function randomFiles(random: (below: number) => number, count: number) {
  const pick = (words: readonly string[]) => words[random(words.length)]!;
  return Array.from({ length: count }, (_, i) => {
    const lines = Array.from({ length: 1 + random(6) }, () => {
      const name = `${pick(VERBS)}_${pick(NOUNS)}`;
      return `# ${pick(VERBS)} the ${pick(NOUNS)}\ndef ${name}(${pick(NOUNS)}):\n    return ${pick(NOUNS)}\n`;
    });
    return { path: `${pick(NOUNS)}/${pick(VERBS)}${i % 9}_${i}.py`, content: lines.join("\n") };
  });
}

const questionOf = (random: (below: number) => number): string =>
  Array.from(
    { length: 1 + random(4) },
    () => [...NOUNS, ...VERBS][random(NOUNS.length + VERBS.length)]!,
  ).join(" ");

const answerOf = ({ places, words, nextCursor, isComplete }: FindResponse) => ({
  places,
  words,
  nextCursor,
  isComplete,
});

async function allPages(engine: Engine, request: FindRequest): Promise<FindResponse["places"]> {
  const places: FindResponse["places"] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const page: FindResponse = await engine.find({ ...request, after });
    places.push(...page.places);
    after = page.nextCursor;
  }
  return places;
}

test.each(someOf([1, 2], 2))(
  "runs, merges, compaction and workers change no answer (seed %i)",
  async (seed) => {
    const random = randomFrom(seed);
    const files = randomFiles(random, 90);
    const whole = await openEngine();
    await whole.index(documents({ name: "r", files }));
    const grown = await openEngine({ workers: 2 });
    for (let count = 10; count <= files.length; count += 10)
      await grown.index(documents({ name: "r", files: files.slice(0, count) }));
    const questions = Array.from({ length: 12 }, () => questionOf(random));
    const ask = async (engine: Engine) => {
      const answers = [];
      for (const text of questions) answers.push(answerOf(await engine.find({ text, places: 30 })));
      return answers;
    };
    const expected = await ask(whole);
    expect(await ask(grown)).toEqual(expected);
    await grown.compact();
    expect(await ask(grown)).toEqual(expected);
    expect((await grown.check()).problems).toEqual([]);
  },
);

test("frequencies are those that a slow count of the files in scope gives", async () => {
  const random = randomFrom(7);
  const files = randomFiles(random, 40);
  const engine = await openEngine();
  await engine.index(documents({ name: "r", files }));
  for (const word of ["retry", "parse", "user"]) {
    const { words } = await engine.find({ text: `${word} x`, query: "file:^[a-m]" });
    const stem = stemOf(word);
    const slow = files
      .filter(({ path }) => /^[a-m]/.test(path))
      .reduce((sum, { content }) => sum + windowsWith(content, stem), 0);
    expect(words[0]).toMatchObject({ word, frequency: slow });
  }
});

/** Counts the windows of a text that have a stem. A window ends with the first line end after 400 bytes. */
function windowsWith(text: string, stem: string): number {
  let [windows, size, isIn] = [0, 0, false];
  for (const line of text.split(/(?<=\n)/)) {
    if (size >= 400) [windows, size, isIn] = [windows + Number(isIn), 0, false];
    size += line.length;
    isIn ||= wordsOf(line).some((word) => stemOf(word) === stem);
  }
  return windows + Number(isIn);
}

test.runIf(isInTurn(2))("a hidden repository changes nothing that a viewer sees", async () => {
  const random = randomFrom(3);
  const [seen, hidden] = [randomFiles(random, 40), randomFiles(random, 60)];
  const [one, two] = [await openEngine(), await openEngine()];
  for (const engine of [one, two]) await engine.index(documents({ name: "seen", files: seen }));
  await two.index(documents({ name: "hidden", files: hidden }));
  await two.index(documents({ name: "copy", files: seen.slice(0, 20) }));
  const viewer = { repositoryIds: new Set([1]) };
  for (const step of ["as indexed", "compacted"]) {
    for (let round = 0; round < 10; round++) {
      const text = questionOf(random);
      const answers = [];
      for (const engine of [one, two])
        answers.push(answerOf(await engine.find({ text, places: 30 }, { viewer })));
      expect(answers[1], `${step}: ${text}`).toEqual(answers[0]);
    }
    await two.compact();
  }
});

test.runIf(isInTurn(2, 1))(
  "pages repeat no place, and the first has the best places of the slow way",
  async () => {
    const engine = await openEngine({ workers: 2 });
    await engine.index(directory("src", { name: "quern" }));
    // what a file is for, in the words of its first sentence
    const questions = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .flatMap(
        (name) =>
          /^\/\*\*\s+(?:\* )?([^.]{30,160})\./.exec(readFileSync(join("src", name), "utf8"))?.[1] ??
          [],
      )
      .filter((_, i) => i % 90 === 0);
    let [same, all] = [0, 0];
    for (const question of questions) {
      const text = question.replaceAll(/\s+\*\s+/g, " ");
      const places = await allPages(engine, { text, places: 50 });
      expect(new Set(places.map(({ path }) => path)).size).toBe(places.length);
      // the slow way reads every file with a word of the question, and orders all of them by the whole score
      const slow = places.map(({ score }) => score).sort((a, b) => b - a);
      for (const rank of [0, 1, 2]) {
        all++;
        if (places[rank]!.score === slow[rank]) same++;
      }
    }
    expect(all).toBeGreaterThan(20);
    expect(same / all).toBeGreaterThanOrEqual(0.95);
  },
);

test("files without word lists are told, and found once they have lists", async () => {
  const engine = await openEngine();
  const filler = Array.from({ length: 40_000 }, (_, i) => `filler line number ${i}\n`).join("");
  const files = [...SHOP, { path: "filler.txt", content: filler + filler }];
  await engine.index(documents({ name: "shop", files }), { words: "skip" });
  const before = await engine.find({ text: "evict oldest" });
  expect(before).toMatchObject({ isComplete: false, missing: ["no-word-lists"], places: [] });
  const stages: string[] = [];
  await engine.index(documents({ name: "other", files: [] }), {
    onProgress: ({ stage }) => stages.push(stage),
  });
  expect(stages).toContain("words");
  const after = await engine.find({ text: "evict oldest" });
  expect(after).toMatchObject({ isComplete: true, missing: [] });
  expect(after.places[0]?.path).toBe("src/cache/lru.ts");
});

test("lines and tokens bound the answer", async () => {
  const body = Array.from({ length: 60 }, (_, i) => `  step${i}();`).join("\n");
  const engine = await openEngine();
  const files = Array.from({ length: 5 }, (_, i) => ({
    path: `long${i}.ts`,
    content: `export function longFunction${i}() {\n${body}\n}\n`,
  }));
  await engine.index(documents({ name: "r", files }));
  const { places } = await engine.find({ text: "long function", lines: 5 });
  for (const { chunk } of places) expect(chunk.content.split("\n").length).toBe(6);
  const few = await engine.find({ text: "long function", lines: 5, maxTokens: 60 });
  expect(few.places.length).toBeLessThan(places.length);
  expect(few.nextCursor).toBeDefined();
  const rest = await allPages(engine, { text: "long function", lines: 5, maxTokens: 60 });
  expect(rest.map(({ path }) => path)).toEqual(places.map(({ path }) => path));
});
