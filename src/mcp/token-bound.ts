/**
 * How many tokens a text has at most, without a tokenizer: the budget of an answer is counted with it.
 *
 * Tokenizers of the byte-pair kind give a common word one token, and split what is uncommon. So a bound
 * goes by pieces: words, cut at the humps of camelCase; digits by threes; blanks; punctuation; characters
 * of other scripts. A word of letters that hardly follow each other in English or in code counts more, the
 * more of those it has. The weights are fitted so that the count of cl100k and o200k stays below for code
 * in all languages of the corpus, prose in several scripts, minified lines and base64; of ordinary code the
 * bound is some quarter too high (test/mcp/token-bound.test.ts). It takes 10 ns a character.
 */

const PIECES =
  /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[ \t]+|[\r\n]+|[\x80-\u{10ffff}]|[^A-Za-z0-9\s\x80-\uffff]+/gu;

export function tokenBound(text: string): number {
  let bound = 0;
  for (const { 0: piece, index } of text.matchAll(PIECES))
    bound += boundOf(piece, text.charCodeAt(index + piece.length));
  return bound;
}

const WEIGHTS = {
  word: 1,
  letter: 0.065,
  rarePair: 0.56,
  digits: 3,
  punctuation: 0.35,
  sign: 0.69,
  blank: 0.05,
  blanks: 1,
  newline: 0.7,
} as const;

/** `next`: the character behind the piece. */
function boundOf(piece: string, next: number): number {
  const code = piece.codePointAt(0)!;
  if (code > 0x7f) return scriptBound(code);
  if (isLetter(code)) return wordBound(piece);
  if (isDigit(code)) return 1.05 * Math.ceil(piece.length / WEIGHTS.digits);
  // a blank goes with the word behind it, and stands alone before a number
  if (code === 32 && piece.length === 1) return isDigit(next) ? WEIGHTS.blanks : WEIGHTS.blank;
  if (code === 32 || code === 9) return WEIGHTS.blanks;
  if (code === 10 || code === 13) return WEIGHTS.newline;
  return WEIGHTS.punctuation + WEIGHTS.sign * piece.length;
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;

function wordBound(word: string): number {
  const letters = word.toLowerCase();
  let rare = 0;
  for (let i = 1; i < letters.length; i++) if (!COMMON[pairAt(letters, i - 1)]) rare++;
  return WEIGHTS.word + WEIGHTS.letter * word.length + WEIGHTS.rarePair * rare;
}

const pairAt = (letters: string, at: number): number =>
  26 * (letters.charCodeAt(at) - 97) + letters.charCodeAt(at + 1) - 97;

/** Tokens of a character beyond ASCII: Latin and Cyrillic letters come in groups, other scripts byte by byte. */
function scriptBound(code: number): number {
  if (code < 0x370) return 1.1;
  if (code < 0x530) return 0.95;
  if (code >= 0x2010 && code < 0x2070) return 1.3;
  if (code >= 0x3000 && code < 0xa000) return 1.5;
  if (code >= 0xac00 && code < 0xd7b0) return 1.6;
  return code < 0x10000 ? 2.4 : 4;
}

/** Letters that may follow each: the pairs that make up 98 of 100 in English words and in names in code. */
const FOLLOWING =
  "abcdefgiklmnprstuvwxy abeijlorsuy acehiklorstuy adegilorsuy abcdefghilmnopqrstuvwxy aefiloprtu aeghilnorsu aeiorty abcdefgklmnoprstvxz aeou aeilnsy abcdefiklmopstuvy abeimnopsuy acdefgijknopstuvxy abcdefgiklmnoprstuvwxy aehiloprstu u abcdefgiklmnoprstuvy abcehiklmnopqrstuwy aceghilmorstuwy abcdegilmnprst aeiou aehinors aceiptu aceilmnopst aeiouz".split(
    " ",
  );
const COMMON = new Uint8Array(26 * 26);
FOLLOWING.forEach((letters, first) => {
  for (const letter of letters) COMMON[26 * first + letter.charCodeAt(0) - 97] = 1;
});
