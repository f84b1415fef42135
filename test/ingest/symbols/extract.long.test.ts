/** Tests properties of an extractor besides its answers: limits, errors, a grammar that crashes, memory. */

import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import {
  createExtractor,
  LIMITS,
  UNSOUND,
  type Extraction,
  type Extractor,
} from "../../../src/ingest/symbols/extract.ts";
import type { LanguageQuery } from "../../../src/ingest/symbols/queries/shared/language.ts";
import { grammarVersion, languageQuery } from "../../../src/ingest/symbols/languages.ts";
import { kindId } from "../../../src/ingest/symbols/captures.ts";
import { joinTables, shiftTable } from "../../../src/ingest/symbols/table.ts";
import { showSymbols } from "./show.ts";

let extractor: Extractor;
beforeAll(async () => {
  extractor = await createExtractor();
});

async function extract(language: string, source: string | Uint8Array): Promise<Extraction> {
  expect(await extractor.prepare(language)).toBe(true);
  return extractor.extract(language, bytesOf(source));
}

const bytesOf = (source: string | Uint8Array) =>
  typeof source === "string" ? Buffer.from(source) : source;

async function symbols(language: string, source: string | Uint8Array): Promise<string[]> {
  const found = await extract(language, source);
  if (found.outcome !== "symbols") throw new Error(JSON.stringify(found));
  return showSymbols(found.table, bytesOf(source));
}

/** Resolves to kinds and names, without places and parents. */
const namesIn = async (language: string, source: string): Promise<string[]> =>
  (await symbols(language, source)).map((line) => line.replace(/^\S+ (\S+) (?:.*\/)?/, "$1 "));

describe("an unusual file", () => {
  const LIKE_C = ["C", "C++", "Objective-C"];
  test.each(LIKE_C)("%s: no keyword is a name", async (language) => {
    const source = "static noinstr struct lock_class *\nlook_up(void)\n{\n\treturn 0;\n}\n";
    expect(await namesIn(language, source)).not.toContain("variable struct");
    expect(await namesIn(language, "int structure;\n")).toEqual(["variable structure"]);
  });

  test("may be empty, or white space, or bytes that are not text", async () => {
    for (const source of ["", "\n\n", "\0\0\0", Buffer.from([0xff, 0xfe, 0x00, 0xc3])])
      expect(await symbols("TypeScript", source)).toEqual([]);
  });

  test("may end with a comment without a line end", async () => {
    expect(await namesIn("ReScript", "let a = 1\n//")).toEqual(["variable a"]);
  });

  test("keeps the bytes of names around invalid UTF-8", async () => {
    const latin1 = Buffer.from("# caf\xe9\ndef na\xefve(): pass\ndef plain(): pass\n", "latin1");
    expect((await symbols("Python", latin1)).at(-1)).toBe("3:5 function plain");
    const utf8 = "# 日本語 😀\ndef größe(): pass\n";
    expect(await symbols("Python", utf8)).toEqual(["2:5 function größe"]);
  });

  test.each([
    ["JSON", `${"[".repeat(100_000)}`],
    ["JSON", `${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}`],
    ["C", `int x = ${"(".repeat(100_000)};\nint after;\n`],
    ["TypeScript", `const x = ${"[".repeat(50_000)}`],
    ["Python", `${"(".repeat(50_000)}\n`],
  ])("%s: may be nested to any depth", async (language, source) => {
    const hasty = await createExtractor({ ...LIMITS, maxMs: 200 });
    await hasty.prepare(language);
    const found = hasty.extract(language, Buffer.from(source));
    if (found.outcome === "gave-up") expect(found.reason).toBe("too-long");
    await hasty.prepare(language);
    expect(hasty.extract(language, Buffer.from(" "))).toMatchObject({ outcome: "symbols" });
  });
});

describe("limits", () => {
  const source = readFileSync("corpus/languages/sample.ts");

  test("a file that is too large has no symbols, and the reason is reported", async () => {
    const small = await createExtractor({ ...LIMITS, maxBytes: 100 });
    await small.prepare("TypeScript");
    expect(small.extract("TypeScript", source)).toEqual({
      outcome: "gave-up",
      reason: "too-large",
    });
    expect(await extract("JSON", Buffer.alloc(300_000, " "))).toMatchObject({
      reason: "too-large",
    });
  });

  test("a file that takes too long has no symbols, the reason is reported, and the next file has symbols", async () => {
    const limits = { ...LIMITS, maxMs: -1 };
    const hasty = await createExtractor(limits);
    await hasty.prepare("TypeScript");
    const long = Buffer.concat(Array.from({ length: 50 }, () => source));
    expect(hasty.extract("TypeScript", long)).toEqual({ outcome: "gave-up", reason: "too-long" });
    const patient = { ...LIMITS };
    Object.assign(limits, patient);
    expect(hasty.extract("TypeScript", source)).toEqual(await extract("TypeScript", source));
  });
});

describe("a grammar that crashes", () => {
  // in every parse, this build calls a function that does not exist
  const broken: LanguageQuery = {
    names: ["Broken"],
    grammar: "tree-sitter-wasms/out/tree-sitter-yaml.wasm",
    revision: 1,
    query: "(block_mapping_pair) @scope",
  };

  test("fails only for its own files", async () => {
    const languages = (name: string) => (name === "Broken" ? broken : languageQuery(name));
    const mixed = await createExtractor(LIMITS, languages);
    for (let round = 0; round < 3; round++) {
      expect(await mixed.prepare("Broken")).toBe(true);
      expect(mixed.extract("Broken", Buffer.from("a: 1\n"))).toMatchObject({
        outcome: "gave-up",
        reason: "failed",
      });
      await mixed.prepare("Go");
      expect(mixed.extract("Go", Buffer.from("package p\n")).outcome).toBe("symbols");
    }
  });

  test.each([
    { ...broken, grammar: "tree-sitter-wasms/out/no-such-grammar.wasm" },
    { ...broken, query: "(no_such_node) @scope" },
  ])("that does not load fails for its own files: $grammar $query", async (query) => {
    const own = await createExtractor(LIMITS, () => query);
    for (let round = 0; round < 2; round++) {
      expect(await own.prepare("Broken")).toBe(true);
      expect(own.extract("Broken", Buffer.from("a"))).toMatchObject({ reason: "failed" });
    }
  });

  test("may throw inside the parser, and the next file has symbols", async () => {
    const fresh = await createExtractor();
    await fresh.prepare("Go");
    const source = Buffer.from("package p\nfunc f() {}\n");
    const whole = fresh.extract("Go", source);
    const lying = new Proxy(source, { get: (target, key) => liedAbout(target, key) });
    expect(fresh.extract("Go", lying)).toMatchObject({ outcome: "gave-up", reason: "failed" });
    await fresh.prepare("Go");
    expect(fresh.extract("Go", source)).toEqual(whole);
  });
});

describe("a frame around the text", () => {
  test("makes a file with symbols beyond the text fail, but no other file", async () => {
    const python = languageQuery("Python")!;
    // this text has more bytes than characters, so every position is too high
    const before = `# ${"é".repeat(50)}\n`;
    const frame = { name: "late", words: ["late"], around: /late/, before, after: "" };
    const lying = { ...python, frame };
    const own = await createExtractor(LIMITS, () => lying);
    await own.prepare("Python");
    expect(own.extract("Python", Buffer.from("def late(): pass\n"))).toEqual({
      outcome: "gave-up",
      reason: "failed",
      detail: UNSOUND,
    });
    expect(own.extract("Python", Buffer.from("def f(): pass\n"))).toMatchObject({
      table: { count: 1 },
    });
  });

  test.each([
    ["val a : int\nmodule type", ["function a"]],
    ["val a : int\nmodule", ["function a"]],
    ["val a : int\nval ( ", ["function a"]],
    ["val a : int\ntype", ["function a"]],
    ["val a : int\nend module B = struct let b = 1", ["function a", "module B", "variable b"]],
  ])("adds no names of its own around %j", async (source, expected) => {
    expect(await namesIn("OCaml", source)).toEqual(expected);
  });
});

/** Throws from inside the parser's call for text, as an abort would. */
function liedAbout(target: Uint8Array, key: string | symbol): unknown {
  if (key === "length") return target.length;
  throw new Error("aborted");
}

/** Collects garbage, because the heaps of tests are collected late (see vitest.config.ts). */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

test("memory does not grow with the number of files", async () => {
  const source = readFileSync("corpus/languages/sample.go");
  const run = async (times: number) => {
    for (let time = 0; time < times; time++) await extract("Go", source);
    collectGarbage();
    return process.memoryUsage().rss;
  };
  const before = await run(400); // until the runtime has allocated what it needs
  expect((await run(300)) - before).toBeLessThan(12 << 20);
});

test("languages without an extractor are recognized", async () => {
  expect(await extractor.prepare("Brainfuck")).toBe(false);
  expect(extractor.extract("Brainfuck", Buffer.from("+"))).toEqual({ outcome: "none" });
  expect(grammarVersion("Brainfuck")).toBeUndefined();
});

test("versions name the grammar's package and quern's revision", () => {
  expect(grammarVersion("C")).toMatch(/^\d+,@repomix\/tree-sitter-wasms@\d+\.\d+\.\d+.*\/\d+$/);
  expect(grammarVersion("Vue")?.split(",").length).toBe(4);
});

test("a table has the format of the documented example, even with the same symbols twice", async () => {
  const found = await extract("Rust", "impl Widget { fn run() {} }");
  if (found.outcome !== "symbols") throw new Error(found.outcome);
  const { table } = found;
  const [method, struct] = [kindId("method"), kindId("struct")];
  expect([table.count, ...table.rows]).toEqual([1, 17, 20, method, 1, 5, 11, struct, -1]);
  const twice = joinTables([table, shiftTable(table, 100)]);
  expect(twice.count).toBe(2);
  expect([...twice.rows]).toEqual(
    [
      [17, 20, method, 2],
      [117, 120, method, 3],
      [5, 11, struct, -1],
      [105, 111, struct, -1],
    ].flat(),
  );
});
