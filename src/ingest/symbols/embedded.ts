/**
 * Files that hold other languages: the scripts and styles of HTML, Vue and Svelte. They are found by
 * their tags, without a parser: that is what browsers do with the text of both elements.
 */

export interface Part {
  readonly language: string;
  /** Bytes. */
  readonly start: number;
  readonly end: number;
}

const HOSTS = new Set(["HTML", "Vue", "Svelte", "Astro"]);

/** TypeScript's grammar parses JavaScript too. */
const SCRIPT = "TypeScript";
const STYLE = "CSS";

/** The languages that may be in such a file; undefined for every other language. */
export function embeddedLanguages(language: string): readonly string[] | undefined {
  return HOSTS.has(language) ? [SCRIPT, "TSX", STYLE] : undefined;
}

// the bounds keep unclosed quotes from costing more than the tag is worth
const OPENING = /<!--|<(script|style)\b((?:"[^"]{0,400}"|'[^']{0,400}'|[^>"']){0,400})>/gi;
const CLOSING = { script: /<\/script\s*>/gi, style: /<\/style\s*>/gi };
const TYPE = /\b(?:type|lang)\s*=\s*["']?([\w/+.-]+)/i;

/** The parts in order; undefined for a language that is no host. What is not closed goes to the end. */
export function embeddedParts(language: string, bytes: Uint8Array): Part[] | undefined {
  if (!HOSTS.has(language)) return undefined;
  // one character a byte, so that positions are bytes
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const parts: Part[] = [];
  OPENING.lastIndex = 0;
  for (let tag = OPENING.exec(text); tag !== null; tag = OPENING.exec(text)) {
    const start = tag.index + tag[0].length;
    const element = tag[1]?.toLowerCase() as keyof typeof CLOSING | undefined;
    const end = element === undefined ? text.indexOf("-->", start) : endOf(element, text, start);
    if (end < 0) break;
    const inner = element && languageOf(element, TYPE.exec(tag[2]!)?.[1] ?? "");
    if (inner) parts.push({ language: inner, start, end });
    OPENING.lastIndex = end;
  }
  return parts;
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
