/**
 * A process that tries operations on a directory, one after another, and prints the outcome of each as JSON. It runs as
 * the user with the given number unless that is 0. QUERN_THREADS is the number of threads that search.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { lmdbTokenStore } from "../../../src/auth/lmdb-stores.ts";
import type { QuernError } from "../../../src/base/errors.ts";
import type { Engine } from "../../../src/engine.ts";
import type { IndexProgress } from "../../../src/ingest/run/report.ts";
import { open } from "../../../src/opened-engine.ts";
import { directory } from "../../../src/ingest/sources/directory.ts";
import { documents } from "../../../src/ingest/sources/documents.ts";
import { git } from "../../../src/ingest/sources/git.ts";
import type { Source } from "../../../src/ingest/sources/source.ts";
import { fill } from "./fill.ts";

export type Attempt =
  | "open"
  | "open to read"
  | "small"
  | "large"
  | `pair, full at ${IndexProgress["stage"]}`
  | "search"
  | "check"
  | "key"
  | "compact"
  | "folder"
  | "tree";

export interface Outcome {
  readonly attempt: Attempt;
  /** The error code; absent if the operation succeeded. */
  readonly code?: string;
  readonly message?: string;
  /** The repositories that the error says were published. */
  readonly published?: readonly string[];
  /** The repositories whose new content is found although the operation failed. */
  readonly seen?: readonly string[];
  /** The number of files that a search found. */
  readonly files?: number;
  /** The files that an index run has listed as not searchable, with the reasons. */
  readonly skipped?: string;
}

const [path, user, ...attempts] = process.argv.slice(2) as [string, string, ...Attempt[]];
if (Number(user) > 0) process.setuid!(Number(user));

const workers = Number(process.env["QUERN_THREADS"] ?? 0);

let engine: Engine | undefined;
let count = 0;

/** Returns lines that no two files share, so that no text is stored once for several files. */
const text = (seed: string, lines: number): string =>
  Array.from({ length: lines }, (_, i) => `${seed} marker ${i}\n`).join("");

const source = (name: string, lines: number, files: number) =>
  documents({
    name,
    files: Array.from({ length: files }, (_, i) => ({
      path: `${i}.txt`,
      content: text(`${name} ${i}`, lines),
    })),
  });

async function skippedOf(source: Source): Promise<Partial<Outcome>> {
  const [report] = await engine!.index(source);
  const listed = report!.skipped.map(({ path, reason }) => `${path} ${reason}`);
  return { skipped: `${report!.added + report!.unchanged} and ${listed.join(", ")}` };
}

let defined = 0;

/** Returns two new repositories. Their text is short, so that their symbols need more room than their text. */
const pair = () =>
  [`left${count}`, `right${count}`].map((name) =>
    documents({
      name,
      files: Array.from({ length: 10 }, (_, i) => ({
        path: `${i}.ts`,
        content: `// round${count}\n${Array.from({ length: 1000 }, () => `function f${(defined++).toString(36)}(){}\n`).join("")}`,
      })),
    }),
  );

/** Indexes two repositories in which everything is new, and fills the disk when a stage begins. */
async function indexFilling(stage: IndexProgress["stage"]): Promise<Partial<Outcome>> {
  count++;
  let isFull = false;
  const onProgress = (progress: IndexProgress): void => {
    if (progress.stage === stage && !isFull) fill(join(path, ".."));
    isFull ||= progress.stage === stage;
  };
  try {
    await engine!.index(pair(), { onProgress });
    return {};
  } catch (error) {
    const { code, message, published } = error as QuernError;
    const query = `round${count}`;
    const { files } = await engine!.search({ query, matches: 10_000, matchesPerFile: 1 });
    const seen = [...new Set(files.map(({ repository }) => repository))].sort();
    return { code, message, published: [...published].sort(), seen };
  } finally {
    rmSync(join(path, "..", "filler"), { force: true });
  }
}

async function attempt(what: Attempt): Promise<Partial<Outcome>> {
  switch (what) {
    case "pair, full at list":
    case "pair, full at content":
    case "pair, full at publish":
    case "pair, full at symbols":
    case "pair, full at words":
    case "pair, full at history":
    case "pair, full at merge":
      return indexFilling(what.slice("pair, full at ".length) as IndexProgress["stage"]);
    case "open":
    case "open to read":
      await engine?.close();
      engine = undefined;
      engine = await open(path, { workers, warmUp: false, readOnly: what === "open to read" });
      return {};
    case "small":
      await engine!.index(source(`small ${count++}`, 10, 1));
      return {};
    case "large":
      await engine!.index(source("large", 20_000, 25));
      return {};
    case "compact":
      await engine!.compact();
      return {};
    case "folder":
      return skippedOf(directory(join(path, "..", "folder")));
    case "tree":
      return skippedOf(git(join(path, "..", "tree")));
    case "search": {
      const { stats, isSearchExhaustive } = await engine!.search({
        query: `"marker 0"`,
        matches: 100,
      });
      return { files: isSearchExhaustive ? stats.fileCount : -1 };
    }
    case "check": {
      const { problems } = await engine!.check();
      return problems[0] ? { code: "damaged", message: problems[0].message } : {};
    }
    case "key": {
      await using tokens = lmdbTokenStore(join(path, "..", "keys"));
      const createdAt = new Date();
      const id = `${Math.random()}`;
      await tokens.create({ id, kind: "api-key", hash: id, ownerId: "o", createdAt });
      return {};
    }
  }
}

const outcomes: Outcome[] = [];
for (const what of attempts) {
  try {
    outcomes.push({ attempt: what, ...(await attempt(what)) });
  } catch (error) {
    const { code = "no code", message } = error as { code?: string; message: string };
    outcomes.push({ attempt: what, code, message });
  }
}
await engine?.close();
process.stdout.write(JSON.stringify(outcomes));
