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

const ELEMENT = /<!--[^]*?-->|<(script|style)\b([^>]*)>([^]*?)<\/\1\s*>/gi;
const TYPE = /\b(?:type|lang)\s*=\s*["']?([\w/+.-]+)/i;

/** The parts in order; undefined for a language that is no host. */
export function embeddedParts(language: string, bytes: Uint8Array): Part[] | undefined {
  if (!HOSTS.has(language)) return undefined;
  // one character a byte, so that positions are bytes
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const parts: Part[] = [];
  for (const match of text.matchAll(ELEMENT)) {
    const [whole, element, attributes, content] = match;
    const inner = element && languageOf(element.toLowerCase(), TYPE.exec(attributes!)?.[1] ?? "");
    if (!inner || content === undefined) continue;
    const start = match.index + whole.indexOf(">", element.length + 1 + attributes!.length) + 1;
    parts.push({ language: inner, start, end: start + content.length });
  }
  return parts;
}

function languageOf(element: string, type: string): string | undefined {
  if (element === "style") return /^$|css$/i.test(type) ? STYLE : undefined;
  if (/[jt]sx$/i.test(type)) return "TSX";
  return /^$|module$|(?:java|ecma|type)script$|^[jt]s$/i.test(type) ? SCRIPT : undefined;
}
