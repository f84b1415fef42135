/**
 * Finds the scripts and styles of HTML, Vue, Svelte and Astro by their tags. No parser is needed, because browsers,
 * too, end such an element at the first closing tag.
 */

export interface Part {
  readonly language: string;
  /** The start and the end of the element's content, as offsets in bytes. */
  readonly start: number;
  readonly end: number;
}

const HOSTS = new Set(["HTML", "Vue", "Svelte", "Astro"]);

/** The language of scripts. TypeScript's grammar parses JavaScript, too. */
const SCRIPT = "TypeScript";
const STYLE = "CSS";

/** Returns the languages that a host language may embed, or undefined if it embeds none. */
export function embeddedLanguages(language: string): readonly string[] | undefined {
  return HOSTS.has(language) ? [SCRIPT, "TSX", STYLE] : undefined;
}

const OPENING = /<!--|<(script|style)\b/gi;
/** The next quoted value of a tag, which may contain `>`, or the end of the tag. */
const QUOTE_OR_END = /=\s*(["'])|>/g;
const CLOSING = { script: /<\/script\s*>/gi, style: /<\/style\s*>/gi };
const TYPE = /\b(?:type|lang)\s*=\s*["']?([\w/+.-]+)/i;

/**
 * Returns the embedded parts in order, or undefined if the language embeds none. An element without an end tag ends
 * with the file.
 */
export function embeddedParts(language: string, bytes: Uint8Array): Part[] | undefined {
  if (!HOSTS.has(language)) return undefined;
  // one character per byte, so that positions are bytes
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

/** Returns the position after the tag's `>`, or -1 if it has none. */
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
