/**
 * Checks whether a peer counts the same as quern, and if not, why. A difference is explained if every file with a
 * different count has a reason that applies to the file's bytes. It is also explained if it is in the nature of the
 * question, and as small as the question says.
 */

import { suspectAt, type Corpus, type Count, type Peer } from "./peer.ts";
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
  if (nature) {
    const isExplained = Math.abs(matches - ours) <= nature.most * Math.max(matches, ours);
    return { text: `${matches} ${unit}: ${nature.why}`, isExplained };
  }
  const files = new Map((await dispute.perFile()).map((file) => [file.path, file[unit]]));
  if (sum(files.values()) === matches) return explained("equal");
  return await explain(dispute, files);
}

async function explain(dispute: Dispute, ours: Map<string, number>): Promise<Agreement> {
  const { corpus, question, peer, words, theirs } = dispute;
  const their = await peer.perFile(words);
  const total = sum(their.values());
  if (total !== theirs.matches) {
    const text = `${theirs.matches} ${theirs.unit}: by file they are ${total}`;
    return { text, isExplained: false };
  }
  const paths = [...new Set([...ours.keys(), ...their.keys()])];
  const reasons = new Map<string, number>();
  const unknown: string[] = [];
  for (const path of paths) {
    const counts = { ours: ours.get(path) ?? 0, theirs: their.get(path) ?? 0 };
    if (counts.ours === counts.theirs) continue;
    const reason = peer.excuse(suspectAt(corpus, { path, ...counts }), question);
    if (reason) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    else unknown.push(`${path} (quern ${counts.ours}, ${counts.theirs})`);
  }
  const known = [...reasons].map(([reason, files]) => `${reason} (${files})`);
  const others = unknown.length > 0 ? [`unexplained: ${unknown.slice(0, 3).join(", ")}`] : [];
  const text = `${theirs.matches} ${theirs.unit}: ${[...known, ...others].join("; ")}`;
  return { text, isExplained: unknown.length === 0 };
}

const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);
