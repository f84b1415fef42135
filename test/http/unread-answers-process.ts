/**
 * A process whose memory is measured while clients do not read the answers that they requested. Each answer has a file
 * of 8 MiB twice: as a whole and as context. Run it with --expose-gc; it prints JSON.
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
export interface UnreadAnswers {
  readonly before: number;
  readonly after: number;
  /** The numbers of answers with each status. */
  readonly statuses: Readonly<Record<number, number>>;
}

const [route = "search"] = process.argv.slice(2);
const CLIENTS = 32;

const path = mkdtempSync(join(tmpdir(), "quern-unread-"));
const engine = await open(path, {
  workers: 2,
  warmUp: false,
  maxFileSize: 2 ** 24,
});
const lines = `${"a line of text ".repeat(256)}\n`.repeat(1_000);
const content = `${lines}needle\n${lines}`;
await engine.index(documents({ name: "one", files: [{ path: "a", content }] }), {
  symbols: "skip",
});
const handler = createHandler(engine, { anonymous: "all" });
const init = post({ query: "needle", matches: 10, whole: true, contextLines: 1_000 });
const ask = () => handler(new Request(`http://localhost/api/${route}`, init));

async function settled(): Promise<number> {
  for (let i = 0; i < 10; i++) {
    globalThis.gc?.();
    await new Promise((done) => setTimeout(done, 50));
  }
  return anonymousBytes();
}

await (await ask()).text();
const before = await settled();
const answers: Response[] = [];
const statuses: Record<number, number> = {};
for (let client = 0; client < CLIENTS; client++) {
  const answer = await ask();
  statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
  answers.push(answer);
}
const after = await settled();
console.log(JSON.stringify({ before, after, statuses } satisfies UnreadAnswers));
for (const answer of answers) await answer.body?.cancel().catch(() => {});
await engine.close();
rmSync(path, { recursive: true, force: true, maxRetries: 3 });
