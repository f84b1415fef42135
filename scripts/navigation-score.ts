/**
 * Scores the rules for navigation against SCIP indexes, and prints a table for each repository and for all together.
 *
 *   node --import tsx scripts/navigation-score.ts Go gin gin.scip [zoekt zoekt.scip …] [--samples FILE]
 *
 * Each repository is a folder, with the index that the language's indexer (scip-go, scip-python or scip-typescript) has
 * made of it. P is the precision of what is called resolved, R its recall.
 */

import { createReadStream, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { Project } from "../src/navigation/core/project.ts";
import { RULES } from "../src/navigation/languages/languages.ts";
import { FolderFiles } from "../test/navigation/scoring/folder-files.ts";
import {
  pooled,
  ratio,
  score,
  total,
  type Sample,
  type Score,
  type Scores,
} from "../test/navigation/scoring/score.ts";
import { KINDS, readTruth } from "../test/navigation/scoring/truth.ts";

const { argv } = process;
const at = argv.indexOf("--samples");
const samplesFile = at < 0 ? undefined : argv.splice(at, 2)[1];
const [language, ...places] = argv.slice(2);
const rules = RULES.find(({ languages }) => languages.includes(language ?? ""));
if (!rules || places.length === 0 || places.length % 2 !== 0) {
  console.error("usage: navigation-score.ts LANGUAGE FOLDER INDEX… [--samples FILE]");
  process.exit(2);
}

const HEAD = [
  "kind",
  "uses",
  "P",
  "R",
  "likely",
  "likelyP",
  "R+likely",
  "R+possible",
  "first",
  "unused",
];
const figure = (a: number, b: number): string => (b === 0 ? "-" : ratio(a, b).toFixed(3));
const line = (kind: string, s: Score): string =>
  [
    kind.padEnd(14),
    s.uses,
    figure(s.resolvedRight, s.resolved),
    figure(s.resolvedFound, s.uses),
    s.likely,
    figure(s.likelyRight, s.likely),
    figure(s.resolvedFound + s.likelyFound, s.uses),
    figure(s.resolvedFound + s.likelyFound + s.possibleFound, s.uses),
    figure(s.firstRight, s.uses),
    `${s.falselyUnused}/${s.used}`,
  ].join("\t");

function print(title: string, scores: Scores): void {
  console.log(`\n${title}\n${HEAD.join("\t")}`);
  for (const kind of KINDS) if (scores.has(kind)) console.log(line(kind, scores.get(kind)!));
  console.log(line("all", total(scores)));
}

const all: Scores[] = [];
const samples: string[] = [];
for (let i = 0; i < places.length; i += 2) {
  const [folder, index] = [places[i]!, places[i + 1]!];
  const files = new FolderFiles(folder, rules);
  await files.prepare();
  const textOf = (path: string) => (files.rules(path) ? files.text(path) : undefined);
  const truth = await readTruth(createReadStream(index, { highWaterMark: 1 << 20 }), (path) =>
    files.paths.includes(path) ? textOf(path) : undefined,
  );
  const show = ({ what, kind, place, truth: symbol, ours }: Sample): void => {
    const cut = place.lastIndexOf(":");
    const [path, offset] = [place.slice(0, cut), Number(place.slice(cut + 1))];
    const text = files.text(path);
    const from = text.lastIndexOf("\n", offset - 1) + 1;
    const number = text.slice(0, offset).split("\n").length;
    const code = text.slice(from, text.indexOf("\n", offset)).trim().slice(0, 120);
    samples.push(
      `${what} ${kind} | ${path}:${number}:${offset - from} ${code} | truth ${symbol.slice(-90)} | ours ${ours.slice(0, 160)}`,
    );
  };
  const began = process.cpuUsage();
  const scores = score(new Project(files), truth, samplesFile ? show : undefined);
  const { user, system } = process.cpuUsage(began);
  print(
    `${basename(folder)}: ${truth.paths.size} files, ${Math.round((user + system) / 1000)} ms`,
    scores,
  );
  all.push(scores);
}
if (all.length > 1) print("all repositories", pooled(all));
if (samplesFile) writeFileSync(samplesFile, samples.join("\n"));
