/**
 * Measures the kernel's functions, in GB/s of the bytes that they read, on one thread with the text in cache. Each case
 * also computes its answer in a slow way. A function with another answer fails.
 *
 *     npx tsx bench/kernel.ts [FOLDER]      text: up to 16 MB of the folder's files; absent: generated
 */

import { readFileSync } from "node:fs";
import Benchmark from "benchmark";
import { Arena } from "../src/kernel/arena.ts";
import { FOLDING_TABLE_BYTES, writeFoldingTable } from "../src/kernel/folding.ts";
import { createGramLists } from "../src/kernel/gram-lists.ts";
import { createKernel } from "../src/kernel/kernel.ts";
import { Automaton, automatonSteps } from "../src/regex/automaton.ts";
import { takeAll } from "../src/base/steps.ts";
import { parseExpression } from "../src/regex/parse.ts";
import { prepareLiteral } from "../src/search/thread/reading/literal.ts";
import { LiteralScanner, placeLiteral } from "../src/search/thread/reading/literal-scanner.ts";
import { OVERLAP, PAGE_BYTES } from "../src/store/format/format.ts";
import { filesOf } from "./corpus.ts";
import { generatedFiles, randomNumbers } from "./generated.ts";
import { terminalTable, type Cell } from "./table.ts";

const TEXT_BYTES = 16_000_000;
const SECONDS_EACH = 0.5;

interface Case {
  readonly name: string;
  /** The bytes that one run reads. */
  readonly bytes: number;
  readonly run: () => number;
  /** Computes the answer in a slow way. */
  readonly expected: () => number;
}

function* contents(folder: string | undefined): Generator<Uint8Array> {
  if (folder) for (const path of filesOf(folder)) yield readFileSync(path);
  else for (const { content } of generatedFiles(0, TEXT_BYTES)) yield content;
}

function readText(folder: string | undefined): Buffer {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (const content of contents(folder)) {
    if (content.subarray(0, 8000).includes(0)) continue;
    pieces.push(content);
    bytes += content.length;
    if (bytes >= TEXT_BYTES) break;
  }
  return Buffer.concat(pieces).subarray(0, TEXT_BYTES);
}

const text = readText(process.argv[2]);
const string = text.toString("latin1"); // so that positions are byte positions
const kernel = createKernel();
const arena = new Arena(kernel);
const { run } = kernel;
const from = arena.put(text);
const to = from + text.length;

const matchesOf = (expression: RegExp) => string.match(expression)?.length ?? 0;

function literalCase(word: string, caseSensitive: boolean): Case {
  const literal = prepareLiteral({ kind: "literal", text: word, caseSensitive });
  const placed = placeLiteral(literal, arena);
  const { table, out } = oneRun(word.length);
  const [first, second] = literal.rarest;
  const flags = caseSensitive ? "g" : "gi";
  return {
    name: `literal ${word}, ${caseSensitive ? "exact" : "either case"}`,
    bytes: text.length,
    run: () =>
      run.scanLiteral(table, 1, placed.bytes, placed.masks, literal.length, first, second, 0, out),
    expected: () => matchesOf(new RegExp(word, flags)),
  };
}

const folding = kernel.reserve(FOLDING_TABLE_BYTES);
writeFoldingTable(kernel.bytes, folding);

function foldedCase(word: string): Case {
  const literal = prepareLiteral({ kind: "literal", text: word, caseSensitive: false });
  const { points, leads } = placeLiteral(literal, arena);
  const { table, out } = oneRun(literal.shortest);
  return {
    name: `literal ${word}, code point by code point`,
    bytes: text.length,
    run: () => run.scanFolded(table, 1, points, literal.points.length, leads, folding, 0, out),
    expected: () => text.toString().match(new RegExp(word, "giu"))?.length ?? 0,
  };
}

/** The text with a capital beyond ASCII on every page, so that folding changes every page. */
const amongCapitals = Buffer.from(text);
for (let page = 0; page + 2 < text.length; page += PAGE_BYTES) amongCapitals.write("É", page);

/**
 * Searches as a query does: by bytes and masks, unless the text contains a character that folds to a letter of the
 * word.
 */
function foldingCase(word: string): Case {
  const at = arena.put(amongCapitals);
  const scanner = new LiteralScanner(kernel, arena);
  const literal = prepareLiteral({ kind: "literal", text: word, caseSensitive: false });
  const { bytes, masks, points, leads } = placeLiteral(literal, arena);
  const [first, second] = literal.rarest;
  const { table, out } = oneRun(literal.shortest, at);
  return {
    name: `literal ${word}, either case, a capital beyond ASCII on every page`,
    bytes: text.length,
    run: () =>
      scanner.mustFold(literal, { from: at, to: at + text.length })
        ? run.scanFolded(table, 1, points, literal.points.length, leads, folding, 0, out)
        : run.scanLiteral(table, 1, bytes, masks, literal.length, first, second, 0, out),
    expected: () => amongCapitals.toString().match(new RegExp(word, "giu"))?.length ?? 0,
  };
}

/** Writes the table of a run over the whole text. */
function oneRun(shortest: number, at = from): { table: number; out: number } {
  const table = arena.take(24);
  const end = at + text.length;
  kernel.words.set([at, end, end, at, 0, 0], table >>> 2);
  return { table, out: arena.take(8 * (1 + Math.floor(text.length / shortest))) };
}

function expressionCase(source: string): Case {
  const node = parseExpression(source, { caseSensitive: true });
  const automaton = new Automaton(kernel, takeAll(automatonSteps(node)), false);
  return {
    name: `expression ${source}`,
    bytes: text.length,
    run: () => automaton.count(from, to),
    expected: () => matchesOf(new RegExp(source, "gm")),
  };
}

function gramsCase(): Case {
  const lists = createGramLists(createKernel(), PAGE_BYTES + OVERLAP);
  return {
    name: "grams of pages, into lists",
    bytes: text.length,
    run() {
      lists.clear();
      for (let at = 0; at < text.length; at += PAGE_BYTES)
        lists.add(text.subarray(at, at + PAGE_BYTES + OVERLAP));
      return lists.pages;
    },
    expected: () => Math.ceil(text.length / PAGE_BYTES),
  };
}

const PAGES = 32_768; // those of a segment of 256 MiB
const BITMAP = PAGES / 8;

/** Returns a list with one of `every` pages. */
function pagesOf(every: number): Set<number> {
  const random = randomNumbers(every);
  const pages = Array.from({ length: PAGES }, (_, page) => page);
  return new Set(pages.filter(() => random() * every < 1));
}

function placeBits(pages: Set<number>): number {
  const bits = arena.put(new Uint8Array(BITMAP));
  for (const page of pages) kernel.bytes[bits + (page >> 3)]! |= 1 << (page & 7);
  return bits;
}

function postingCases(every: number): Case[] {
  const pages = pagesOf(every);
  const bits = placeBits(pages);
  const list = arena.take(5 * PAGES);
  const length = run.encodeGaps(bits, PAGES, list);
  const decoded = arena.put(new Uint8Array(BITMAP));
  const name = `one page in ${every}`;
  return [
    {
      name: `decode gaps, ${name}`,
      bytes: length,
      run: () => run.decodeGaps(list, length, PAGES, decoded),
      expected: () => pages.size,
    },
    {
      name: `encode gaps, ${name}`,
      bytes: BITMAP,
      run: () => run.encodeGaps(bits, PAGES, list),
      expected: () => length,
    },
  ];
}

function bitmapCases(): Case[] {
  const pages = pagesOf(3);
  const bits = placeBits(pages);
  return [
    {
      name: "count bits",
      bytes: BITMAP,
      run: () => run.countBits(bits, BITMAP),
      expected: () => pages.size,
    },
  ];
}

const CASES: readonly Case[] = [
  {
    name: "copy into the kernel",
    bytes: text.length,
    run: () => (kernel.bytes.set(text, from), text.length),
    expected: () => text.length,
  },
  {
    name: "count newlines",
    bytes: text.length,
    run: () => run.countNewlines(from, to),
    expected: () => matchesOf(/\n/g),
  },
  literalCase("quern_is_not_in_here", true),
  literalCase("quern_is_not_in_here", false),
  literalCase("return", true),
  literalCase("return", false),
  literalCase("the", false),
  foldingCase("return"),
  literalCase("struct", false),
  foldingCase("struct"),
  ...["return", "struct", "é"].map(foldedCase),
  expressionCase("[a-z]+_lock\\(&?[a-z]+->"),
  expressionCase("[a-z]{3}_[A-Z]{4}"),
  expressionCase("(alloc|free)_pages?"),
  expressionCase("static.*inline.*void"),
  gramsCase(),
  ...[3, 30, 300, 3000].flatMap(postingCases),
  ...bitmapCases(),
];

function measure({ name, bytes, run: call, expected }: Case): Cell[] {
  const want = expected();
  const got = call();
  if (got !== want) throw new Error(`${name}: ${got}, expected ${want}`);
  const { stats } = new Benchmark(name, call, { maxTime: SECONDS_EACH, minSamples: 5 }).run();
  return [name, bytes / stats.mean / 1e9, stats.mean * 1e6, `± ${stats.rme.toFixed(1)} %`];
}

console.log(`${(text.length / 1e6).toFixed(1)} MB of text\n`);
console.log(terminalTable(["", "GB/s", "µs a run", ""], CASES.map(measure)));
