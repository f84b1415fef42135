/**
 * Replaces newer syntax by older syntax: a grammar that does not know `fun interface` parses `    interface` instead.
 * The replacement is as long as the original, so offsets stay the same, and names are taken from the file itself. The
 * rules of each language are in its file in `queries/`.
 *
 * The reworded text is parsed first. If that has errors, the original text is parsed as well. The symbols of the
 * original are used if it has no errors or more symbols. So no rule can spoil a text that the grammar understands.
 *
 * Each text is searched for each rule's word, at some GB/s. A rule runs only on texts that contain its word. Rules have
 * no time limit, so the time of each must be linear in the text with a small factor. On texts made to slow rules down,
 * the slowest rule takes 0.35 s/MiB. An expression that must match backwards over text should have only one way to do
 * so: `\w{1,99}\b`, `(?=(…))\1`.
 */

export interface Rewording {
  /** The rule is tried only on texts that contain this word. */
  readonly word: string;
  /** Matches the newer syntax. It must have the flag `g`. The text has one character per byte. */
  readonly newer: RegExp;
  /** The replacement, made from the match and its groups, and padded with blanks. Default: blanks. */
  readonly older?: (...found: string[]) => string;
}

/** Code that is put around a text that the grammar does not accept by itself. */
export interface Frame {
  readonly word: string;
  readonly around: RegExp;
  readonly before: string;
  readonly after: string;
}

/** The part of a language's definition that rewording uses. */
export interface NewerSyntax {
  readonly rewordings?: readonly Rewording[];
  readonly frame?: Frame;
}

export interface Wording {
  readonly bytes: Uint8Array;
  readonly frame: Frame | undefined;
}

/** Returns the reworded text, or undefined if the text contains no newer syntax. */
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

/** Whether no earlier rule has the same expression. Several rules may share one, each with its own word. */
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

/** Replaces all characters except line ends by blanks. */
export const blank = (text: string): string => text.replace(/[^\r\n]/g, " ");

export function withFrame(bytes: Uint8Array, { before, after }: Frame): Uint8Array {
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
}
