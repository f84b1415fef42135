/**
 * Scores the rules against the truth of an indexer: precision of each certainty, recall, and how often the first
 * definition is right. Each place counts once.
 */

import type { Definition } from "../../../src/navigation/facts/facts.ts";
import { isImport } from "../../../src/navigation/facts/facts.ts";
import type { Project } from "../../../src/navigation/core/project.ts";
import { Resolver, type Resolution } from "../../../src/navigation/core/resolver.ts";
import { kindOf, KINDS, type SymbolKind, type Truth } from "./truth.ts";

export interface Score {
  /** The number of uses in the truth. */
  uses: number;
  resolved: number;
  resolvedRight: number;
  resolvedFound: number;
  likely: number;
  likelyRight: number;
  likelyFound: number;
  possibleFound: number;
  firstRight: number;
  /** Definitions of the truth that are used, and those of them of which no use is found, not even a possible one. */
  used: number;
  falselyUnused: number;
}

const newScore = (): Score => ({
  uses: 0,
  resolved: 0,
  resolvedRight: 0,
  resolvedFound: 0,
  likely: 0,
  likelyRight: 0,
  likelyFound: 0,
  possibleFound: 0,
  firstRight: 0,
  used: 0,
  falselyUnused: 0,
});

export type Scores = Map<SymbolKind, Score>;

const NAME = /^[#@]?[\p{L}_$][\p{L}\p{N}_$]*$/u;
const GLOBAL = new Set<SymbolKind>(["type", "function", "method", "field", "variable"]);

export interface Sample {
  readonly what: "wrong" | "missed";
  readonly kind: SymbolKind;
  readonly place: string;
  readonly truth: string;
  readonly ours: string;
}

export function score(
  project: Project,
  truth: Truth,
  onSample: (sample: Sample) => void = () => undefined,
): Scores {
  const scores: Scores = new Map();
  const of = (kind: SymbolKind): Score => {
    const known = scores.get(kind) ?? newScore();
    scores.set(kind, known);
    return known;
  };
  const answers = answersOf(project, truth);
  for (const [place, { certainty, definitions, why }] of answers) {
    if (certainty !== "resolved" && certainty !== "likely") continue;
    const named = truth.namedAt.get(place);
    if (truth.lost.has(place)) continue;
    if (named?.some((symbol) => truth.definitions.get(symbol)?.includes(place))) continue;
    const seen = new Set<string>();
    for (const definition of definitions) {
      const symbols = symbolsOf(definition, truth);
      const key = symbols.toSorted().join();
      if (symbols.length === 0 || seen.has(key)) continue;
      seen.add(key);
      // a place without a symbol says nothing about a guess, but the certain must be right
      if (!named && certainty === "likely") continue;
      const isRight =
        isNamed(symbols, named) ||
        (why.startsWith("shorthand") &&
          definitions.some((one) => isNamed(symbolsOf(one, truth), named)));
      const kind = kindOf(symbols[0]!);
      of(kind)[certainty]++;
      if (isRight) of(kind)[`${certainty}Right`]++;
      else if (named || certainty === "resolved")
        onSample({
          what: "wrong",
          kind,
          place,
          truth: named?.join(" & ") ?? "-",
          ours: `${certainty} ${symbols[0]!} (${why})`,
        });
    }
  }
  const counted = new Set<string>();
  const found = new Map<string, boolean>();
  for (const { path, place, start, end, symbol, isDefinition } of truth.uses) {
    const kind = kindOf(symbol);
    const isOwn = !isDefinition && truth.definitions.has(symbol);
    const word = project
      .facts(path)
      ?.syntax.text.slice(start, end)
      .replace(/^["'`]|["'`]$/g, "");
    if (!isOwn || counted.has(place) || !word || !NAME.test(word)) continue;
    counted.add(place);
    const wanted = truth.namedAt
      .get(place)!
      .filter((one) => truth.definitions.has(one) && kindOf(one) === kind);
    const answer = answers.get(place);
    const isHit =
      answer?.definitions.some((one) => isNamed(symbolsOf(one, truth), wanted)) ?? false;
    const row = of(kind);
    row.uses++;
    if (isHit && answer!.certainty === "resolved") row.resolvedFound++;
    else if (isHit && answer!.certainty === "likely") row.likelyFound++;
    else if (isHit) row.possibleFound++;
    const [first] = answer?.definitions ?? [];
    if (first && isNamed(symbolsOf(first, truth), wanted)) row.firstRight++;
    if (GLOBAL.has(kind)) found.set(symbol, isHit || (found.get(symbol) ?? false));
    if (!isHit || answer!.certainty !== "resolved")
      onSample({
        what: "missed",
        kind,
        place,
        truth: symbol,
        ours: answer ? `${answer.certainty} (${answer.why})` : "no name",
      });
  }
  for (const [symbol, isFound] of found) {
    const row = of(kindOf(symbol));
    row.used++;
    if (!isFound) row.falselyUnused++;
  }
  return scores;
}

const isNamed = (symbols: readonly string[], named: readonly string[] | undefined): boolean =>
  named !== undefined && symbols.some((one) => named.includes(one));

/** Resolves every name of every file. Names that define something are left out. */
function answersOf(project: Project, { paths }: Truth): Map<string, Resolution> {
  const resolver = new Resolver(project);
  const answers = new Map<string, Resolution>();
  for (const path of paths) {
    const facts = project.facts(path);
    if (!facts) continue;
    const { identifiers } = project.rules(path)!;
    const { syntax } = facts;
    for (let node = 0; node < syntax.count; node++) {
      if (!identifiers.has(syntax.type(node)) || !syntax.isLeaf(node)) continue;
      const answer = resolver.resolve(facts, node);
      if (!answer.isDefinition) answers.set(`${path}:${syntax.start(node)}`, answer);
    }
  }
  return answers;
}

const placeOf = ({ file, node }: Definition): string => `${file.path}:${file.syntax.start(node)}`;

/** Returns the symbols that the truth defines at a definition. In TypeScript, declarations of one name are one symbol. */
function symbolsOf(definition: Definition, { definedAt, tool }: Truth): readonly string[] {
  const own = definedAt.get(placeOf(definition)) ?? [];
  if (tool !== "scip-typescript") return own;
  const { owner, scope, name } = definition;
  const others = owner ? owner.members?.get(name) : scope.names.get(name);
  return [
    ...own,
    ...(others ?? []).flatMap((one) => (isImport(one) ? [] : (definedAt.get(placeOf(one)) ?? []))),
  ];
}

/** Adds the scores of several repositories. */
export function pooled(all: readonly Scores[]): Scores {
  const sum: Scores = new Map();
  for (const scores of all)
    for (const [kind, score] of scores) {
      const row = sum.get(kind) ?? newScore();
      for (const key of Object.keys(row) as (keyof Score)[]) row[key] += score[key];
      sum.set(kind, row);
    }
  return sum;
}

/** Returns the sum over all kinds. */
export function total(scores: Scores): Score {
  const sum = newScore();
  for (const kind of KINDS)
    for (const key of Object.keys(sum) as (keyof Score)[]) sum[key] += scores.get(kind)?.[key] ?? 0;
  return sum;
}

export const ratio = (a: number, b: number): number => (b === 0 ? 1 : a / b);
