/**
 * Finds the scripts and styles in files of HTML, Vue, Svelte and Astro by their tags. No parser is needed, because
 * browsers also end a script or style at its first closing tag.
 */

export interface Part {
  readonly language: string;
  /** The offsets in bytes at which the element's content starts and ends. */
  readonly start: number;
  readonly end: number;
}

const HOSTS = new Set(["HTML", "Vue", "Svelte", "Astro"]);

/** The language that scripts are parsed as. TypeScript's grammar also parses JavaScript. */
const SCRIPT = "TypeScript";
const STYLE = "CSS";

/** Returns the languages that a file of this language may embed, or undefined if it embeds none. */
export function embeddedLanguages(language: string): readonly string[] | undefined {
  return HOSTS.has(language) ? [SCRIPT, "TSX", STYLE] : undefined;
}

const OPENING = /<!--|<(script|style)\b/gi;
/** Matches the beginning of a quoted value in a tag, or the end of the tag. A quoted value may contain `>`. */
const QUOTE_OR_END = /=\s*(["'])|>/g;
const CLOSING = { script: /<\/script\s*>/gi, style: /<\/style\s*>/gi };
const TYPE = /\b(?:type|lang)\s*=\s*["']?([\w/+.-]+)/i;

/**
 * Returns the embedded parts of a file in order, or undefined if its language embeds none. If an element has no
 * closing tag, its part ends with the file.
 */
export function embeddedParts(language: string, bytes: Uint8Array): Part[] | undefined {
  if (!HOSTS.has(language)) return undefined;
  // one character per byte, so that positions in the string are offsets in bytes
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const parts: Part[] = [];
  OPENING.lastIndex = 0;
  for (let tag = OPENING.exec(text); tag !== null; tag = OPENING.exec(text)) {
    const element = tag[1]?.toLowerCase() as keyof typeof CLOSING | undefined;
    const inside = tag.index + tag[0].length;
    const start = element === undefined ? inside : endOfTag(text, inside);
    if (start < 0) break;
    const end = element === undefined ? text.indexOf("-->", start) : endOf(element, text, start);
    if (end < 0) break;
    const inner = element && languageOf(element, TYPE.exec(text.slice(inside, start))?.[1] ?? "");
    if (inner) parts.push({ language: inner, start, end });
    OPENING.lastIndex = end;
  }
  return parts;
}

/** Returns the position after the `>` of a tag, or -1 if the tag has no `>`. */
function endOfTag(text: string, inside: number): number {
  QUOTE_OR_END.lastIndex = inside;
  for (let sign = QUOTE_OR_END.exec(text); sign !== null; sign = QUOTE_OR_END.exec(text)) {
    if (sign[1] === undefined) return QUOTE_OR_END.lastIndex;
    const close = text.indexOf(sign[1], QUOTE_OR_END.lastIndex);
    if (close < 0) return -1;
    QUOTE_OR_END.lastIndex = close + 1;
  }
  return -1;
}

function endOf(element: keyof typeof CLOSING, text: string, start: number): number {
  CLOSING[element].lastIndex = start;
  return CLOSING[element].exec(text)?.index ?? text.length;
}

function languageOf(element: string, type: string): string | undefined {
  if (element === "style") return /^$|css$/i.test(type) ? STYLE : undefined;
  if (/[jt]sx$/i.test(type)) return "TSX";
  return /^$|module$|(?:java|ecma|type)script$|^[jt]s$/i.test(type) ? SCRIPT : undefined;
}
