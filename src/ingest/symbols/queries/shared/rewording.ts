/**
 * Newer syntax in older words: a grammar that does not know `fun interface` reads `    interface`
 * instead. A rewording is as long as what it stands for, so every offset stays what it was, and names
 * are taken from the file itself. The rules of a language stand in its file of `queries/`.
 *
 * A text is read as reworded; where that has errors it is read as it stands, too. That reading counts
 * when it has none, or shows more symbols. So no rule can spoil a text that the grammar knows.
 *
 * Cost: a search for each rule's word, some GB/s; the rules run only on texts that hold it. They look at
 * no clock, so each must be linear in the text with a small factor: of texts made to hurt it the dearest
 * takes 0.35 s/MiB. What goes back over a part should find one way through it: `\w{1,99}\b`, `(?=(…))\1`.
 */

export interface Rewording {
  /** A text without it is not looked at. */
  readonly word: string;
  /** Matches the newer syntax. Has the flag `g`. Its text has one character for each byte. */
  readonly newer: RegExp;
  /** What is read instead, of the match and its groups, filled up with blanks. Default: blanks. */
  readonly older?: (...found: string[]) => string;
}

/** What a text is read within, for a grammar that knows it only there. */
export interface Frame {
  readonly word: string;
  readonly around: RegExp;
  readonly before: string;
  readonly after: string;
}

/** What of a language's file this is about. */
export interface NewerSyntax {
  readonly rewordings?: readonly Rewording[];
  readonly frame?: Frame;
}

export interface Wording {
  readonly bytes: Uint8Array;
  readonly frame: Frame | undefined;
}

/** Undefined when the text holds nothing newer. */
export function reword(
  bytes: Uint8Array,
  { rewordings = [], frame }: NewerSyntax,
): Wording | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const rules = rewordings.filter(({ word }) => buffer.includes(word)).filter(isFirst);
  const mayBeFramed = frame !== undefined && buffer.includes(frame.word);
  if (rules.length === 0 && !mayBeFramed) return undefined;
  const text = buffer.toString("latin1");
  const older = rules.reduce((from, rule) => apply(rule, from), text);
  const isFramed = mayBeFramed && frame.around.test(text);
  if (older === text && !isFramed) return undefined;
  return {
    bytes: older === text ? bytes : Buffer.from(older, "latin1"),
    frame: isFramed ? frame : undefined,
  };
}

/** Of those with one expression and several words. */
const isFirst = ({ newer }: Rewording, at: number, rules: readonly Rewording[]): boolean =>
  rules.findIndex((rule) => rule.newer === newer) === at;

function apply({ newer, older }: Rewording, text: string): string {
  return text.replace(newer, (found: string, ...more: unknown[]) => {
    if (older === undefined) return blank(found);
    const groups = more.slice(
      0,
      more.findIndex((one) => typeof one === "number"),
    );
    return older(found, ...groups.map((group) => (group as string | undefined) ?? "")).padEnd(
      found.length,
    );
  });
}

/** As long, and of as many lines. */
export const blank = (text: string): string => text.replace(/[^\r\n]/g, " ");

export function withFrame(bytes: Uint8Array, { before, after }: Frame): Uint8Array {
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}
