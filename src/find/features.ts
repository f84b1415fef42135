/**
 * Computes the features of a file: numbers from 0 to about 1 that say how well the file, its definitions and its places
 * fit a question. A score is their weighted sum (weights.ts), so the reason for each rank can be told.
 */

import { stemOf } from "../words/stems.ts";
import { wordsOf } from "../words/split.ts";
import type { WeightedStem, PlaceTerms } from "./messages.ts";
import type { Definition, FilePlaces } from "./places.ts";
import { partsOf, type Question } from "./question.ts";
import type { Feature } from "./weights.ts";

const PLACE_K1 = 1.2;
const PLACE_B = 0.6;
/** The number of words of a usual place. */
const PLACE_WORDS = 45;
const DECAY = 0.6;
/** The part of a name's worth that depends on how much of the name the question has. */
const FIT = 0.7;
/** The worth of a name that has another form of the word, such as `Logger` for `log`. */
const OTHER_FORM = 0.85;
/** The worth of an exact name that may be an ordinary word. */
const CAPITAL = 0.7;
/** The weights of a definition's own name and its parent's among the words of its place. */
const OWN_NAME = 4;
const PARENT_NAME = 1;
/** Base names that say nothing, so that the folder names the file. */
const UNNAMED = /^(?:__init__|__main__|index|init|mod|package-info)$/;

const TYPES = new Set(
  "class,interface,struct,trait,protocol,enum,union,object,record,type,module".split(","),
);
const MEMBERS = new Set(
  "field,property,enumMember,key,selector,constructor,heading,table,other,namespace,package".split(
    ",",
  ),
);
const worthOfKind = (kind: string): number =>
  TYPES.has(kind) ? 1 : MEMBERS.has(kind) ? 0.4 : 0.85;
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Returns the name of a file without its extension, or the folder's name if the file's says nothing. */
export function nameOf(path: string): string {
  const parts = path.split("/");
  const base = parts.at(-1)!;
  const dot = base.indexOf(".", 1);
  const name = dot < 0 ? base : base.slice(0, dot);
  return UNNAMED.test(name) && parts.length > 1 ? parts.at(-2)! : name;
}

/** A question as the second stage uses it. */
export interface PreparedQuestion extends Question {
  readonly shares: readonly number[];
  /** The term and weight of each stem. If a stem may stand for several terms, the one with the greatest weight. */
  readonly byStem: ReadonlyMap<string, WeightedStem>;
  /** What byStem has for each word that was looked up. Most names of a file consist of the same few words. */
  readonly byWord: Map<string, WeightedStem | undefined>;
}

export function prepareQuestion(
  question: Question,
  stems: readonly WeightedStem[],
  shares: readonly number[],
): PreparedQuestion {
  const byStem = new Map<string, WeightedStem>();
  for (const one of stems)
    if ((byStem.get(one.stem)?.weight ?? 0) < one.weight) byStem.set(one.stem, one);
  return { ...question, shares, byStem, byWord: new Map() };
}

export interface FileFacts {
  readonly path: string;
  readonly bytes: number;
  /** The sum of the first stage. */
  readonly sum: number;
  readonly cut: FilePlaces;
  /** The number of words of each place. */
  readonly lengths: Float32Array;
  /** How often each place has each term, place by place. */
  readonly counts: Float32Array;
}

export interface FileFeatures {
  readonly features: Readonly<Record<Feature, number>>;
  /** The best places, best first. */
  readonly best: readonly number[];
  readonly terms: Omit<PlaceTerms, "comment" | "words">;
}

export function featuresOf(facts: FileFacts, question: PreparedQuestion): FileFeatures {
  const { path, bytes, sum, cut } = facts;
  const name = matchOf(wordsOf(nameOf(path)), question, { isForm: true });
  const folder = matchOf(wordsOf(path.slice(0, path.lastIndexOf("/") + 1)), question);
  const near = new Set([...name.terms, ...folder.terms]);
  const names = cut.definitions.map((definition) => matchOf(wordsOf(definition.name), question));
  const defined = definitionFeatures(cut.definitions, names, { path, near }, question);
  const placed = placeFeatures(facts, names, question);
  const exactPlace = cut.places.findIndex(
    ({ definition }) => definition >= 0 && definition === defined.exactDefinition,
  );
  const best =
    exactPlace < 0
      ? placed.order
      : [exactPlace, ...placed.order.filter((place) => place !== exactPlace)];
  const top = cut.places[best[0] ?? -1]?.definition ?? -1;
  return {
    features: {
      ...placed.features,
      ...defined.features,
      name: name.share,
      nameFit: name.share * Math.min(1, name.fit),
      folder: folder.share,
      big: sum * Math.min(1, Math.log(1 + bytes / 7) / 10),
      shallow: sum / (1 + 0.5 * (path.split("/").length - 1)),
    },
    best,
    terms: {
      name: [...name.terms],
      folder: [...folder.terms],
      definition: top < 0 ? [] : [...names[top]!.terms],
    },
  };
}

/** What a name has of a question. */
interface NameMatch {
  /** The share of the question that the name has. */
  readonly share: number;
  /** The part of the name that the question has. */
  readonly fit: number;
  /** The terms that the name has, without weak alternatives. */
  readonly terms: ReadonlySet<number>;
  /** The weight of each term. */
  readonly weights: ReadonlyMap<number, number>;
}

function matchOf(
  words: readonly string[],
  question: PreparedQuestion,
  { isForm = false } = {},
): NameMatch {
  const { terms, shares } = question;
  const weights = new Map<number, number>();
  for (const word of words) {
    const hit = hitOf(word, question);
    if (!hit) continue;
    const isWord = terms[hit.term]!.word === word;
    const weight = isForm && !(hit.weight === 1 && isWord) ? hit.weight * OTHER_FORM : hit.weight;
    if ((weights.get(hit.term) ?? 0) < weight) weights.set(hit.term, weight);
  }
  let [share, hits] = [0, 0];
  for (const [term, weight] of weights) {
    share += shares[term]! * weight;
    hits += weight;
  }
  const strong = [...weights].filter(([, weight]) => weight >= 0.5).map(([term]) => term);
  return {
    share,
    fit: words.length === 0 ? 0 : hits / words.length,
    terms: new Set(strong),
    weights,
  };
}

function hitOf(word: string, { byStem, byWord }: PreparedQuestion): WeightedStem | undefined {
  const known = byWord.get(word);
  if (known || byWord.has(word)) return known;
  const hit = byStem.get(stemOf(word));
  byWord.set(word, hit);
  return hit;
}

type DefinitionFeatures = Pick<
  Record<Feature, number>,
  "definition" | "exact" | "main" | "names" | "qualified"
>;

function definitionFeatures(
  definitions: readonly Definition[],
  matches: readonly NameMatch[],
  { path, near }: { readonly path: string; readonly near: ReadonlySet<number> },
  question: PreparedQuestion,
): { readonly features: DefinitionFeatures; readonly exactDefinition: number } {
  const { terms, shares } = question;
  // few words are often the parts of a name; many words are a description
  const short = Math.min(1, 3 / Math.max(1, terms.length)) ** 2;
  const ownLetters = lettersOf(nameOf(path));
  const names = exactNames(question);
  const values: number[] = [];
  let [exact, main, qualified, exactDefinition] = [0, 0, 0, -1];
  for (const [i, definition] of definitions.entries()) {
    if (definition.line < 0) continue;
    const { share, fit: whole, terms: own } = matches[i]!;
    const kind = worthOfKind(definition.kind);
    const fit = Math.min(1, whole);
    if (share > 0) {
      values.push(share * (1 - FIT + FIT * fit) * kind);
      if (fit > 0.9) {
        const above = definition.parent < 0 ? undefined : matches[definition.parent]?.terms;
        let cover = share;
        for (const term of terms.keys())
          if (!own.has(term) && (near.has(term) || above?.has(term))) cover += 0.8 * shares[term]!;
        qualified = Math.max(qualified, short * cover ** 2 * fit ** 2 * kind);
      }
    }
    const worth = names.worthOf(definition, definitions) * kind;
    if (worth === 0) continue;
    if (lettersOf(definition.name) === ownLetters) main = Math.max(main, worth);
    if (worth > exact) [exact, exactDefinition] = [worth, i];
  }
  values.sort((a, b) => b - a);
  const sum = values.slice(0, 5).reduce((total, value, i) => total + value * 0.7 ** i, 0) / 2.77;
  const features = { definition: values[0] ?? 0, exact, main, names: sum, qualified };
  return { features, exactDefinition };
}

function exactNames({ identifiers, capitals }: Question) {
  const exact = new Set(identifiers);
  const lowered = new Set(identifiers.map((name) => name.toLowerCase()));
  const types = new Set(capitals);
  const qualified = identifiers.map(partsOf).filter(({ length }) => length > 1);
  return {
    /** Returns the worth of a definition that the question names. */
    worthOf({ name, kind, parent }: Definition, all: readonly Definition[]): number {
      if (!exact.has(name) && !lowered.has(name.toLowerCase()))
        return TYPES.has(kind) && types.has(name) ? CAPITAL : 0;
      const worth = exact.has(name) ? 1 : 0.8;
      const parts = qualified.find((each) => each.includes(name));
      if (!parts) return worth;
      if (parts.at(-1) !== name) return worth * 0.6;
      const above = parts[parts.indexOf(name) - 1];
      const isWithin = above !== undefined && parent >= 0 && all[parent]!.name.endsWith(above);
      return isWithin ? worth * 1.2 : worth;
    },
  };
}

function placeFeatures(
  { cut, lengths, counts }: FileFacts,
  names: readonly NameMatch[],
  { shares }: PreparedQuestion,
) {
  const width = shares.length;
  const scores: number[] = [];
  let [placeCover, head] = [0, 0];
  for (const [i, { definition, firstLine }] of cut.places.entries()) {
    const own = definition < 0 ? undefined : names[definition]!.weights;
    const parent = definition < 0 ? -1 : cut.definitions[definition]!.parent;
    const above = parent < 0 ? undefined : names[parent]?.weights;
    const norm = 1 - PLACE_B + (PLACE_B * lengths[i]!) / PLACE_WORDS;
    let [score, cover] = [0, 0];
    for (let term = 0; term < width; term++) {
      const named = OWN_NAME * (own?.get(term) ?? 0) + PARENT_NAME * (above?.get(term) ?? 0);
      const count = counts[i * width + term]! + named;
      if (count === 0) continue;
      score += (shares[term]! * (count / norm)) / (PLACE_K1 + count / norm);
      cover += shares[term]! * Math.min(1, count);
    }
    scores.push(score);
    placeCover = Math.max(placeCover, cover);
    if (firstLine < 6) head = Math.max(head, score);
  }
  const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b);
  const [first = 0, second = 0, third = 0] = order.map((place) => scores[place]!);
  const places = (first + DECAY * second + DECAY ** 2 * third) / (1 + DECAY + DECAY ** 2);
  return { features: { places, placeCover, head }, order };
}
