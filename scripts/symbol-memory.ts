/**
 * Indexes files of many languages with their symbols, to see whether the memory of parsers grows with
 * the number of files:
 *
 *     node --import tsx scripts/symbol-memory.ts FOLDER … [--workers 2] [--most FILES]
 *
 * Uses the files of the folders that have a grammar, in groups of 40 in any order, so that languages change all the
 * time. After every twentieth file comes a fixture, each time in another language and with another text. Every 20 s it
 * prints a line: what was parsed, the memory without mapped files (RssAnon), and how much of that belongs to
 * WebAssembly instances. Each grammar that a thread has loaded is one instance. Fails if the highest value of the last
 * third of the files is more than 5 % above that of the second third. Linux only. Build the kernel and the worker
 * first.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { open } from "../src/opened-engine.ts";
import { documents, type Document } from "../src/ingest/sources/documents.ts";
import { languageOf } from "../src/ingest/classification/languages.ts";
import { grammarVersion } from "../src/ingest/symbols/languages.ts";
import { anonymousBytes } from "../test/engine/soak.ts";
import { FIXTURES, FOLDER } from "../test/ingest/symbols/fixtures.ts";
import { randomFrom } from "../test/regex/random.ts";

const GROUP_FILES = 40;
const FIXTURE_EVERY = 20;
const MAX_BYTES = 2 << 20;
const SAMPLE_MS = 1000;
const LINE_MS = 20_000;
const ALLOWED_GROWTH = 1.05;
/** Node reserves more than this for each memory, however much of it is used. */
const RESERVED_BYTES = 4 * 2 ** 30;

const { positionals: folders, values } = parseArgs({
  allowPositionals: true,
  options: { workers: { type: "string" }, most: { type: "string" } },
});

function filesOf(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("/.git/"))
    .map((entry) => join(entry.parentPath, entry.name));
  return found.sort().filter((path) => {
    const { size } = statSync(path);
    return size > 0 && size <= MAX_BYTES && grammarVersion(languageOf(path, head)) !== undefined;
  });
}

/** An empty text, because names are enough to find the language. */
const head = new Uint8Array();

function shuffledGroups(files: readonly string[]): string[] {
  const random = randomFrom(1);
  const groups = Array.from({ length: Math.ceil(files.length / GROUP_FILES) }, (_, i) =>
    files.slice(i * GROUP_FILES, (i + 1) * GROUP_FILES),
  );
  for (let i = groups.length - 1; i > 0; i--) {
    const other = random(i + 1);
    [groups[i], groups[other]] = [groups[other]!, groups[i]!];
  }
  return groups.flat();
}

function* mixed(files: readonly string[]): Generator<Document> {
  for (const [i, path] of files.entries()) {
    yield { path: relative("/", path), content: () => readFileSync(path) };
    if (i % FIXTURE_EVERY > 0) continue;
    const turn = i / FIXTURE_EVERY;
    const [name] = FIXTURES[turn % FIXTURES.length]!;
    const text = readFileSync(join(FOLDER, name), "utf8");
    yield { path: `fixtures/${turn}/${name}`, content: text + "\n".repeat(1 + turn) };
  }
}

interface Memories {
  readonly count: number;
  /** The resident bytes. */
  readonly bytes: number;
}

/** Finds the memories of WebAssembly: each is a writable mapping, followed by what is reserved for its growth. */
function memories(): Memories {
  let [count, bytes, before] = [0, 0, 0];
  for (const mapping of readFileSync("/proc/self/smaps", "utf8").split(/^(?=[0-9a-f]+-)/m)) {
    const [, start = "", end = "", mode = ""] = /^(\w+)-(\w+) (\S+)/.exec(mapping) ?? [];
    const length = Number.parseInt(end, 16) - Number.parseInt(start, 16);
    if (mode.startsWith("---") && length > RESERVED_BYTES) {
      count++;
      bytes += before;
    }
    before = 1024 * Number(/^Rss:\s+(\d+) kB$/m.exec(mapping)?.[1] ?? 0);
  }
  return { count, bytes };
}

interface Sample {
  readonly done: number;
  readonly anonymous: number;
  readonly memories: Memories;
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed();

function show({ done, anonymous, memories: { count, bytes } }: Sample): string {
  return `${done} files, ${mebibytes(anonymous)} MiB, ${mebibytes(bytes)} of it in ${count} memories`;
}

/** Returns the highest value of each third of the files. */
function thirds(samples: readonly Sample[], total: number): number[] {
  return [0, 1, 2].map((third) =>
    samples
      .filter(({ done }) => Math.min(2, Math.floor((3 * done) / total)) === third)
      .reduce((highest, { anonymous }) => Math.max(highest, anonymous), 0),
  );
}

const files = shuffledGroups(folders.flatMap(filesOf)).slice(0, Number(values.most ?? Infinity));
const path = mkdtempSync(join(tmpdir(), "quern-symbol-memory-"));
const engine = await open(path, { workers: Number(values.workers ?? 2) });
const samples: Sample[] = [];
let [done, total, isParsing, told] = [0, 0, false, -Infinity];

function sample(): void {
  if (!isParsing) return;
  const one = { done, anonymous: anonymousBytes(), memories: memories() };
  samples.push(one);
  if (performance.now() - told < LINE_MS) return;
  told = performance.now();
  console.log(`${(told / 1000).toFixed()} s: ${show(one)}`);
}

const timer = setInterval(sample, SAMPLE_MS);
const [report] = await engine.index(documents({ name: "mixed", files: mixed(files) }), {
  onProgress(progress) {
    isParsing = progress.stage === "symbols";
    if (isParsing) [done, total] = [progress.done, progress.total];
  },
});
clearInterval(timer);
isParsing = true;
sample();
const [repository] = await engine.repositories();
await engine.close();
rmSync(path, { recursive: true, force: true, maxRetries: 3 });

const [first = 0, second = 0, last = 0] = thirds(samples, total);
console.log(`${total} texts of ${repository!.symbols.done} files, ${report!.symbols} symbols`);
for (const { path, reason } of report!.withoutSymbols)
  if (reason !== "too-large") console.log(`${reason}: ${path}`);
console.log(`highest of each third: ${[first, second, last].map(mebibytes).join(", ")} MiB`);
console.log(`at the end: ${show(samples.at(-1)!)}`);
const isBounded = last <= ALLOWED_GROWTH * second;
console.log(isBounded ? "bounded" : "memory grows");
if (!isBounded) process.exitCode = 1;
