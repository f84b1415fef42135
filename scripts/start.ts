/**
 * Implements `npm start`: builds git repositories from corpus/, indexes them all in one run into .quern-demo/ (or the
 * given folder), and runs some searches that show what the engine can do.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { progressLine } from "../src/cli/progress.ts";
import { showFile } from "../src/cli/show-files.ts";
import { bytes, count, duration, styleFor } from "../src/cli/style.ts";
import { git, open, type Engine, type SearchRequest } from "../src/index.ts";
import { buildCorpus } from "./build-corpus.ts";

const FOLDER = process.argv[2] ?? fileURLToPath(new URL("../.quern-demo", import.meta.url));
const FILES_SHOWN = 3;
const LINES_SHOWN = 7; // of one file

interface Question extends Partial<SearchRequest> {
  readonly about: string;
  readonly query: string;
}

const QUESTIONS: readonly Question[] = [
  {
    about: "a name: its definition first, then its uses",
    query: "retryWithBackoff",
    contextLines: 1,
  },
  { about: "the definition itself, in one language", query: "sym:^parseDuration$ lang:go" },
  {
    about: "words of one file, without tests",
    query: "simplified tolerance -file:test",
    contextLines: 1,
  },
  { about: "any case, in any alphabet", query: "λόγος" },
  { about: "a regular expression", query: "class\\s+\\w+Error\\b", isRegexEnabled: true },
  {
    about: "one without any letter to look up",
    query: "[A-Z]{4,}_[A-Z]{4,}",
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
  },
  { about: "what only another branch has", query: "rev:develop repo:task-queue priority" },
  { about: "every match is counted, however many there are", query: "e" },
];

const { stdout, stderr, env } = process;
const style = styleFor(stdout, env);
const say = (line = ""): void => void stdout.write(`${line}\n`);

async function indexCorpus(engine: Engine): Promise<void> {
  const repositories = await buildCorpus(join(FOLDER, "repositories"));
  const sources = repositories.map(({ path, name, revisions }) => git(path, { name, revisions }));
  const progress = progressLine({ stdout, stderr, env, signal: new AbortController().signal });
  const start = performance.now();
  const reports = await engine.index(sources, { onProgress: progress.onProgress });
  progress.clear();
  const total = (field: "added" | "bytesRead" | "symbols"): number =>
    reports.reduce((sum, report) => sum + report[field], 0);
  say(
    `indexed ${count(reports.length, "repository", "repositories")}, ${count(total("added"), "file")}, ` +
      `${bytes(total("bytesRead"))}, ${count(total("symbols"), "symbol")} ` +
      `in ${duration(performance.now() - start)}`,
  );
}

async function ask(engine: Engine, { about, ...asked }: Question): Promise<void> {
  const request = { matches: 100, matchesPerFile: 5, ...asked };
  await engine.search(request); // the printed time is that of an engine that has already answered queries
  const { files, stats } = await engine.search(request);
  const kind = asked.isRegexEnabled ? " (regular expression)" : "";
  say(`\n━━ ${about}\n   ${asked.query}${kind}\n`);
  for (const file of files.slice(0, FILES_SHOWN)) {
    const lines = showFile(file, { style, revisions: asked.query.includes("rev:") });
    for (const line of lines.slice(0, LINES_SHOWN + 1)) say(`   ${line}`);
    if (lines.length > LINES_SHOWN + 1) say(style.quiet("   …"));
  }
  say(
    style.quiet(
      `   ${count(stats.totalMatchCount, "match", "matches")} in ${count(stats.fileCount, "file")}, ` +
        `${count(stats.filesLoaded, "file")} read, ${duration(stats.duration / 1e6)}`,
    ),
  );
}

rmSync(FOLDER, { recursive: true, force: true });
const engine = await open(join(FOLDER, "index"));
try {
  await indexCorpus(engine);
  for (const question of QUESTIONS) await ask(engine, question);
  say(
    "\nTry it yourself:\n  npx tsx src/cli/bin.ts search --db .quern-demo/index 'money lang:php'" +
      "\nor on the page, which is then at http://127.0.0.1:3000/:" +
      "\n  npx tsx src/cli/bin.ts serve --db .quern-demo/index --anonymous all",
  );
} finally {
  await engine.close();
}
