/**
 * Parses the lines of .gitignore files, with the same meaning as in git's parse_path_pattern() and wildmatch(). A
 * pattern becomes a nondeterministic automaton without backtracking. Each byte or set of bytes in the pattern leads
 * from one position to the next. A star makes its position loop over the bytes that the star matches. So a pattern
 * with n bytes and sets has n + 1 positions, which are the states of the automaton.
 *
 * As in git, patterns match bytes, so `?` matches only one byte of a code point in UTF-8. For this reason, paths and
 * patterns are strings with one character per byte (bytesOf).
 */

/**
 * The bytes over which a position loops. "nothing" means no byte, "name" means all bytes except '/', and "path" means
 * all bytes.
 */
export type Stay = "nothing" | "name" | "path";

export interface Position {
  readonly stay: Stay;
  /**
   * True if this position and the next one may be skipped. This is so if the pattern has a double star with a slash
   * here.
   */
  readonly isOptional: boolean;
  /**
   * The byte that leads to the next position, or a set of such bytes as 256 flags. Undefined for the last position.
   */
  readonly next: number | Uint8Array | undefined;
}

export interface Pattern {
  readonly isNegated: boolean;
  /** True if the pattern ends with '/', and so matches only folders. */
  readonly isFolder: boolean;
  /**
   * True if the pattern has no '/' except at its end. Such a pattern matches names at any depth. Any other pattern
   * matches paths relative to the folder of the rule file.
   */
  readonly isName: boolean;
  /** The positions of the automaton. The last one accepts. */
  readonly positions: readonly Position[];
}

/** Encodes a text in UTF-8, and returns a string with one character per byte. */
export function bytesOf(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text).toString("latin1");
}

export const SLASH = 0x2f;

/**
 * The maximum length of a line. Longer lines are ignored, because no path is longer, and because parsing many bracket
 * expressions in a line takes more than linear time.
 */
const LONGEST_LINE = 4096;

/** Parses a line. Returns undefined if the line is empty, a comment, or a pattern that can never match. */
export function parsePattern(line: string): Pattern | undefined {
  if (line.length > LONGEST_LINE) return undefined;
  let text = withoutTrailingSpaces(bytesOf(line).split("\0", 1)[0]!);
  if (text.startsWith("#")) return undefined;
  const isNegated = text.startsWith("!");
  if (isNegated) text = text.slice(1);
  const isFolder = text.endsWith("/");
  if (isFolder) text = text.slice(0, -1);
  const isName = !text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  const positions = text === "" ? undefined : new PositionReader(text, isName).read();
  return positions && { isNegated, isFolder, isName, positions };
}

/** Removes trailing spaces, except a space that is escaped with a backslash. */
function withoutTrailingSpaces(text: string): string {
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === " ") continue;
    if (text[at] === "\\" && ++at === text.length) return text;
    end = at + 1;
  }
  return text.slice(0, end);
}

type OpenPosition = { -readonly [Name in keyof Position]: Position[Name] };

const open = (stay: Stay): OpenPosition => ({ stay, isOptional: false, next: undefined });

class PositionReader {
  readonly #text: string;
  readonly #isName: boolean;
  /**
   * The length of the part before the first wildcard. git compares this part separately. So git treats a double star
   * right after this part like a double star at the beginning of the pattern.
   */
  readonly #plain: number;
  readonly #positions: OpenPosition[] = [open("nothing")];
  #at = 0;

  constructor(text: string, isName: boolean) {
    this.#text = text;
    this.#isName = isName;
    this.#plain = /^[^*?[\\]*/.exec(text)![0].length;
  }

  read(): Position[] | undefined {
    while (this.#at < this.#text.length) if (!this.#step()) return undefined;
    return this.#positions;
  }

  /** Parses the next byte, set or wildcard of the pattern. Returns false if the pattern can never match. */
  #step(): boolean {
    const char = this.#text[this.#at];
    if (char === "[") return this.#class();
    if (char === "*") this.#star();
    else if (char === "?") this.#any();
    else {
      if (char === "\\" && ++this.#at === this.#text.length) return false;
      this.#add(this.#text.charCodeAt(this.#at++));
    }
    return true;
  }

  #any(): void {
    this.#at++;
    this.#add(NOT_SLASH);
  }

  #add(next: number | Uint8Array): void {
    this.#positions.at(-1)!.next = next;
    this.#positions.push(open("nothing"));
  }

  #star(): void {
    const from = this.#at;
    while (this.#text[this.#at] === "*") this.#at++;
    const last = this.#positions.at(-1)!;
    const rest = this.#text.slice(this.#at, this.#at + 2);
    const isPart = from === this.#plain || this.#text[from - 1] === "/";
    const isDouble = this.#at - from > 1 && !this.#isName && isPart;
    if (isDouble && rest.startsWith("/")) this.#folders(last);
    else if (isDouble && (rest === "" || rest === "\\/")) last.stay = "path";
    else if (last.stay === "nothing") last.stay = "name";
  }

  /**
   * Processes a double star with a slash after it. Together they match any number of folders, including none. If
   * another such double star stands right before this one, no position is added, because both together mean the same
   * as one.
   */
  #folders(last: OpenPosition): void {
    this.#at++;
    if (this.#positions.at(-3)?.isOptional === true) return;
    last.isOptional = true;
    const within = open("path");
    within.next = SLASH;
    this.#positions.push(within, open("nothing"));
  }

  #class(): boolean {
    const found = new ClassReader(this.#text, this.#at).read();
    if (!found) return false;
    this.#at = found.end;
    this.#add(found.bytes);
    return true;
  }
}

const NOT_SLASH = new Uint8Array(256).fill(1);
NOT_SLASH[SLASH] = 0;

/** Parses a set of bytes, which begins with '['. */
class ClassReader {
  readonly #text: string;
  readonly #bytes = new Uint8Array(256);
  readonly #isNegated: boolean;
  #at: number;
  /** The last byte that was parsed, or 0 if no range may begin with this byte. */
  #from = 0;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#isNegated = text[at + 1] === "!" || text[at + 1] === "^";
    this.#at = at + (this.#isNegated ? 2 : 1);
  }

  /** Parses the set. Returns undefined if the set has no end or contains the name of an unknown class. */
  read(): { readonly bytes: Uint8Array; readonly end: number } | undefined {
    do if (!this.#member()) return undefined;
    while (this.#text[this.#at] !== "]");
    if (this.#isNegated) this.#bytes.forEach((flag, byte) => (this.#bytes[byte] = 1 - flag));
    this.#bytes[SLASH] = 0;
    return { bytes: this.#bytes, end: this.#at + 1 };
  }

  #member(): boolean {
    const named = namedClass(this.#text, this.#at);
    if (this.#at >= this.#text.length || named === "unknown") return false;
    if (named === undefined) return this.#byteOrRange();
    for (let byte = 0; byte < 0x80; byte++)
      if (named.test.test(String.fromCharCode(byte))) this.#bytes[byte] = 1;
    this.#at = named.last + 1;
    this.#from = 0;
    return true;
  }

  #byteOrRange(): boolean {
    const after = this.#text[this.#at + 1];
    const isRange = this.#text[this.#at] === "-" && this.#from > 0 && after !== "]";
    if (isRange && after !== undefined) this.#at++;
    if (this.#text[this.#at] === "\\") this.#at++;
    if (this.#at >= this.#text.length) return false;
    const byte = this.#text.charCodeAt(this.#at++);
    this.#bytes.fill(1, isRange ? this.#from : byte, byte + 1);
    this.#from = isRange ? 0 : byte;
    return true;
  }
}

/** Parses a named class such as `[:alpha:]`. Returns undefined if no such class begins at `at`. */
function namedClass(
  text: string,
  at: number,
): { readonly test: RegExp; readonly last: number } | "unknown" | undefined {
  if (!text.startsWith("[:", at)) return undefined;
  const last = text.indexOf("]", at + 2);
  if (last === -1) return "unknown";
  if (last === at + 2 || text[last - 1] !== ":") return undefined;
  const test = NAMED_CLASSES.get(text.slice(at + 2, last - 1));
  return test ? { test, last } : "unknown";
}

/** The named classes, limited to ASCII. */
const NAMED_CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ["alnum", /[0-9A-Za-z]/],
  ["alpha", /[A-Za-z]/],
  ["blank", /[ \t]/],
  // eslint-disable-next-line no-control-regex
  ["cntrl", /[\0-\x1f\x7f]/],
  ["digit", /[0-9]/],
  ["graph", /[!-~]/],
  ["lower", /[a-z]/],
  ["print", /[ -~]/],
  ["punct", /[!-/:-@[-`{-~]/],
  ["space", /[\t-\r ]/],
  ["upper", /[A-Z]/],
  ["xdigit", /[0-9A-Fa-f]/],
]);
