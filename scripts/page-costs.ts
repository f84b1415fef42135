/**
 * Measures how long the pages of a search take, compared with the first one, for docs/embedding.md.
 *
 *     npx tsx scripts/page-costs.ts DB QUERY...
 *
 * DB is an existing index. Processor time is that of the whole process, the median of some rounds. Bytes are those read
 * from files to show the page.
 */

import { open } from "../src/opened-engine.ts";

const PAGES = [1, 2, 10, 50];
const ROUNDS = 7;
const SIZE = 50;

const [db, ...queries] = process.argv.slice(2);
if (db === undefined || queries.length === 0) throw new Error("which index, and which queries?");
await using engine = await open(db, { readOnly: true });

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

async function costOf(query: string, after: string) {
  const before = process.cpuUsage();
  const { nextCursor, stats } = await engine.search({ query, matches: SIZE, after });
  const { user, system } = process.cpuUsage(before);
  return { nextCursor, ms: (user + system) / 1_000, bytes: stats.contentBytesLoaded };
}

console.log("query | page | ms of processor time | bytes loaded");
for (const query of queries) {
  const cursors = [""];
  await costOf(query, "");
  while (cursors.length < Math.max(...PAGES)) {
    const { nextCursor } = await costOf(query, cursors.at(-1)!);
    if (nextCursor === undefined) break;
    cursors.push(nextCursor);
  }
  const costs = new Map(PAGES.map((page) => [page, { ms: [] as number[], bytes: 0 }]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [page, cost] of costs) {
      const cursor = cursors[page - 1];
      if (cursor === undefined) continue;
      const { ms, bytes } = await costOf(query, cursor);
      cost.ms.push(ms);
      cost.bytes = bytes;
    }
  for (const [page, { ms, bytes }] of costs)
    if (ms.length > 0) console.log(`${query} | ${page} | ${median(ms).toFixed(1)} | ${bytes}`);
}
