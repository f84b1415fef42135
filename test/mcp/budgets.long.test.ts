/** Budgets, counted by real tokenizers, are never exceeded, and are used if there is more to show. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documents, type Engine } from "../../src/index.ts";
import { cutLine } from "../../src/mcp/answer.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { countsByExpressions, countsByUnits, tokenBound } from "../../src/mcp/token-bound.ts";
import { openEngine } from "../engine/opened.ts";
import { RUNS, someOf } from "../runs.ts";
import { randomFrom } from "../regex/random.ts";
import { callTool, connected, tokensOf } from "./connected.ts";

const LANGUAGES = "corpus/languages";
const codeIn = (extension: string): string =>
  readFileSync(join(LANGUAGES, `sample.${extension}`), "utf8");

/** Texts of one or two sentences, which begin with the word that is searched for. */
const PROSE: Record<string, string> = {
  english: "needle: the cart rounds each price to whole cents before it adds the shipping costs.",
  deutsch:
    "needle: Der Einkaufswagen rundet jeden Preis auf ganze Cent, bevor er Versandkosten aufschlägt.",
  français:
    "needle : le panier arrondit chaque prix au centime près avant d’ajouter les frais de livraison.",
  español:
    "needle: el carrito redondea cada precio a céntimos enteros antes de añadir los gastos de envío.",
  русский: "needle: корзина округляет каждую цену до целых копеек, прежде чем добавить доставку.",
  中文: "needle：购物车先把每个价格四舍五入到分，然后再加上运费，最后返回总金额。",
  日本語: "needle：カートは送料を加える前に、それぞれの価格を四捨五入して整数にします。",
  한국어:
    "needle: 장바구니는 배송비를 더하기 전에 각 가격을 반올림합니다. 오류가 있으면 알려 줍니다.",
  العربية: "needle: تقرّب السلة كل سعر إلى أقرب سنت قبل إضافة تكاليف الشحن إلى المجموع.",
  हिन्दी: "needle: कार्ट शिपिंग लागत जोड़ने से पहले हर कीमत को पूर्णांक में बदल देता है।",
};

/** Extensions of languages. A line has the needle at its end, after text of that language. */
const EXTENSIONS = ["c", "cpp", "cs", "go", "java", "js", "php", "py", "rb", "rs", "ts", "swift"];

async function filled(name: string, lines: readonly string[]): Promise<Engine> {
  const engine = await openEngine();
  const perFile = Math.ceil(lines.length / 12);
  const files = Array.from({ length: 12 }, (_, i) => ({
    path: `src/${name}-${i}.txt`,
    content: lines.slice(i * perFile, (i + 1) * perFile).join("\n"),
  })).filter(({ content }) => content !== "");
  await engine.index(documents({ name: "acme/words", files }), { symbols: "skip" });
  return engine;
}

const CASES: [name: string, lines: string[]][] = [
  ...Object.entries(PROSE).map(([name, line]): [string, string[]] => [
    name,
    Array.from({ length: 400 }, (_, i) => `${line} ${i}`),
  ]),
  ...EXTENSIONS.map((extension): [string, string[]] => {
    const lines = codeIn(extension)
      .split("\n")
      .filter((line) => line.trim() !== "");
    return [extension, Array.from({ length: 600 }, (_, i) => `${lines[i % lines.length]} needle`)];
  }),
  [
    "minified",
    Array.from(
      { length: 60 },
      (_, i) => `needle${i}=${codeIn("js").replace(/\s+/g, "").repeat(3)}`,
    ),
  ],
  [
    "base64",
    Array.from(
      { length: 300 },
      (_, i) => `needle ${Buffer.from(String(Math.sin(i)).repeat(9)).toString("base64")}`,
    ),
  ],
];

const BUDGETS = [200, 350, 1_000, 4_000];
/** The least share of the budget that is used if there is more to show. */
const LEAST_USED = 0.7;

test.each(someOf(CASES, 3))(
  "search in %s stays within budgets, and uses them",
  async (name, lines) => {
    const client = await connected(createMcpHandler(await filled(name, lines)));
    for (const maxTokens of BUDGETS)
      for (const contextLines of [0, 2]) {
        const args = { query: "needle", maxTokens, contextLines };
        const { text, facts } = await callTool(client, "search", args);
        const tokens = tokensOf(text);
        expect(tokens, text).toBeLessThanOrEqual(maxTokens);
        if (facts.cursor !== undefined)
          expect(tokens / maxTokens, text).toBeGreaterThanOrEqual(LEAST_USED);
      }
  },
);

test("a host's own counter is used, and its budget is kept", async () => {
  const countTokens = (text: string) => Math.ceil(text.length / 2);
  const lines = Array.from({ length: 400 }, (_, i) => `needle ${i} of some words`);
  const client = await connected(createMcpHandler(await filled("own", lines), { countTokens }));
  for (const maxTokens of BUDGETS) {
    const { text } = await callTool(client, "search", { query: "needle", maxTokens });
    expect(countTokens(text)).toBeLessThanOrEqual(maxTokens);
    expect(countTokens(text) / maxTokens).toBeGreaterThanOrEqual(LEAST_USED);
  }
});

const samples = readdirSync(LANGUAGES).filter((name) => name.startsWith("sample."));

/**
 * The languages in which definitions are searched for. Each grammar that is loaded takes up to 0.4 s of processor time.
 */
const WITH_SYMBOLS = new Set(["sample.cpp", "sample.go", "sample.py"]);

const TOOLS: Record<string, Record<string, unknown>> = {
  outline: { repository: "acme/languages" },
  read: { file: "src/sample.cpp" },
  tree: { repository: "acme/languages", depth: 9 },
  find_files: { query: "s" },
  definitions: { symbol: "shared" },
  references: { symbol: "total" },
  repositories: {},
};

test("every tool uses its budget, and does not exceed it", async () => {
  const engine = await openEngine();
  const files = samples.map((name) => ({
    path: WITH_SYMBOLS.has(name) ? `src/${name}` : `src/${name}.txt`,
    content: readFileSync(join(LANGUAGES, name)),
  }));
  const copies = Array.from({ length: 40 }, (_, i) => ({
    path: `lib/part-${i}/Cart${i}.ts`,
    content: `export function shared() {\n${"  const total = priceOf(cart);\n".repeat(9)}}\n`,
  }));
  await engine.index([
    documents({ name: "acme/languages", files: [...files, ...copies] }),
    ...Array.from({ length: 12 }, (_, i) => documents({ name: `acme/small-${i}`, files: [] })),
  ]);
  const client = await connected(createMcpHandler(engine));
  for (const [tool, args] of Object.entries(TOOLS))
    for (const maxTokens of BUDGETS) {
      const { text, facts } = await callTool(client, tool, { ...args, maxTokens });
      const tokens = tokensOf(text);
      expect(tokens, text).toBeLessThanOrEqual(maxTokens);
      if (!facts.complete) expect(tokens / maxTokens, text).toBeGreaterThanOrEqual(LEAST_USED);
    }
});

/** Yields lines of every kind that answers have: code, prose, noise. */
function* anyLines(): Generator<string> {
  for (const name of samples)
    for (const line of readFileSync(join(LANGUAGES, name), "utf8").split("\n")) yield line;
  for (const line of Object.values(PROSE)) yield line;
  let seed = 7;
  const next = (most: number) => (seed = (seed * 48_271) % 2_147_483_647) % most;
  const ALPHABETS = [
    "abcdef0123456789",
    "{}()[];:.,=>!&|+-*/'\"` ",
    "aAbBcCxXyYzZ09_$",
    "äöüßéèñçØŁ",
    "абвгдеёж",
    "中文字符日本語",
    "😀🚀✅e\u0301\u200d",
  ];
  for (let i = 0; i < 600 * RUNS; i++) {
    const letters = Array.from(
      ALPHABETS[i % ALPHABETS.length]! + (i % 3 === 0 ? ALPHABETS[next(7)]! : ""),
    );
    yield Array.from({ length: 1 + next(120) }, () => letters[next(letters.length)]).join("");
  }
}

test("no line has more tokens than the bound", () => {
  for (const line of anyLines()) {
    const text = `12: ${line}\n`;
    expect(tokenBound(text), text).toBeGreaterThanOrEqual(tokensOf(text));
  }
});

const SHORT = [
  "a",
  "B",
  "'",
  "s",
  "é",
  "中",
  "…",
  "_",
  "$",
  "=",
  "/",
  "\t",
  "\v",
  "\0",
  " ",
  "\n",
  "\r",
  "İ",
  "ſ",
];
const PIECES = [
  ...SHORT,
  "foo",
  "Bar",
  "'t",
  "don",
  "it",
  "string",
  "'LL",
  "'re",
  "23",
  "4567",
  "  ",
  "//",
  "-".repeat(70),
];

function* anyPieces(): Generator<string> {
  for (let seed = 0; seed < 10_000 * RUNS; seed++) {
    const random = randomFrom(seed);
    const some = Array.from({ length: 1 + random(12) }, () => PIECES[random(PIECES.length)]!);
    yield `${some.join("")}${random(2) === 0 ? "" : "\n"}`;
  }
}

test("parts of a line have as many tokens as the tokenizers' expressions say", () => {
  let count = 0;
  for (const text of [...anyPieces(), ...anyLines()]) {
    const counts = countsByUnits(text);
    if (counts) expect(counts, JSON.stringify(text)).toEqual(countsByExpressions(text));
    if (counts) count++;
  }
  expect(count).toBeGreaterThan(5_000);
});

test("a cursor takes the reserved room, whatever its digits are", () => {
  for (let digits = 0; digits < 1_000; digits++) {
    const text = String(digits).padStart(3, "0");
    expect([text, tokenBound(text), tokensOf(text)]).toEqual([text, 1, 1]);
  }
});

test("lines together have no more tokens than separately", () => {
  const lines = [...anyLines()].map((line, i) => `${i}: ${line.trimEnd()}`);
  const sum = lines.reduce((all, line) => all + tokenBound(`${line}\n`), 0);
  const tokens = tokensOf(lines.join("\n"));
  expect(tokens).toBeLessThanOrEqual(sum);
  expect(tokens / sum).toBeGreaterThan(0.85);
});

test("a cut line contains the match and no half characters", () => {
  const line = `${"😀".repeat(300)}needle${"🚀".repeat(300)}`;
  for (let shown = 20; shown < 260; shown++) {
    const cut = cutLine(line, line.indexOf("needle"), shown);
    expect(cut).not.toMatch(/\p{Cs}/u);
    expect(cut.length).toBeLessThanOrEqual(shown + 2);
    expect(cut).toContain("needle");
  }
});

test("the last line contains the whole cursor, whatever the budget is", async () => {
  const engine = await openEngine();
  const files = Array.from({ length: 40 }, (_, i) => ({
    path: `src/file${i}.py`,
    content: Array.from(
      { length: 9 },
      (_v, n) => `line ${n}: ${"word ".repeat((n * 7 + i) % 23)}`,
    ).join("\n"),
  }));
  await engine.index(documents({ name: "acme/lines", files }), { symbols: "skip" });
  const client = await connected(createMcpHandler(engine));
  for (let maxTokens = 200; maxTokens < 700; maxTokens += 13) {
    const { text, facts } = await callTool(client, "search", { query: "line", maxTokens });
    expect(text.split("\n").at(-1), String(maxTokens)).toContain(`cursor "${facts.cursor}"`);
  }
});
