/**
 * Whether a peer counts what quern counts, and if not, why. A difference counts as explained only if
 * every single file in which it lies has a reason that holds for that file's bytes.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Corpus, Count, Peer } from "./peer.ts";
import type { Question } from "./queries.ts";
import type { FileCount } from "./subject-commands.ts";

export interface Agreement {
  readonly text: string;
  readonly isExplained: boolean;
}

export interface Dispute {
  readonly corpus: Corpus;
  readonly question: Question;
  readonly peer: Peer;
  readonly words: readonly string[];
  readonly theirs: Count;
  /** Quern's count of matches. */
  readonly ours: number;
  readonly perFile: () => Promise<FileCount[]>;
}

const explained = (text: string): Agreement => ({ text, isExplained: true });

export async function agree(dispute: Dispute): Promise<Agreement> {
  const { question, peer, theirs, ours } = dispute;
  const { matches, unit } = theirs;
  if (unit === "matches" && matches === ours) return explained("equal");
  const nature = question.differs[peer.name];
  if (nature) return explained(`${matches} ${unit}: ${nature}`);
  const files = new Map((await dispute.perFile()).map((file) => [file.path, file[unit]]));
  if (sum(files.values()) === matches) return explained("equal");
  if (matches > peer.mostPerFile)
    return { text: `${matches} ${unit}: too many to compare by file`, isExplained: false };
  return await explain(dispute, files);
}

async function explain(dispute: Dispute, ours: Map<string, number>): Promise<Agreement> {
  const { corpus, question, peer, words, theirs } = dispute;
  const their = await peer.perFile(words);
  const paths = [...new Set([...ours.keys(), ...their.keys()])];
  const reasons = new Map<string, number>();
  const unknown: string[] = [];
  for (const path of paths.filter((one) => ours.get(one) !== their.get(one))) {
    const bytes = readFileSync(join(corpus.path, path));
    const reason = peer.excuse({ path, bytes }, question);
    if (reason) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    else unknown.push(`${path} (quern ${ours.get(path) ?? 0}, ${their.get(path) ?? 0})`);
  }
  const known = [...reasons].map(([reason, files]) => `${reason} (${files})`);
  const others = unknown.length > 0 ? [`unexplained: ${unknown.slice(0, 3).join(", ")}`] : [];
  const text = `${theirs.matches} ${theirs.unit}: ${[...known, ...others].join("; ")}`;
  return { text, isExplained: unknown.length === 0 };
}

const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);
