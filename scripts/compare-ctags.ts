/**
 * Compares our symbols of a folder with those of universal-ctags, by language. Precision is the share of our symbols
 * that ctags has, recall the share of its symbols that we have. A symbol is a name on a line of a file.
 *
 *     node --import tsx scripts/compare-ctags.ts FOLDER [--every N] [--language NAME] [--show N]
 *
 * --every N takes every Nth file of each language, --show N prints N differences of each kind. What ctags counts as a
 * definition differs by language; docs/symbols.md explains the figures.
 */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { createExtractor, type Extractor } from "../src/ingest/symbols/extract.ts";
import { ROW, SYMBOL_ROW } from "../src/store/symbols/symbol-run.ts";
import { SYMBOL_KINDS } from "../src/store/symbols/symbol-kinds.ts";

const LANGUAGES: Record<string, string> = {
  ".c": "C",
  ".h": "C",
  ".cc": "C++",
  ".cpp": "C++",
  ".hpp": "C++",
  ".cs": "C#",
  ".clj": "Clojure",
  ".css": "CSS",
  ".elm": "Elm",
  ".ex": "Elixir",
  ".exs": "Elixir",
  ".go": "Go",
  ".ini": "INI",
  ".java": "Java",
  ".json": "JSON",
  ".js": "JavaScript",
  ".cjs": "JavaScript",
  ".mjs": "JavaScript",
  ".kt": "Kotlin",
  ".lua": "Lua",
  ".m": "Objective-C",
  ".md": "Markdown",
  ".ml": "OCaml",
  ".php": "PHP",
  ".pl": "Perl",
  ".pm": "Perl",
  ".ps1": "PowerShell",
  ".properties": "Java Properties",
  ".py": "Python",
  ".r": "R",
  ".rb": "Ruby",
  ".rs": "Rust",
  ".scala": "Scala",
  ".sh": "Shell",
  ".tf": "HCL",
  ".ts": "TypeScript",
  ".yaml": "YAML",
  ".yml": "YAML",
};

const MAX_BYTES = 2 << 20;
/** The number of files whose symbols are in memory at a time. All of Linux has five million symbols. */
const FILES_AT_ONCE = 1000;

/** Symbols in a form that both sides share, each with the kind that one side gives it. */
type Symbols = Map<string, string>;

interface Comparison {
  files: number;
  bytes: number;
  ms: number;
  failed: number;
  ours: number;
  theirs: number;
  both: number;
  /** Examples of symbols that only we have, by kind. */
  readonly extra: Map<string, string[]>;
  readonly missing: Map<string, string[]>;
}

function filesByLanguage(folder: string, every: number): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const language = LANGUAGES[extname(entry.name)];
    if (language === undefined || !entry.isFile()) continue;
    const list = found.get(language) ?? [];
    list.push(join(entry.parentPath, entry.name));
    found.set(language, list);
  }
  for (const [language, list] of found)
    found.set(
      language,
      list
        .sort()
        .filter((_, index) => index % every === 0)
        .filter((path) => statSync(path).size <= MAX_BYTES),
    );
  return found;
}

/**
 * Returns a name as both sides spell it: `a.b`, `A::b` and `A\\b` become `b`, `operator ==` loses its space, and `nil?`
 * its mark.
 */
const plainName = (name: string) =>
  name
    .replace(/^operator /, "operator")
    .replace(/^.*(?:\.|::?|\\)(?=[\w$])/, "")
    .replace(/(?<=\w)[?!=]$/, "");

/** Returns the symbols that ctags finds in each file, without its kinds for files and for what is not defined there. */
function ctags(files: readonly string[]): Map<string, Symbols> {
  const out = execFileSync(
    "ctags",
    [
      "--options=NONE",
      "-x",
      "--_xformat=%N\t%K\t%n\t%F",
      "--extras=-{qualified}{anonymous}",
      "-L",
      "-",
    ],
    { input: files.join("\n"), maxBuffer: 1 << 30, stdio: ["pipe", "pipe", "ignore"] },
  ).toString("latin1");
  const found = new Map<string, Symbols>(files.map((file) => [file, new Map()]));
  for (const line of out.split("\n")) {
    const [name, kind, number, file] = line.split("\t");
    if (file !== undefined) found.get(file)?.set(`${number}\t${plainName(name!)}`, kind!);
  }
  return found;
}

function ourSymbols(extractor: Extractor, language: string, bytes: Buffer): Symbols | undefined {
  const found = extractor.extract(language, bytes);
  if (found.outcome !== "symbols") return undefined;
  const { count, rows } = found.table;
  const symbols: Symbols = new Map();
  let line = 1;
  let at = 0;
  for (let base = 0; base < count * SYMBOL_ROW; base += SYMBOL_ROW) {
    const start = rows[base + ROW.start]!;
    for (; at < start; at++) if (bytes[at] === 10) line++;
    const name = bytes.toString("latin1", start, rows[base + ROW.end]);
    symbols.set(`${line}\t${plainName(name)}`, SYMBOL_KINDS[rows[base + ROW.kind]!]!);
  }
  return symbols;
}

function note(
  differences: Map<string, string[]>,
  kind: string,
  file: string,
  symbol: string,
): void {
  const list = differences.get(kind) ?? [];
  list.push(`${file}:${symbol.replace("\t", " ")}`);
  differences.set(kind, list);
}

async function compare(language: string, files: string[]): Promise<Comparison> {
  const all: Comparison = {
    files: files.length,
    bytes: 0,
    ms: 0,
    failed: 0,
    ours: 0,
    theirs: 0,
    both: 0,
    extra: new Map(),
    missing: new Map(),
  };
  const extractor = await createExtractor();
  let theirs = new Map<string, Symbols>();
  for (const [index, file] of files.entries()) {
    if (index % FILES_AT_ONCE === 0) theirs = ctags(files.slice(index, index + FILES_AT_ONCE));
    const bytes = readFileSync(file);
    await extractor.prepare(language);
    const start = performance.now();
    const ours = ourSymbols(extractor, language, bytes);
    all.ms += performance.now() - start;
    all.bytes += bytes.length;
    if (ours === undefined) all.failed++;
    tally(all, file, ours ?? new Map(), theirs.get(file)!);
  }
  return all;
}

function tally(all: Comparison, file: string, ours: Symbols, theirs: Symbols): void {
  all.ours += ours.size;
  all.theirs += theirs.size;
  for (const [symbol, kind] of ours) {
    if (theirs.has(symbol)) all.both++;
    else note(all.extra, kind, file, symbol);
  }
  for (const [symbol, kind] of theirs) if (!ours.has(symbol)) note(all.missing, kind, file, symbol);
}

function report(language: string, it: Comparison, show: number): void {
  const percent = (part: number, whole: number) => `${((100 * part) / (whole || 1)).toFixed(1)} %`;
  const speed = it.bytes / 1e3 / (it.ms || 1);
  console.log(
    `| ${language} | ${it.files} | ${(it.bytes / 1e6).toFixed(1)} | ${it.ours} | ${it.theirs} | ` +
      `${percent(it.both, it.ours)} | ${percent(it.both, it.theirs)} | ${it.failed} | ${speed.toFixed(1)} |`,
  );
  if (show === 0) return;
  for (const [title, differences] of [
    ["only ours", it.extra],
    ["only ctags", it.missing],
  ] as const)
    for (const [kind, list] of [...differences].sort((a, b) => b[1].length - a[1].length)) {
      console.log(`  ${title}: ${list.length} ${kind}`);
      const step = Math.max(1, Math.floor(list.length / show));
      for (let at = 0; at < list.length && at / step < show; at += step)
        console.log(`    ${list[at]}`);
    }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: "string", default: "1" },
    language: { type: "string" },
    show: { type: "string", default: "0" },
  },
});

console.log("| language | files | MB | ours | ctags | precision | recall | gave up | MB/s |");
console.log("|---|---|---|---|---|---|---|---|---|");
for (const [language, files] of filesByLanguage(positionals[0] ?? ".", Number(values.every))) {
  if (values.language !== undefined && values.language !== language) continue;
  report(language, await compare(language, files), Number(values.show));
}
