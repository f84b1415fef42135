/** Compares a directory with the state that it must be in: opens it, checks it, and asks for everything. */

import { join } from "node:path";
import { lmdbTokenStore } from "../../../src/auth/lmdb-stores.ts";
import type { Engine } from "../../../src/engine.ts";
import { open } from "../../../src/opened-engine.ts";
import { checkEnvironment } from "../../../src/store/upkeep/check.ts";
import { openEnvironment } from "../../../src/store/lmdb/environment.ts";
import { unaccounted } from "../stored-keys.ts";
import {
  apply,
  operation,
  perform,
  stateAfter,
  type Files,
  type Operation,
  type State,
} from "./operations.ts";
import type { Told } from "./writer.ts";

/**
 * Recovers after a writer was killed. Every repository must be as it was before the interrupted operation, or as it is
 * after it. The operation is then repeated, and must leave nothing that the manifest does not name. Returns how many
 * operations are done by now. Throws an error that says what is wrong.
 */
export async function recover(path: string, { done, began }: Told): Promise<number> {
  const before = stateAfter(done);
  const change = began > done ? operation(done) : undefined;
  const after = change ? apply(before, change) : before;
  if (done > 0) await mustBeClean(path); // otherwise there may be no index yet
  const engine = await open(join(path, "index"), { workers: 0, memoryBudget: 2 ** 25 });
  const tokens = lmdbTokenStore(join(path, "keys"));
  try {
    const found = await stateOf(engine, tokens);
    const isDone = change?.kind === "key" && found.keys.includes(change.id);
    mustBeBetween(found, before, after);
    if (change && !isDone) await perform({ engine, tokens }, withoutWaiting(change));
    mustBeBetween(await stateOf(engine, tokens), after, after);
  } finally {
    await engine.close();
    await tokens[Symbol.asyncDispose]();
  }
  const left = await leftIn(path);
  if (change && change.kind !== "key" && left.length > 0)
    throw new Error(`the next run has left ${left.length} keys, the first is ${left[0]}`);
  await mustBeClean(path);
  return change ? done + 1 : done;
}

/** Replaces a compaction, which waits 10 s for readers, by an index run, which also deletes leftovers. */
const withoutWaiting = (change: Operation): Operation =>
  change.kind === "compact" ? { kind: "index", repositories: new Map() } : change;

/** Opens and reads the directory as it is, before anything is written. */
async function mustBeClean(path: string): Promise<void> {
  const environment = openEnvironment(join(path, "index"), { readOnly: true });
  try {
    const { problems } = await checkEnvironment(environment);
    if (problems.length > 0) throw new Error(`check: ${problems[0]!.message}`);
  } finally {
    await environment.close();
  }
}

async function leftIn(path: string): Promise<string[]> {
  const environment = openEnvironment(join(path, "index"), { readOnly: true });
  try {
    return unaccounted(environment);
  } finally {
    await environment.close();
  }
}

/** Resolves to everything that a search finds. The symbols in the answers must fit the files. */
export async function stateOf(
  engine: Engine,
  tokens: ReturnType<typeof lmdbTokenStore>,
): Promise<State> {
  const repositories = await contents(engine);
  await symbolsMustFit(engine, repositories);
  const keys: string[] = [];
  for await (const { id } of tokens.list("owner")) keys.push(id);
  return { repositories, keys: keys.sort() };
}

async function contents(engine: Engine): Promise<Map<string, Files>> {
  const listed = (await engine.repositories()).map(({ name }) => [name, new Map()] as const);
  const found = new Map<string, Map<string, string>>(listed);
  const request = { query: "marker", matches: 1e6, whole: true };
  const { files, isSearchExhaustive } = await engine.search(request);
  if (!isSearchExhaustive) throw new Error("a search was not exhaustive");
  for (const { repository, fileName, content } of files) {
    const its = found.get(repository);
    if (!its) throw new Error(`found a file of ${repository}, which is not listed`);
    if (its.has(fileName.text)) throw new Error(`${repository} ${fileName.text} was found twice`);
    its.set(fileName.text, content!);
  }
  return found;
}

const DEFINITION = /^def (marker_\d+_\d+)/;

/**
 * Expects that no wrong definition is found, and that every definition is found if all symbols of a repository are
 * known.
 */
async function symbolsMustFit(engine: Engine, found: ReadonlyMap<string, Files>): Promise<void> {
  const { files } = await engine.search({ query: "sym:marker_", matches: 1e6, whole: true });
  const known = new Set(files.map(({ repository, fileName }) => `${repository} ${fileName.text}`));
  for (const { name, symbols } of await engine.repositories())
    for (const [path, text] of found.get(name)!) {
      const isPython = path.endsWith(".py") && DEFINITION.test(text);
      const isKnown = known.delete(`${name} ${path}`);
      if (isKnown && !isPython) throw new Error(`${name} ${path} has no such definition`);
      if (isPython && !isKnown && symbols.done === symbols.total)
        throw new Error(`the definition of ${name} ${path} was not found`);
    }
  if (known.size > 0) throw new Error(`symbols of files that are not there: ${[...known][0]}`);
}

/** Checks each repository, and the list of keys, on its own, because a call publishes its repositories one by one. */
export function mustBeBetween(found: State, before: State, after: State): void {
  const names = new Set(
    [found, before, after].flatMap(({ repositories }) => [...repositories.keys()]),
  );
  for (const name of names) {
    const its = found.repositories.get(name);
    if (areEqual(its, before.repositories.get(name))) continue;
    if (areEqual(its, after.repositories.get(name))) continue;
    throw new Error(`${name} is neither as before nor as after: ${describe(its)}`);
  }
  const keys = found.keys.join();
  if (keys !== before.keys.join() && keys !== after.keys.join())
    throw new Error(`the keys are neither as before nor as after: ${keys}`);
}

function areEqual(a: Files | undefined, b: Files | undefined): boolean {
  if (!a || !b || a.size !== b.size) return a === b;
  return [...a].every(([path, text]) => b.get(path) === text);
}

const describe = (its: Files | undefined): string =>
  its
    ? `${its.size} files, ${[...its].map(([path, text]) => `${path}: ${text.slice(0, 30)}`).join("; ")}`
    : "not there";
