/**
 * The third round of a question: reads the files that the second round has chosen, and scores their names, definitions
 * and places. Returns the best place of each file.
 */

import { corrupt } from "../store/format/sealed.ts";
import { SYMBOL_ROW, type SymbolList } from "../store/symbols/symbol-run.ts";
import type { Task } from "../threads/task.ts";
import { END_OF_WINDOW, WORD_STEP, type WordTable } from "../words/word-table.ts";
import { kindsOf } from "./factors.ts";
import { featuresOf, prepareQuestion, type PreparedQuestion } from "./features.ts";
import type {
  Candidate,
  LineRange,
  PlaceDefinition,
  ReadInput,
  ReadOutput,
  ReadPlace,
} from "./messages.ts";
import { placesOf, type FilePlaces, type Place } from "./places.ts";
import { forEachSegment, type AskedSegment, type FindThread } from "./thread.ts";
import { FEATURES, NAME_WEIGHTS, WEIGHTS } from "./weights.ts";

/** The maximum number of other places of a file. */
const MAX_OTHERS = 4;
/** The maximum length of shown lines in bytes. The rest of longer lines is cut. */
const MAX_SHOWN_BYTES = 16_384;
const NO_SYMBOLS: SymbolList = { count: 0, total: 0, rows: new Int32Array(SYMBOL_ROW) };
const COMMENT = /^\s*(?:\/\/|\/?\*|#(?![a-z!])|--|;;|%|"""|'''|@doc|@moduledoc|\{-)/;

export const readTask: Task<ReadInput, ReadOutput> = async (input, context) => {
  const question = prepareQuestion(input.question, input.stems, input.shares);
  const bySegment = groupBySegment(input.candidates);
  const positions = [...bySegment.keys()];
  const segments = positions.map((position) => input.segments[position]!);
  const places: ReadPlace[] = [];
  const gaps = await forEachSegment({ ...input, segments }, context, async (segment, thread) => {
    for (const candidate of bySegment.get(positions[segment.position]!)!) {
      places.push(readFile(candidate, segment, thread, { question, input }));
      await thread.pause();
    }
  });
  return { places, gaps: gaps.map(([position, why]) => [positions[position]!, why]) };
};

function groupBySegment(candidates: readonly Candidate[]): Map<number, Candidate[]> {
  const groups = new Map<number, Candidate[]>();
  for (const one of candidates)
    groups.set(one.position, [...(groups.get(one.position) ?? []), one]);
  return groups;
}

function readFile(
  candidate: Candidate,
  { reader, symbols }: AskedSegment,
  { snapshot, words }: FindThread,
  { question, input }: { readonly question: PreparedQuestion; readonly input: ReadInput },
): ReadPlace {
  const { file, path, sum } = candidate;
  const blob = reader.files.blobs[file]!;
  const text = Buffer.from(reader.blobText(snapshot, blob));
  const cut = placesOf(text, symbols?.has(blob) ? symbols.of(blob) : NO_SYMBOLS);
  const lines = countLines(text, words.table, question);
  if (lines.words.length !== cut.owner.length) throw corrupt(`the lines of ${path}`);
  const { lengths, counts } = countPlaces(lines, cut, question.shares.length);
  const facts = { path, bytes: text.length, sum, cut, lengths, counts };
  const { features, best, terms } = featuresOf(facts, question);
  const language = reader.header.languages[reader.files.languages[file]!]!;
  const kinds = kindsOf(path, language, reader.files.flags[file]!);
  const weights = question.isName ? NAME_WEIGHTS : WEIGHTS;
  let score = FEATURES.reduce((total, feature) => total + weights[feature] * features[feature], 0);
  for (const kind of kinds) score *= input.factors[kind];
  const place = cut.places[best[0] ?? -1] ?? { definition: -1, firstLine: 0, lastLine: 0 };
  const shown = shownLines(place, { cut, lines, most: input.lines });
  const found = place.definition < 0 ? undefined : cut.definitions[place.definition]!;
  const parent = found && found.parent >= 0 ? cut.definitions[found.parent] : undefined;
  const byteOffset = cut.lineStarts[shown.from - 1] ?? 0;
  const end = Math.min(cut.lineStarts[shown.to] ?? text.length, byteOffset + MAX_SHOWN_BYTES);
  const definition: PlaceDefinition | undefined = found && {
    name: found.name,
    kind: found.kind,
    ...(parent && { parent: { name: parent.name, kind: parent.kind } }),
  };
  return {
    candidate,
    score,
    features,
    kinds,
    language,
    definition,
    lines: { from: place.firstLine + 1, to: place.lastLine + 1 },
    shown,
    content: text.toString("utf8", byteOffset, end),
    byteOffset,
    others: best.slice(1, 1 + MAX_OTHERS).map((other) => rangeOf(cut.places[other]!)),
    terms: { ...terms, ...termsOfPlace(place, text, cut, lines) },
  };
}

const rangeOf = ({ firstLine, lastLine }: Place): LineRange => ({
  from: firstLine + 1,
  to: lastLine + 1,
});

/** The number of words of each line, and the terms on it. */
interface LineTerms {
  readonly words: readonly number[];
  /** For each line, its terms with their weights. Absent if the line has none. */
  readonly terms: ReadonlyMap<number, readonly (readonly [term: number, weight: number])[]>;
}

function countLines(text: Buffer, table: WordTable, { byStem }: PreparedQuestion): LineTerms {
  const hits = new Map<number, { readonly term: number; readonly weight: number }>();
  for (const [stem, one] of byStem) hits.set(table.numberFor(stem), one);
  const words: number[] = [];
  const terms = new Map<number, (readonly [number, number])[]>();
  const at = table.place(text);
  let count = 0;
  for (const [stream, length] of table.split(at, at + text.length, 0)) {
    const entries = table.kernel.words;
    const first = table.firstStem;
    for (let i = stream >>> 2; i < (stream >>> 2) + length; i++) {
      const word = entries[i]!;
      if (word === END_OF_WINDOW) {
        words.push(count);
        count = 0;
        continue;
      }
      count++;
      const hit = hits.get(entries[first + WORD_STEP * word]!);
      if (!hit) continue;
      const line = terms.get(words.length);
      if (line) line.push([hit.term, hit.weight]);
      else terms.set(words.length, [[hit.term, hit.weight]]);
    }
  }
  return { words, terms };
}

function countPlaces({ words, terms }: LineTerms, { owner, places }: FilePlaces, width: number) {
  const lengths = new Float32Array(places.length);
  const counts = new Float32Array(places.length * width);
  for (const [line, count] of words.entries()) lengths[owner[line]!]! += count;
  for (const [line, hits] of terms)
    for (const [term, weight] of hits) counts[owner[line]! * width + term]! += weight;
  return { lengths, counts };
}

/** Chooses the lines of a place to show: the line of its name if the place is short, else those with most terms. */
function shownLines(
  { definition, firstLine, lastLine }: Place,
  {
    cut,
    lines,
    most,
  }: { readonly cut: FilePlaces; readonly lines: LineTerms; readonly most: number },
): LineRange {
  if (lastLine - firstLine < most) return { from: firstLine + 1, to: lastLine + 1 };
  const nameLine = definition < 0 ? firstLine : cut.definitions[definition]!.line;
  // the line of the name is shown if at all possible, because a reader looks for it first
  let [best, bestValue] = [firstLine, -1];
  for (let from = firstLine; from + most - 1 <= lastLine; from++) {
    const seen = new Set<number>();
    let value = nameLine >= from && nameLine < from + most ? 2 : 0;
    for (let line = from; line < from + most; line++)
      for (const [term, weight] of lines.terms.get(line) ?? []) {
        value += seen.has(term) ? 0.1 * weight : weight;
        seen.add(term);
      }
    if (value > bestValue) [best, bestValue] = [from, value];
  }
  return { from: best + 1, to: best + most };
}

function termsOfPlace(
  { firstLine, lastLine }: Place,
  text: Buffer,
  { lineStarts }: FilePlaces,
  { terms }: LineTerms,
): { readonly comment: number[]; readonly words: number[] } {
  const [comment, words] = [new Set<number>(), new Set<number>()];
  for (let line = firstLine; line <= lastLine; line++) {
    const hits = terms.get(line);
    if (!hits) continue;
    const isComment = COMMENT.test(text.toString("latin1", lineStarts[line], lineStarts[line + 1]));
    for (const [term] of hits) (isComment ? comment : words).add(term);
  }
  return { comment: [...comment], words: [...words] };
}
