/**
 * Random regular expressions on random texts, until it is stopped or finds a difference between the
 * automaton, RE2 and the naive simulation: npx tsx scripts/fuzz-regex.ts [first seed]. Build the
 * kernel first. A seed that differs is a new row in test/regex/corpus.ts.
 */

import { differencesOf } from "../test/regex/differential.ts";

let cases = 0;
for (let seed = Number(process.argv[2] ?? Date.now() % 1e9); ; seed++) {
  const found = differencesOf(seed);
  cases += found.cases;
  if (found.differences.length > 0) {
    console.error(`seed ${seed}\n${found.differences.join("\n")}`);
    process.exit(1);
  }
  if (seed % 1_000 === 0) console.log(`seed ${seed}, ${cases} cases without a difference`);
}
