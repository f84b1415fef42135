/**
 * Decodes one document of a SCIP index: its occurrences as rows of numbers, and what it says about symbols. A symbol is
 * written out at every occurrence, so symbols are numbered by their bytes, and each is decoded once.
 */

import { VARINT, type Message } from "./wire.ts";

export interface ScipLimits {
  /** The maximum size of one document, in bytes. */
  readonly documentBytes: number;
  readonly occurrences: number;
  readonly symbolBytes: number;
  /** The maximum size of the texts about a symbol, in bytes. */
  readonly textBytes: number;
  readonly pathBytes: number;
}

export const SCIP_LIMITS: ScipLimits = {
  documentBytes: 256 * 2 ** 20,
  occurrences: 4_000_000,
  symbolBytes: 16 * 2 ** 10,
  textBytes: 2 ** 20,
  pathBytes: 4096,
};

/** The unit of the columns. `unset` depends on the tool. */
export type ScipEncoding = "unset" | "utf-8" | "utf-16" | "utf-32";
const ENCODINGS: readonly ScipEncoding[] = ["unset", "utf-8", "utf-16", "utf-32"];
export const encodingOf = (value: number): ScipEncoding => ENCODINGS[value] ?? "unset";

/** The numbers of an occurrence in a row: lines and columns from 0 on, the roles, and the number of the symbol. */
export const ROW = 6;
export const COLUMN = {
  startLine: 0,
  startColumn: 1,
  endLine: 2,
  endColumn: 3,
  roles: 4,
  symbol: 5,
} as const;

/** Bits of the roles of an occurrence. */
export const ROLE = { definition: 1, import: 2, write: 4, read: 8 } as const;

export interface ScipRelationship {
  readonly symbol: string;
  readonly isReference: boolean;
  readonly isImplementation: boolean;
  readonly isTypeDefinition: boolean;
  readonly isDefinition: boolean;
}

export interface ScipSymbol {
  readonly symbol: string;
  readonly kind: number;
  readonly displayName: string;
  readonly enclosing: string;
  readonly documentation: readonly string[];
  readonly signature: string;
  readonly relationships: readonly ScipRelationship[];
}

export interface ScipDocument {
  readonly path: string;
  readonly language: string;
  readonly encoding: ScipEncoding;
  /** The number of occurrences. */
  readonly count: number;
  readonly rows: Int32Array;
  readonly names: readonly string[];
  readonly symbols: readonly ScipSymbol[];
}

export function readDocument(message: Message, limits: ScipLimits): ScipDocument {
  let [path, language, encoding, count] = ["", "", 0, 0];
  let rows = new Int32Array(64 * ROW);
  const names = new SymbolNames();
  const symbols: ScipSymbol[] = [];
  while (message.hasMore) {
    const tag = message.varint();
    switch (tag) {
      case 0x0a:
        path = message.text(limits.pathBytes);
        break;
      case 0x22:
        language = message.text(limits.pathBytes);
        break;
      case 0x30:
        encoding = message.varint();
        break;
      case 0x12: {
        if (count === limits.occurrences)
          message.fail(`a document has more than ${limits.occurrences} occurrences`);
        if ((count + 1) * ROW > rows.length) {
          const larger = new Int32Array(rows.length * 2);
          larger.set(rows);
          rows = larger;
        }
        if (readOccurrence(message.message(), rows.subarray(count * ROW), names, limits)) count++;
        break;
      }
      case 0x1a:
        symbols.push(readSymbol(message.message(), limits));
        break;
      default:
        message.skip(tag & 7);
    }
  }
  return {
    path,
    language,
    encoding: encodingOf(encoding),
    count,
    rows: rows.slice(0, count * ROW),
    names: names.names,
    symbols,
  };
}

/** Numbers symbols by their bytes. */
class SymbolNames {
  readonly names: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(bytes: Buffer): number {
    const key = bytes.toString("latin1");
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.names.length;
      this.names.push(bytes.toString("utf8"));
      this.#numbers.set(key, number);
    }
    return number;
  }
}

/**
 * Reads an occurrence into a row. Returns false if it names no symbol or has no range. Since SCIP 0.10, a range is a
 * message in field 8 (one line) or 9 (several lines), which replaces the list of numbers in field 1.
 */
function readOccurrence(
  message: Message,
  row: Int32Array,
  names: SymbolNames,
  { symbolBytes }: ScipLimits,
): boolean {
  const numbers: number[] = [];
  let range: readonly number[] | undefined;
  let [roles, symbol] = [0, -1];
  while (message.hasMore) {
    const tag = message.varint();
    switch (tag) {
      case 0x08:
        numbers.push(message.varint());
        break;
      case 0x0a: {
        const list = message.message();
        while (list.hasMore && numbers.length <= 4) numbers.push(list.varint());
        break;
      }
      case 0x12: {
        const end = message.fieldEnd();
        if (end - message.at > symbolBytes)
          message.fail(`a symbol is longer than ${symbolBytes} bytes`);
        const { buffer, byteOffset } = message.bytes;
        symbol = names.numberOf(Buffer.from(buffer, byteOffset + message.at, end - message.at));
        message.at = end;
        break;
      }
      case 0x18:
        roles = message.varint();
        break;
      case 0x42:
        range = readRange(message.message(), true);
        break;
      case 0x4a:
        range = readRange(message.message(), false);
        break;
      default:
        message.skip(tag & 7);
    }
  }
  if (symbol < 0) return false;
  if (!range && numbers.length !== 3 && numbers.length !== 4)
    message.fail("a range has neither three nor four numbers");
  const [line, column, ...rest] = range ?? numbers;
  const [endLine, endColumn] = rest.length === 1 ? [line, rest[0]] : rest;
  row.set([line!, column!, endLine!, endColumn!, roles, symbol]);
  return true;
}

function readRange(message: Message, isOneLine: boolean): number[] {
  const fields = [0, 0, 0, 0];
  while (message.hasMore) {
    const tag = message.varint();
    const field = (tag >> 3) - 1;
    if ((tag & 7) === VARINT && field < 4) fields[field] = message.varint();
    else message.skip(tag & 7);
  }
  return isOneLine ? fields.slice(0, 3) : fields;
}

export function readSymbol(message: Message, limits: ScipLimits): ScipSymbol {
  let [symbol, kind, displayName, enclosing, signature] = ["", 0, "", "", ""];
  const documentation: string[] = [];
  const relationships: ScipRelationship[] = [];
  while (message.hasMore) {
    const tag = message.varint();
    switch (tag) {
      case 0x0a:
        symbol = message.text(limits.symbolBytes);
        break;
      case 0x1a:
        documentation.push(message.text(limits.textBytes));
        break;
      case 0x22:
        relationships.push(readRelationship(message.message(), limits));
        break;
      case 0x28:
        kind = message.varint();
        break;
      case 0x32:
        displayName = message.text(limits.textBytes);
        break;
      case 0x3a:
        signature = readSignature(message.message(), limits);
        break;
      case 0x42:
        enclosing = message.text(limits.symbolBytes);
        break;
      default:
        message.skip(tag & 7);
    }
  }
  return { symbol, kind, displayName, enclosing, documentation, signature, relationships };
}

function readRelationship(message: Message, { symbolBytes }: ScipLimits): ScipRelationship {
  let symbol = "";
  const flags = [false, false, false, false];
  while (message.hasMore) {
    const tag = message.varint();
    const flag = (tag >> 3) - 2;
    if (tag === 0x0a) symbol = message.text(symbolBytes);
    else if ((tag & 7) === VARINT && flag < 4) flags[flag] = message.varint() !== 0;
    else message.skip(tag & 7);
  }
  const [isReference, isImplementation, isTypeDefinition, isDefinition] = flags as [
    boolean,
    boolean,
    boolean,
    boolean,
  ];
  return { symbol, isReference, isImplementation, isTypeDefinition, isDefinition };
}

/** The signature is a document, of which only the text is read. */
function readSignature(message: Message, { textBytes }: ScipLimits): string {
  let text = "";
  while (message.hasMore) {
    const tag = message.varint();
    if (tag === 0x2a) text = message.text(textBytes);
    else message.skip(tag & 7);
  }
  return text;
}
