/**
 * An endless list of operations on one index and one key store, and the state after each as plain maps. An operation
 * depends on its number alone. Tests compare what a killed writer leaves with these states.
 */

import type { Engine } from "../../../src/engine.ts";
import type { TokenStore } from "../../../src/auth/token-store.ts";
import { documents } from "../../../src/ingest/sources/documents.ts";

/** Contents by path. */
export type Files = ReadonlyMap<string, string>;

export interface State {
  readonly repositories: ReadonlyMap<string, Files>;
  /** Ids of keys, ascending. */
  readonly keys: readonly string[];
}

export type Operation =
  | { readonly kind: "index"; readonly repositories: ReadonlyMap<string, Files> }
  | { readonly kind: "update"; readonly name: string; readonly files: Files; readonly gone: string }
  | { readonly kind: "remove"; readonly name: string }
  | { readonly kind: "compact" }
  | { readonly kind: "key"; readonly id: string };

export const EMPTY: State = { repositories: new Map(), keys: [] };

/** The number of operations after which the list repeats, with new contents. */
export const ROUND = 12;

/** The number of the first operation within a round that borrows content. The next one borrows the same. */
export const BORROWING = 8;

export function operation(number: number): Operation {
  const round = Math.floor(number / ROUND);
  switch (number % ROUND) {
    case 0:
      return index(number, ["api", 0, 12], ["web", 4, 16]);
    case 1:
      return update(number, "api");
    case 2:
      return index(number, ["tools", 2, 10]);
    case 3:
      return { kind: "key", id: `key ${String(number).padStart(6, "0")}` };
    case 4:
      return { kind: "remove", name: "web" };
    case 5:
      // long enough for several transactions of text
      return { kind: "index", repositories: new Map([["web", files(number, 0, 14, 8)]]) };
    case 6:
      return update(number, "tools");
    case 7:
      // without it, merging is left to the tiers
      return round % 3 === 2 ? index(number, ["rest", 0, 3]) : { kind: "compact" };
    case BORROWING:
      // a new repository, which borrows the content of one that was indexed before
      return { kind: "index", repositories: new Map([["copy", files(number - 3, 0, 14, 8)]]) };
    case BORROWING + 1:
      return { kind: "index", repositories: new Map([["copy 2", files(number - 4, 0, 14, 8)]]) };
    case BORROWING + 2:
      return { kind: "remove", name: "copy" };
    default:
      return { kind: "remove", name: "copy 2" };
  }
}

function index(number: number, ...repositories: [string, first: number, end: number][]): Operation {
  const filled = repositories.map(
    ([name, first, end]) => [name, files(number, first, end)] as const,
  );
  return { kind: "index", repositories: new Map(filled) };
}

const update = (number: number, name: string): Operation => ({
  kind: "update",
  name,
  files: files(number, 6, 9),
  gone: pathOf(5),
});

const pathOf = (file: number): string => `src/${file}.${file % 3 === 0 ? "py" : "txt"}`;

function files(number: number, first: number, end: number, times = 1): Files {
  const all = Array.from({ length: end - first }, (_, i) => first + i);
  return new Map(all.map((file) => [pathOf(file), content(number, file, times)]));
}

/** Returns one definition, the word that every file has, and up to 60 KB of lines, repeated this many times. */
function content(number: number, file: number, times: number): string {
  const lines = `line of ${number} in ${file}\n`.repeat(
    times * ((((number * 7 + file) * 131) % 3000) + 1),
  );
  return `def marker_${number}_${file}():\n    return "marker"\n\n"""\n${lines}"""\n`;
}

export function apply(state: State, change: Operation): State {
  const repositories = new Map(state.repositories);
  switch (change.kind) {
    case "index":
      for (const [name, its] of change.repositories) repositories.set(name, its);
      return { ...state, repositories };
    case "update": {
      const its = new Map([...repositories.get(change.name)!, ...change.files]);
      its.delete(change.gone);
      return { ...state, repositories: repositories.set(change.name, its) };
    }
    case "remove":
      repositories.delete(change.name);
      return { ...state, repositories };
    case "compact":
      return state;
    case "key":
      return { ...state, keys: [...new Set([...state.keys, change.id])].sort() };
  }
}

/** Returns the state after the first `count` operations. */
export function stateAfter(count: number): State {
  let state = EMPTY;
  for (let i = 0; i < count; i++) state = apply(state, operation(i));
  return state;
}

/** Performs an operation. An interrupted operation may be repeated. */
export async function perform(
  { engine, tokens }: { engine: Engine; tokens: TokenStore },
  change: Operation,
): Promise<void> {
  switch (change.kind) {
    case "index":
      await engine.index(
        [...change.repositories].map(([name, its]) => documents({ name, files: documentsOf(its) })),
      );
      return;
    case "update": {
      const gone = { path: change.gone, removed: true } as const;
      const changes = [...documentsOf(change.files), gone];
      await engine.index(documents({ name: change.name, changes }));
      return;
    }
    case "remove":
      await engine.remove(change.name);
      return;
    case "compact":
      await engine.compact();
      return;
    case "key":
      await tokens.create({
        id: change.id,
        kind: "api-key",
        hash: `hash of ${change.id}`,
        ownerId: "owner",
        createdAt: new Date(0),
      });
  }
}

const documentsOf = (its: Files) => [...its].map(([path, text]) => ({ path, content: text }));
