/**
 * Reduces words to stems, so that the forms that programmers mix have one stem: `parse`, `parser` and `parsing`;
 * `validate`, `validator` and `validation`; `entry` and `entries`. A stem need not be a word.
 *
 * A word loses its inflection (plural, `-ed`, `-ing`) first, and its derivation (`-er`, `-ation`, `-able`, …) after
 * that. Both passes skip the words in UNCHANGED, whose endings are no endings (`string`, `buffer`) or whose rest is
 * another word (`option` and `optional`, `log` and `logic`). Stemming is worth 0.015 of NDCG@10.
 *
 * STEMS_VERSION is stored with the word lists of a segment. Raise it with every change that gives a word another stem.
 */

export const STEMS_VERSION = 1;

const VOWEL = /[aeiouy]/;

/** Words of up to this length lose nothing but a plural `s`. */
const SHORT = 3;

/** Words that keep their ending. */
const UNCHANGED = new Set(
  (
    "access address alias analysis anything argument atlas axis basis bed bias bring buffer bus canvas center chat " +
    "class color comment concat css document element environment error everything exceed express factor feed float " +
    "folder format fragment great header her his https indeed its king layer less letter matter member moment need " +
    "never nothing number offer only optional other paper parameter pass plus pointer press process progress red " +
    "render repeat ring rule seed segment series server setting shed speed spring statement status string terminal " +
    "thing this treat under user using vector water whether"
  ).split(" "),
);

/** Stems that no ending explains, by word or by regular stem. */
const IRREGULAR = new Map(
  (
    "built:build chosen:choos comparison:compar conversion:convert description:describ descriptor:describ " +
    "children:child indices:index matrices:matrix vertices:vertex registr:regist registri:regist resolution:resolv " +
    "resolut:resolv sent:send subscription:subscrib wrote:writ written:writ deletion:delet expansion:expand " +
    "extension:extend inclusion:includ decision:decid comparis:compar transmission:transmit permission:permit " +
    "submission:submit"
  )
    .split(" ")
    .map((pair) => pair.split(":") as [string, string]),
);

interface Ending {
  readonly text: string;
  /** The minimum number of letters before the ending. */
  readonly rest: number;
  /** The text that takes the place of the ending. */
  readonly put: string;
}

/** The endings of derived words. The first one that applies is removed. */
const DERIVED: readonly Ending[] = (
  "ification:2:ifi ifier:2:ifi ization:4: isation:5: izer:4: iser:5: izable:4: ize:4: iz:4: ise:5: ation:3:at " +
  "ator:3:at ative:3:at ition:3:it ution:3:ut etion:3:et ction:2:ct ctor:2:ct ctive:3:ct ssion:2:ss ency:5: " +
  "ence:5: enc:5: ent:5: ance:5: ability:3: ibility:3: able:4: ible:4: ity:5: ment:4: ful:3: ness:3: ally:4: " +
  "ly:4: al:5: er:3: or:4:"
)
  .split(" ")
  .map((each) => each.split(":") as [string, string, string])
  .map(([text, rest, put]) => ({ text, rest: Number(rest), put }));

/** Returns the stem of a word. REQUIRES: the word is in lower case. */
export function stemOf(word: string): string {
  if (word.length <= SHORT || !VOWEL.test(word)) return withoutPlural(word);
  const irregular = IRREGULAR.get(word);
  if (irregular) return irregular;
  let stem = withoutPlural(word);
  if (!UNCHANGED.has(stem)) stem = withoutInflection(stem);
  const known = IRREGULAR.get(stem);
  if (known) return known;
  if (!UNCHANGED.has(stem)) stem = withoutDerivation(stem);
  stem = withoutEnd(stem);
  return IRREGULAR.get(stem) ?? stem;
}

function withoutPlural(word: string): string {
  const isPlural = word.length >= 3 && word.endsWith("s") && !/(?:ss|us|is)$/.test(word);
  if (!isPlural || UNCHANGED.has(word)) return word;
  if (/(?:sses|shes|ches|xes|zes)$/.test(word)) return word.slice(0, -2);
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.slice(0, -1);
}

/** Removes `-ed` and `-ing`. */
function withoutInflection(word: string): string {
  if (word.length > 4 && word.endsWith("ied")) return `${word.slice(0, -3)}y`;
  const ending = ["ing", "ed"].find((each) => word.endsWith(each));
  if (ending === undefined) return word;
  const stem = word.slice(0, -ending.length);
  return stem.length >= 3 && VOWEL.test(stem) ? withoutDouble(stem) : word;
}

function withoutDerivation(word: string): string {
  let stem = word;
  for (const { text, rest, put } of DERIVED) {
    if (!word.endsWith(text) || word.length - text.length < rest) continue;
    const before = word.slice(0, word.length - text.length);
    if (!VOWEL.test(before)) continue;
    stem = put === "" ? withoutDouble(before) : before + put;
    break;
  }
  stem = withoutEnd(stem);
  // `generat` is what `generation`, `generating` and `generate` have in common; `generator` gives `gener`, too
  return stem.endsWith("at") && stem.length >= 6 && !UNCHANGED.has(stem) ? stem.slice(0, -2) : stem;
}

/** Makes `mapp` (of `mapping`) `map`. */
function withoutDouble(stem: string): string {
  const last = stem.at(-1)!;
  const isDouble = stem.length > 3 && last === stem.at(-2) && !"lsze".includes(last);
  return isDouble ? stem.slice(0, -1) : stem;
}

/** Removes a final `e`, and writes `i` for a final `y` after a consonant. */
function withoutEnd(stem: string): string {
  if (stem.length > 3 && stem.endsWith("e")) return stem.slice(0, -1);
  if (stem.length > 2 && stem.endsWith("y") && !/[aeiou]y$/.test(stem))
    return `${stem.slice(0, -1)}i`;
  return stem;
}
