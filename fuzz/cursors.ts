/**
 * Fuzzes the cursors of searches with changed cursors, and with cursors of a viewer who sees more. Every answer must be
 * either a refusal or the end of the whole answer, starting at any place. It must contain only what the viewer may see.
 * An input is a byte that selects the request and the viewer, followed by the bytes of a cursor.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pack, unpack } from "msgpackr";
import { QuernError } from "../src/base/errors.ts";
import type { Engine } from "../src/engine.ts";
import { open } from "../src/opened-engine.ts";
import { documents } from "../src/ingest/sources/documents.ts";
import type { SearchOptions } from "../src/search/messages/request.ts";
import type { FileResult } from "../src/search/messages/response.ts";
import type { Random } from "../test/regex/random.ts";
import { mutate } from "./mutate.ts";
import { holds, type Target } from "./target.ts";

const QUERIES = ["needle", "needle or hay", "file:src", "sym:needle", "-hay"];
const NAMES = ["a/one", "a/two", "b/hidden"];
const TEXTS = ["needle needle\nhay\n", "function needle() {}\n", "hay\n", "needle\n".repeat(9)];

const sources = () =>
  NAMES.map((name, at) =>
    documents({
      name,
      files: Array.from({ length: 6 }, (_, n) => ({
        path: `${["src", "lib"][n % 2]}/${n}.ts`,
        content: `${TEXTS[(at + n) % TEXTS.length]}// ${name} ${n}\n`,
      })),
    }),
  );

/** A request with its viewer, and its whole answer in order. */
interface Asked {
  readonly query: string;
  readonly options: SearchOptions;
  readonly whole: readonly string[];
}

export async function openCursorsTarget(): Promise<Target> {
  const path = mkdtempSync(join(tmpdir(), "quern-fuzz-cursors-"));
  process.on("exit", () => rmSync(path, { recursive: true, force: true }));
  const engine = await open(path, { workers: 0 });
  await engine.index(sources());
  const seen = (await engine.repositories()).filter(({ name }) => name !== "b/hidden");
  const viewers = [{}, { viewer: { repositoryIds: new Set(seen.map(({ id }) => id)) } }];
  const asked: Asked[] = [];
  /** Cursors, each with the number of its request. */
  const cursors: Made[] = [];
  for (const query of QUERIES)
    for (const options of viewers) {
      const whole: string[] = [];
      for (let after: string | undefined = ""; after !== undefined;) {
        const page = await engine.search({ query, matches: 2, after }, options);
        whole.push(...page.files.flatMap(rangesIn));
        after = page.nextCursor;
        if (after !== undefined)
          cursors.push({ at: asked.length, bytes: Buffer.from(after, "base64url") });
      }
      holds(new Set(whole).size === whole.length, `pages of ${query} double a range`);
      asked.push({ query, options, whole });
    }
  const counts = { refused: 0, answered: 0 };
  return {
    summary: () => JSON.stringify(counts),
    make: (random) => make(random, cursors),
    async check(input) {
      if (input.length < 2) return;
      const one = asked[input[0]! % asked.length]!;
      const isText = input[0]! >= 240; // unchanged bytes are hardly ever valid base64url
      const isAnswered = await goOn(
        engine,
        one,
        input.subarray(1).toString(isText ? "utf8" : "base64url"),
      );
      const isHidden = fieldsIn(input.subarray(1))?.[4] === "b/hidden" && one.options.viewer;
      holds(!isAnswered || isText || !isHidden, "goes on behind a repository that is hidden");
      counts[isAnswered ? "answered" : "refused"]++;
    },
  };
}

interface Made {
  readonly at: number;
  readonly bytes: Buffer;
}

function make(random: Random, cursors: readonly Made[]): Buffer {
  const { at, bytes } = cursors[random(cursors.length)]!;
  const all = cursors.map((one) => one.bytes);
  const asker = random(3) === 0 ? random(256) : at ^ random(2); // sometimes the other viewer's cursor
  return Buffer.concat([Uint8Array.of(asker), changed(random, bytes, all)]);
}

function changed(random: Random, bytes: Buffer, all: readonly Buffer[]): Buffer {
  if (random(8) === 0) return bytes;
  if (random(3) === 0) return mutate(random, bytes, all);
  const fields = fieldsIn(bytes)!;
  const others = fieldsIn(all[random(all.length)]!)!;
  for (let left = 1 + random(3); left > 0; left--) {
    const field = 3 + random(fields.length - 3); // the place, which follows the request and the state
    const numbers = [0, 1, -1, 3, 1e9, 2 ** 53, 0.5, fields[field]];
    fields[field] = random(2) === 0 ? others[field] : numbers[random(numbers.length)];
  }
  return pack(fields);
}

function fieldsIn(bytes: Uint8Array): unknown[] | undefined {
  try {
    const fields: unknown = unpack(bytes);
    return Array.isArray(fields) ? (fields as unknown[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the files from the cursor to the last page, or false if the cursor is refused. */
async function goOn(
  engine: Engine,
  { query, options, whole }: Asked,
  text: string,
): Promise<boolean> {
  const told: string[] = [];
  try {
    for (let after: string | undefined = text; after !== undefined;) {
      holds(told.length <= whole.length, `pages of ${query} do not end`);
      const page = await engine.search({ query, matches: 3, after }, options);
      told.push(...page.files.flatMap(rangesIn));
      after = page.nextCursor;
    }
  } catch (error) {
    const isRefused = error instanceof QuernError && CODES.includes(error.code);
    if (!isRefused || told.length > 0) throw error;
    return false;
  }
  const rest = text === "" ? whole : whole.slice(whole.length - told.length);
  holds(told.join() === rest.join(), `${query}: ${told.join()} is no end of ${whole.join()}`);
  return true;
}

const CODES: readonly string[] = ["INVALID_REQUEST", "CURSOR_EXPIRED"];

function rangesIn({ repository, fileName, chunks }: FileResult): string[] {
  const shown = chunks.length > 0 ? chunks : [fileName];
  return shown.flatMap(({ matchRanges }) =>
    matchRanges.map(
      ({ start, end }) => `${repository}:${fileName.text}:${start.byteOffset}-${end.byteOffset}`,
    ),
  );
}
