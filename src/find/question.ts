/**
 * Turns a question into weighted terms. Each term has stems that may stand for its word, and names in the question that
 * look like code are kept whole. The result depends on the question alone.
 */

import { stemOf } from "../words/stems.ts";
import { wordsOf } from "../words/split.ts";
import { STOP_WORDS, SYNONYMS, WEAK_WORDS } from "../words/synonyms.ts";

/**
 * Why a stem may stand for a word of a question.
 *
 * @example
 * const isOwn = (why: AlternativeReason): boolean => why === "same";
 */
export type AlternativeReason = "same" | "synonym" | "prefix" | "initials";

export interface Alternative {
  readonly stem: string;
  readonly weight: number;
  readonly why: AlternativeReason;
}

export interface Term {
  readonly word: string;
  readonly weight: number;
  /** The stems that may stand for the word, except those that begin with its stem. */
  readonly alternatives: readonly Alternative[];
  /** Stems that begin with this prefix may stand for the word, too. Absent if the stem is too short. */
  readonly prefix?: string;
}

export interface Question {
  readonly terms: readonly Term[];
  /** Names in the question that look like identifiers, and the parts of qualified names. */
  readonly identifiers: readonly string[];
  /** Words with a capital, which may be the name of a type. */
  readonly capitals: readonly string[];
  /** Whether the question is a single name. */
  readonly isName: boolean;
}

export const WEIGHT = {
  synonym: 0.15,
  prefix: 0.5,
  initials: 0.25,
  /** The weight of a word that is in many questions. */
  weak: 0.6,
  /** The weight of the repository's own name. */
  own: 0.3,
  /** The factor of a word that the question repeats. */
  repeated: 1.4,
} as const;

/** The minimum length of a stem that stands for longer ones. */
const MIN_PREFIX = 4;
/** The maximum number of terms. The words after them are ignored. */
const MAX_TERMS = 32;
/** The maximum number of words that are read. The words after them are ignored. */
const MAX_WORDS = 256;
/** The maximum number of names that are looked up in the lists of definitions. */
const MAX_NAMES = 16;

const QUALIFIER = /\.|::|->|#|\\|\//;
const IDENTIFIER = /[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|\\|\/)[A-Za-z_$][\w$]*)*[!?]?/g;
const LOOKS_LIKE_CODE = /[a-z0-9][A-Z]|_|::|->|\w\.\w|\\|#|[A-Z]{2,}[a-z]/;
const CAPITAL = /\b[A-Z][a-z]+\b/g;

/** Parses a question. `repository` is the name of the only repository in scope, whose own words say little. */
export function parseQuestion(text: string, repository = ""): Question {
  const trimmed = text.trim();
  const isName = !/\s/.test(trimmed);
  const identifiers = identifiersOf(text, isName);
  const capitals = [...text.matchAll(CAPITAL)]
    .map(([word]) => word)
    .filter((word) => !STOP_WORDS.has(word.toLowerCase()) && !identifiers.has(word));
  return {
    terms: termsOf(wordsOf(text).slice(0, MAX_WORDS), new Set(wordsOf(repository).map(stemOf))),
    identifiers: [...identifiers].slice(0, MAX_NAMES),
    capitals: [...new Set(capitals)].slice(0, MAX_NAMES),
    isName,
  };
}

function identifiersOf(text: string, isName: boolean): Set<string> {
  const identifiers = new Set<string>();
  for (const [name] of text.matchAll(IDENTIFIER)) {
    if (!isName && !LOOKS_LIKE_CODE.test(name)) continue;
    identifiers.add(name);
    for (const part of name.split(QUALIFIER)) if (part.length > 1) identifiers.add(part);
  }
  return identifiers;
}

function termsOf(words: readonly string[], own: ReadonlySet<string>): Term[] {
  const isKept = words.map((word) => !STOP_WORDS.has(word));
  const useAll = !isKept.includes(true);
  const terms: Term[] = [];
  const byStem = new Map<string, number>();
  for (const [at, word] of words.entries()) {
    if (!useAll && !isKept[at]) continue;
    if (word.length < 2 && words.length > 1) continue;
    const stem = stemOf(word);
    const earlier = byStem.get(stem);
    if (earlier !== undefined) {
      const term = terms[earlier]!;
      terms[earlier] = { ...term, weight: term.weight * WEIGHT.repeated };
      continue;
    }
    if (terms.length === MAX_TERMS) break;
    byStem.set(stem, terms.length);
    const isOwn = words.length > 1 && own.has(stem);
    const weight = isOwn ? WEIGHT.own : WEAK_WORDS.has(word) ? WEIGHT.weak : 1;
    terms.push({
      word,
      weight,
      alternatives: alternativesOf(stem, initialsAt(words, isKept, at)),
      ...(stem.length >= MIN_PREFIX && { prefix: stem }),
    });
  }
  return terms;
}

function alternativesOf(stem: string, initials: readonly string[]): Alternative[] {
  const best = new Map<string, Alternative>();
  const offer = (other: string, why: AlternativeReason, weight: number) => {
    if ((best.get(other)?.weight ?? 0) < weight) best.set(other, { stem: other, weight, why });
  };
  offer(stem, "same", 1);
  for (let length = MIN_PREFIX; length < stem.length; length++)
    offer(stem.slice(0, length), "prefix", WEIGHT.prefix);
  for (const other of initials) offer(other, "initials", WEIGHT.initials);
  for (const other of SYNONYMS.get(stem) ?? []) offer(other, "synonym", WEIGHT.synonym);
  return [...best.values()];
}

/** Returns the initials of the words around a word, such as `fs` for `file system`. */
function initialsAt(words: readonly string[], isKept: readonly boolean[], at: number): string[] {
  const run = words.slice(at, at + 3).filter((_, i) => isKept[at + i]);
  const initials = [2, 3]
    .filter((length) => run.length >= length)
    .map((length) =>
      run
        .slice(0, length)
        .map(([first]) => first)
        .join(""),
    );
  if (at > 0 && isKept[at - 1]) initials.push(words[at - 1]![0]! + words[at]![0]!);
  return initials;
}

/** Splits a qualified name such as `Cart.total` into its parts. */
export const partsOf = (name: string): string[] => name.split(QUALIFIER);
