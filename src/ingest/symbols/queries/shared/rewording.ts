/**
 * Replaces syntax that is too new for a grammar by older syntax. For example, a grammar that does not know
 * `fun interface` parses ` interface` instead. The replacement is as long as the original, so offsets stay the same.
 * Names of symbols are still read from the file itself. The rules of all languages are in newer-syntax.ts.
 *
 * The reworded text is parsed first. If it has syntax errors, the original text is parsed, too. The symbols of the
 * original text are used if it has no errors, or if it has more symbols. So a rule can do no harm to a text that the
 * grammar understands.
 *
 * Each rule has words, and the rule runs only on texts that contain one of them. The search for a word reads a few
 * GB/s. Rules have no time limit, so each must take linear time with a small factor. On texts that were made to slow
 * rules down, the slowest rule takes 0.35 s/MiB. An expression that has to skip text should have only one way to do
 * so, as `\w{1,99}\b` and `(?=(…))\1` have.
 */

export interface Rewording {
  /** What the rule rewords. Tests and their messages call the rule by this name. */
  readonly name: string;
  /** The rule is tried only on texts that contain one of these words. */
  readonly words: readonly string[];
  /** Matches the newer syntax in a text with one character per byte. It must have the flag `g`. */
  readonly newer: RegExp;
  /**
   * Returns the replacement for a match. The arguments are the match and its groups. The replacement is padded with
   * blanks to the length of the match. By default, it consists of blanks.
   */
  readonly older?: (...found: string[]) => string;
}

/** Code that is added before and after a text, if the grammar does not accept the text without it. */
export interface Frame {
  readonly name: string;
  readonly words: readonly string[];
  readonly around: RegExp;
  readonly before: string;
  readonly after: string;
}

/** The part of a language's definition that concerns rewording. */
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
  const hasWordOf = ({ words }: Rewording | Frame) => words.some((word) => buffer.includes(word));
  const rules = rewordings.filter(hasWordOf);
  const mayBeFramed = frame !== undefined && hasWordOf(frame);
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
