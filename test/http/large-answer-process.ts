/**
 * A process whose memory is measured while it answers over HTTP. The answer has FILES whole files with a thousand lines
 * of context, about 53 KiB for each file. Run it with --expose-gc; it prints JSON.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../../src/opened-engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { anonymousBytes } from "../engine/soak.ts";
import { post } from "./service.ts";

/** Bytes of RssAnon. */
export interface LargeAnswer {
  readonly before: number;
  readonly highest: number;
  readonly after: number;
  /** The length of one answer. */
  readonly length: number;
}

const [route = "search", count = "1000"] = process.argv.slice(2);
const GIB = 2 ** 30;

const path = mkdtempSync(join(tmpdir(), "quern-answer-"));
const engine = await open(path, { workers: 2, warmUp: false });
const lines = "a line of some text, as there are in every file\n".repeat(280);
const files = Array.from({ length: Number(count) }, (_, i) => ({
  path: `${i}.txt`,
  content: `${lines}needle ${i}\n${lines}`,
}));
await engine.index(documents({ name: "many", files }), { symbols: "skip" });
files.length = 0;
const handler = createHandler(engine, { anonymous: "all", maxAnswerBytes: GIB });

/** Reads an answer as a client does, piece by piece, without keeping the pieces. */
async function lengthOf(request: object): Promise<number> {
  const response = await handler(new Request(`http://localhost/api/${route}`, post(request)));
  let length = 0;
  for await (const piece of response.body!) length += (piece as Uint8Array).length;
  return length;
}

async function settled(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.();
    await new Promise((done) => setTimeout(done, 100));
  }
  return anonymousBytes();
}

const asked = { query: "needle", matches: 100_000, whole: true, contextLines: 1000 };
await lengthOf({ ...asked, matches: 20 });
const before = await settled();
let highest = before;
const timer = setInterval(() => (highest = Math.max(highest, anonymousBytes())), 5);
const length = await lengthOf(asked);
clearInterval(timer);
const after = await settled();
console.log(JSON.stringify({ before, highest, after, length } satisfies LargeAnswer));
await engine.close();
rmSync(path, { recursive: true, force: true, maxRetries: 3 });
