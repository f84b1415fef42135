/** A process that indexes round after round into a directory until it is killed. */

import { open } from "../../src/engine.ts";
import { documents } from "../../src/ingest/documents.ts";

const engine = await open(process.argv[2]!, { workers: 0 });
const { stats, files } = await engine.search({ query: "round", matches: 1 });
const last =
  stats.fileCount === 0 ? -1 : Number(/round (\d+)/.exec(files[0]!.chunks[0]!.content)![1]);
process.stdout.write("ready\n");
for (let round = last + 1; ; round++) {
  const files = Array.from({ length: 40 }, (_, i) => ({
    path: `${i}.txt`,
    content: `round ${round}\n${`file ${i} of it\n`.repeat(i * i)}`,
  }));
  await engine.index(documents({ name: "rounds", files }), { symbols: "skip" });
  process.stdout.write(`done ${round}\n`);
}
