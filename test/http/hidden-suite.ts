/**
 * A suite for engines, and for fronts of a cluster. Every kind of caller sends random searches of random repositories
 * over HTTP. Each gets the answer of an engine that has only the caller's repositories. Other repositories change
 * nothing but times. Whole answers are compared. no-leak.long.test.ts does the same for the other routes.
 */

import fc from "fast-check";
import { expect } from "vitest";
import type { Principal } from "../../src/auth/principal.ts";
import type { Engine, OpenOptions } from "../../src/engine.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import { openEngine } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";
import { corpora, withDefinitions } from "../oracle/corpora.ts";
import type { CorpusRepository } from "../oracle/corpus.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import { CONTEXTS, requests } from "../oracle/queries.ts";
import { comparable, readAnswer, type Layout } from "./comparable.ts";
import { bearer, clientOf, mint, post, startService, type Service } from "./service.ts";

// ── engines ──

interface Host {
  engine: Engine;
  service: Service;
  /** The principals that authenticate() admits, by the value of a header. */
  sessions: Map<string, Principal>;
}

type Open = (options: Pick<OpenOptions, "contexts">) => Promise<Engine>;

async function startHost(open: Open): Promise<Host> {
  const engine = await open({ contexts: (name) => CONTEXTS[name] });
  const sessions = new Map<string, Principal>();
  const service = await startService(
    {
      anonymous: "public",
      maxMatches: Number.MAX_SAFE_INTEGER,
      authenticate: async ({ headers }) => sessions.get(headers.get("x-session") ?? ""),
    },
    engine,
  );
  return { engine, service, sessions };
}

/** Makes the engine have these repositories, all in one new segment. Resolves to their ids by name. */
async function hold({ engine, service }: Host, held: readonly CorpusRepository[]): Promise<void> {
  for (const { name } of await engine.repositories()) await engine.remove(name);
  const reports = await engine.index(held.map(sourceOf));
  service.ids = Object.fromEntries(reports.map((each) => [each.repository, each.repositoryId]));
}

// ── callers ──

interface Caller {
  kind: "key" | "scoped" | "session" | "anonymous";
  /** The names of the repositories that the user may see, and of those in the scope. */
  seen: string[];
  scope: string[];
}

/** Returns the names of the repositories that the caller may see. */
function visibleTo({ kind, seen, scope }: Caller, held: readonly CorpusRepository[]): string[] {
  const names = held.filter(({ metadata }) => kind !== "anonymous" || metadata.public === true);
  return names
    .map(({ name }) => name)
    .filter((name) => kind === "anonymous" || seen.includes(name))
    .filter((name) => kind !== "scoped" || scope.includes(name));
}

async function headersOf(host: Host, { kind, seen, scope }: Caller) {
  const { service, sessions } = host;
  const idsOf = (names: string[]) => names.map((name) => service.ids[name]!);
  const repositoryIds = new Set(idsOf(seen));
  service.visible.delete("ada");
  const token = kind === "scoped" ? await mint(service, service.keys.ada, idsOf(scope)) : undefined;
  service.visible.set("ada", repositoryIds);
  sessions.set("one", { kind: "session", repositoryIds });
  switch (kind) {
    case "key":
      return bearer(service.keys.ada);
    case "scoped":
      return bearer(token!.token);
    case "session":
      return { "x-session": "one" };
    case "anonymous":
      return {};
  }
}

// ── cases ──

interface Given {
  held: CorpusRepository[];
  /** The repositories that replace those that the caller may not see. */
  others: CorpusRepository[];
  caller: Caller;
  requests: SearchRequest[];
}

// a segment with nothing hidden has another layout, which affects indexBytesLoaded
const NEVER_EMPTY = { name: "one", files: [{ path: "one", bytes: Buffer.from("one") }] };
const repositories = corpora({ pages: false })
  .map(withDefinitions)
  .map(({ repositories: all }) =>
    all.map((each) => ({ ...each, revisions: [...each.revisions, NEVER_EMPTY] })),
  );

const cases: fc.Arbitrary<Given> = fc.tuple(repositories, repositories).chain(([held, others]) => {
  const names = held.map(({ name }) => name);
  const some = (regex: boolean) =>
    fc.array(requests({ repositories: held }, { regex }), { minLength: 2, maxLength: 5 });
  return fc.record({
    held: fc.constant(held),
    others: fc.constant(others),
    caller: fc.record({
      kind: fc.constantFrom("key", "scoped", "session", "anonymous"),
      seen: fc.subarray(names),
      scope: fc.subarray(names, { minLength: 1 }),
    }),
    requests: fc.tuple(some(false), some(true)).map((both) => [...both.flat(), ...OF_SYMBOLS]),
  });
});

/** Draws one case whose answers have chunks and symbols, and in which something is hidden. */
const FINDS_ALL = { seed: 1, numRuns: 1 };

const OF_SYMBOLS: SearchRequest[] = ["sym:^foo$ rev:*", "sym:a -(sym:^p)", "parse or sym:O"].map(
  (query) => ({ query, matches: 9 }),
);

/** Returns repositories of the same names and metadata. The hidden ones have other content. */
const swapHidden = ({ held, others }: Given, visible: readonly string[]): CorpusRepository[] =>
  held.map((each, i) =>
    visible.includes(each.name)
      ? each
      : { ...each, revisions: others[i % others.length]!.revisions },
  );

// ── answers ──

const ROUTES = ["/api/search", "/api/stream_search"];

/** Sends a search. Streams have no limit here, because a cut stream has the files that were found first. */
async function ask(host: Host, headers: Record<string, string>, request: SearchRequest) {
  const answers: { text: string; told: unknown }[] = [];
  for (const route of ROUTES) {
    const body = route === "/api/search" ? request : { ...request, matches: 1e9 };
    const response = await clientOf(host.service.handler)(route, post(body, headers));
    const told = [response.status, response.headers.get("x-quern-not-indexed")];
    answers.push({ text: await response.text(), told });
  }
  return (layout: Layout) =>
    answers.map(({ text, told }) => comparable([told, readAnswer(text, layout)], layout));
}

/** Runs the suite. `open` opens an empty engine. The engine to compare with is an ordinary one. */
export async function checkHidden(open: Open, numRuns: number): Promise<void> {
  const [host, swapped] = [await startHost(open), await startHost(open)];
  const alone = await startHost(openEngine);
  const seen = { found: 0, symbols: 0, hidden: 0 };
  const check = async (given: Given) => {
    const { held, caller } = given;
    const visible = visibleTo(caller, held);
    await hold(host, held);
    await hold(swapped, swapHidden(given, visible));
    await hold(
      alone,
      held.filter(({ name }) => visible.includes(name)),
    );
    const [headers, same] = [await headersOf(host, caller), await headersOf(swapped, caller)];
    for (const request of given.requests) {
      const got = await ask(host, headers, request);
      const want = await ask(alone, bearer(alone.service.keys.owner), request);
      expect(got("any"), JSON.stringify(request)).toEqual(want("any"));
      expect(got("same"), JSON.stringify(request)).toEqual(
        (await ask(swapped, same, request))("same"),
      );
      const text = JSON.stringify(got("any"));
      if (text.includes('"chunks"')) seen.found++;
      if (text.includes('"symbols"')) seen.symbols++;
      if (visible.length < held.length) seen.hidden++;
    }
  };
  await fc.assert(fc.asyncProperty(cases, check), {
    // the counts below do not depend on luck
    examples: fc.sample(cases, FINDS_ALL).map((each): [Given] => [each]),
    numRuns: numRuns * RUNS + FINDS_ALL.numRuns,
    endOnFailure: true,
  });
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
}
