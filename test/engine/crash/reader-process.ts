/** A process that searches again and again, and prints a digest of each answer until its input ends. */

import { open } from "../../../src/opened-engine.ts";
import { digestOf } from "./digest.ts";

await using engine = await open(process.argv[2]!, { workers: 0, readOnly: true });
let goesOn = true;
process.stdin.on("end", () => (goesOn = false)).resume();
while (goesOn) {
  const request = { query: "marker", matches: 1e6, whole: true };
  const { files, isSearchExhaustive } = await engine.search(request);
  const found = files.map((file) => [file.repository, file.fileName.text, file.content!] as const);
  process.stdout.write(`${isSearchExhaustive ? digestOf(found) : "not exhaustive"}\n`);
}
