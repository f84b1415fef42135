/** Says what a view or a history hides, and masks texts. */

/** Says what a view hides. All expressions must mean the same in RE2 and in JavaScript, apart from `(?i:…)`. */
export interface HiddenText {
  /** Files whose path matches do not exist. Regardless of case. */
  readonly paths: string;
  /** Files whose path also matches this exist nevertheless. */
  readonly exceptPaths: string;
  /** Texts that are masked. */
  readonly texts: string;
  /** Whole lines that are masked where only a part of a file is shown, because the beginning of a text may be missing. */
  readonly lines: string;
}

/** Returns whether a path is hidden. */
export function pathTest({ paths, exceptPaths }: HiddenText): (path: string) => boolean {
  const [hides, shows] = [new RegExp(paths, "i"), new RegExp(exceptPaths, "i")];
  return (path) => hides.test(path) && !shows.test(path);
}

/** A mask is a repetition of this. Hardly any text has it by itself. */
export const MASK = "*_";

/** The part of a match that may be shown: the name before the value, or the first line of a key. */
const SHOWN = /^(?:-----BEGIN [A-Z0-9 ]*-----|:?[^=:]*[=:]\s*["']?)/;

/** Returns the mask of a text that an expression has matched. It has the same length and the same lines. */
export function maskOf(text: string): string {
  const from = SHOWN.exec(text)?.[0].length ?? 0;
  const lines = text.slice(from).split("\n");
  return text.slice(0, from) + lines.map(maskOfLine).join("\n");
}

const maskOfLine = (line: string): string =>
  line.replace(/\S/g, (_, at: number) => MASK[at % MASK.length]!);

/** Returns a function that masks all hidden texts in a text. */
export function textMask({ texts }: HiddenText): (text: string) => string {
  const expression = new RegExp(inJavaScript(texts), "g");
  return (text) => text.replace(expression, maskOf);
}

/** Returns a function that masks the hidden texts in a part of a file. */
export function partMask(hidden: HiddenText): (text: string) => string {
  const mask = textMask(hidden);
  const line = new RegExp(`^(?:${hidden.lines})$`, "gm");
  return (text) => mask(text).replace(line, maskOfLine);
}

/** Returns a copy of the bytes in which all hidden texts are masked. They are ASCII, so their bytes are their text. */
export const maskRanges = (bytes: Uint8Array, hidden: HiddenText): Buffer =>
  Buffer.from(textMask(hidden)(Buffer.from(bytes).toString("latin1")), "latin1");

/** Node 20 does not understand `(?i:…)`, so letters in it become classes. */
const inJavaScript = (expression: string): string =>
  expression.replace(
    /\(\?i:([a-z_]+)\)/g,
    (_, word: string) =>
      `(?:${word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)})`,
  );
