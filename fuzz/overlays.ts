/**
 * Fuzzes overlays of any kind. Anything that is not a document must be refused. With documents, every word must be
 * found exactly where a plain comparison of the texts finds it. An input is a list of documents as JSON.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QuernError } from "../src/base/errors.ts";
import { open } from "../src/opened-engine.ts";
import { documents } from "../src/ingest/sources/documents.ts";
import type { OverlayDocument } from "../src/search/messages/request.ts";
import type { SearchResponse } from "../src/search/messages/response.ts";
import type { Random } from "../test/regex/random.ts";
import { mutate } from "./mutate.ts";
import { holds, type Target } from "./target.ts";

const WORDS = ["needle", "hay", "größe", "x"];
const NAMES = ["a/one", "a/two"];
const PATHS = ["src/a.ts", "src/b.py", "c.md", "new/d.c"];

const stateOf = (name: string): [path: string, text: string][] =>
  PATHS.slice(0, 3).map((path, n) => [
    path,
    `needle ${name} ${n}\nfunction hay${n}() {}\n${"größe ".repeat(n)}\n`,
  ]);

export async function openOverlaysTarget(): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), "quern-fuzz-overlays-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const engine = await open(folder, { workers: 0 });
  for (const name of NAMES) {
    const files = stateOf(name).map(([path, content]) => ({ path, content }));
    await engine.index(documents({ name, files }));
  }
  const seen = { refused: 0, compared: 0 };
  return {
    make,
    summary: () => JSON.stringify(seen),
    async check(input) {
      const overlay = overlayIn(input);
      if (overlay === undefined) return;
      for (const word of WORDS) {
        const query = `content:"${word}"`;
        const request = { query, matches: 1_000, isCaseSensitivityEnabled: true };
        let answer: SearchResponse;
        try {
          answer = await engine.search(request, { overlay });
        } catch (error) {
          if (error instanceof QuernError && error.code === "INVALID_REQUEST")
            return void seen.refused++;
          throw error;
        }
        const expected = textsWith(overlay);
        if (expected === undefined) return;
        const [got, want] = [counted(answer), countedIn(expected, word)];
        holds(got === want, `${word}: found ${got}, there is ${want}`);
        seen.compared++;
      }
    },
  };
}

function overlayIn(input: Buffer): OverlayDocument[] | undefined {
  try {
    const given: unknown = JSON.parse(input.toString());
    return Array.isArray(given) ? (given as OverlayDocument[]) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Maps each path to its text. The text is undefined if it is not valid text or has a very long line, because other
 * rules apply to such files.
 */
function textsWith(overlay: readonly OverlayDocument[]): Map<string, string> | undefined {
  const texts = new Map<string, string>();
  for (const name of NAMES)
    for (const [path, text] of stateOf(name)) texts.set(`${name}:${path}`, text);
  for (const document of overlay) {
    const place = `${document.repository}:${document.path}`;
    if (!NAMES.includes(document.repository)) continue;
    if ("removed" in document && document.removed) texts.delete(place);
    else if ("content" in document) texts.set(place, String(document.content));
  }
  const isPlain = (text: string) =>
    !text.includes("\0") && !/[\p{Cs}\uFEFF]/u.test(text) && text.length < 2_000;
  return [...texts.values()].every(isPlain) ? texts : undefined;
}

function countedIn(texts: ReadonlyMap<string, string>, word: string): string {
  const counts = [...texts].map(([place, text]) => `${place} ${text.split(word).length - 1}`);
  return counts
    .filter((line) => !line.endsWith(" 0"))
    .sort()
    .join(", ");
}

function counted({ files }: SearchResponse): string {
  const counts = files.map(({ repository, fileName, chunks }) => {
    const ranges = chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0);
    return `${repository}:${fileName.text} ${ranges}`;
  });
  return counts.sort().join(", ");
}

function make(random: Random): Buffer {
  const count = random(6);
  const list = Array.from({ length: count }, () => {
    const place = {
      repository: random(30) === 0 ? "nope" : pick(random, NAMES),
      path: pick(random, PATHS),
    };
    if (random(5) === 0) return { ...place, removed: true };
    const content = Array.from({ length: random(12) }, () => pick(random, PIECES)).join("");
    return { ...place, content };
  });
  const text = Buffer.from(JSON.stringify(list));
  return random(3) === 0 ? mutate(random, text, [text]) : text;
}

const PIECES = [
  ...WORDS,
  " ",
  "\n",
  "\r\n",
  "need",
  "le",
  "def f():\n",
  "class needle {",
  "中",
  "\t",
];

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;
