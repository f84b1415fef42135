/**
 * Fifty searches at a time while the index is written and compacted. Each answer is the oracle's for one published
 * state.
 */

import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { compare } from "../oracle/compare.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import type { Corpus, CorpusFile, CorpusRepository } from "../oracle/corpus.ts";
import { evaluate, type ExpectedResponse } from "../oracle/oracle.ts";
import { brokenInvariant } from "./invariants.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

const AT_ONCE = 50;

const REQUESTS: readonly Omit<SearchRequest, "matches">[] = [
  { query: "needle" },
  { query: '"needle 7 "', contextLines: 1 },
  { query: "file:1 haystack" },
  { query: "repo:b needle or thread" },
  { query: "needle [0-9]+ of (a|c)", isRegexEnabled: true },
  { query: "-thread needle", whole: true },
];

/** The change of one step: one repository is replaced or removed, and sometimes a compaction follows. */
interface Turn {
  readonly change: "index" | "remove" | "compact";
  readonly name: string;
}

function turnOf(i: number): Turn {
  const name = "abc"[i % 3]!;
  if (i % 7 === 6) return { change: "compact", name };
  return { change: i % 8 === 5 ? "remove" : "index", name };
}

function filesOf(name: string, turn: number): CorpusFile[] {
  const contentOf = (i: number) => {
    const words = (turn + i) % 4 === 0 ? "a thread" : "haystack";
    return `${words}\nneedle ${turn} of ${name}\n${`hay ${i}\n`.repeat((turn * 131 * i) % 50)}needle ${i} again\n`;
  };
  return Array.from({ length: 8 }, (_, i) => ({
    path: `${i}.txt`,
    bytes: Buffer.from(contentOf(i)),
    language: "Text",
  }));
}

/** Returns the states that the steps publish. Numbers of repositories are assigned in order and never reused. */
function statesOf(turns: number): Corpus[] {
  const states: Corpus[] = [{ repositories: [] }];
  let next = 1;
  for (let i = 0; i < turns; i++) {
    const { change, name } = turnOf(i);
    const { repositories } = states[i]!;
    const known = repositories.find((one) => one.name === name);
    const others = repositories.filter((one) => one !== known);
    const id = known?.id ?? (change === "index" ? next++ : 0);
    const revisions = [{ name: "HEAD", files: filesOf(name, i) }];
    const indexed: CorpusRepository = { id, name, metadata: {}, revisions };
    if (change === "compact") states.push(states[i]!);
    else states.push({ repositories: change === "index" ? [...others, indexed] : others });
  }
  return states;
}

async function take(engine: Engine, i: number, after: Corpus): Promise<void> {
  const { change, name } = turnOf(i);
  if (change === "compact") await engine.compact();
  else if (change === "remove") await engine.remove(name);
  else
    await engine.index(sourceOf(after.repositories.find((one) => one.name === name)!), {
      symbols: "skip",
    });
}

interface Asked {
  readonly request: SearchRequest;
  readonly response: SearchResponse;
  /** The range of states that may have been the newest while the search ran. */
  readonly from: number;
  readonly to: number;
}

test("fifty simultaneous searches answer from published states", async () => {
  const turns = 10 * RUNS;
  const states = statesOf(turns);
  const engine = await openEngine({ workers: 2, internals: { retireMs: 0 } });
  await take(engine, 0, states[1]!);
  let [begun, done] = [1, 1];
  const asked: Asked[] = [];
  const search = async (seat: number) => {
    for (let i = seat; done < turns; i++) {
      const request = { ...REQUESTS[i % REQUESTS.length]!, matches: 1e6 };
      const from = done;
      const response = await engine.search(request);
      asked.push({ request, response, from, to: begun });
      await turn();
    }
  };
  const searching = Array.from({ length: AT_ONCE }, (_, seat) => search(seat));
  for (; done < turns; done++) {
    begun = done + 1;
    await take(engine, done, states[begun]!);
  }
  await Promise.all(searching);
  const expected = expectations(states);
  for (const one of asked) {
    expect(unlike(one, expected), JSON.stringify(one.request)).toEqual([]);
    expect(brokenInvariant(one.response, undefined)).toBeUndefined();
  }
  expect(asked.length).toBeGreaterThan(2 * AT_ONCE);
  expect(new Set(asked.map(({ from }) => from)).size).toBeGreaterThan(turns / 4);
});

/** Returns how the answer differs from each state that it may belong to, or nothing if it equals one. */
function unlike(
  { request, response, from, to }: Asked,
  expected: (state: number, request: SearchRequest) => ExpectedResponse,
): string[] {
  const differences: string[] = [];
  for (let state = from; state <= to; state++) {
    const difference = compare(expected(state, request), response);
    if (difference === undefined) return [];
    differences.push(`state ${state}: ${difference}`);
  }
  return differences;
}

function expectations(states: readonly Corpus[]) {
  const known = new Map<string, ExpectedResponse>();
  return (state: number, request: SearchRequest): ExpectedResponse => {
    const key = `${state} ${JSON.stringify(request)}`;
    let response = known.get(key);
    if (!response) known.set(key, (response = evaluate(states[state]!, request)));
    return response;
  };
}
