/**
 * Bounds JSON before it is parsed. What JSON.parse() takes depends on how many values a text holds, not on how long it
 * is: a megabyte of one string takes a millisecond, one of nested lists 50 to 125, in which a host's event loop
 * stands still. Counting reads bytes only, in slices, and takes some 2 ms a megabyte.
 */

import type { Pause } from "./yield.ts";

/** Lists and objects within each other. */
export const JSON_DEPTH = 64;
/** Lists, objects, and fields of objects, together, unless said otherwise. JSON.parse() takes up to 3 ms for so many. */
export const JSON_VALUES = 20_000;
/** Items of lists, unless said otherwise: ten times as quick, and a long list of paths is nothing odd. */
export const JSON_ITEMS = 100_000;

const BYTES_A_STEP = 64 * 1024; // 0.2 ms

/**
 * Resolves to what is too much in the text, in words; undefined: it may be parsed. Whether it is JSON is left to the parser.
 */
export async function beyondJsonShape(
  json: Uint8Array,
  {
    pause,
    mostValues = JSON_VALUES,
    mostItems = JSON_ITEMS,
  }: { readonly pause: Pause; readonly mostValues?: number; readonly mostItems?: number },
): Promise<string | undefined> {
  const counted: Counted = {
    mostValues,
    mostItems,
    isList: [false],
    values: 0,
    items: 0,
    isInText: false,
    isEscaped: false,
  };
  for (let from = 0; from < json.length; from += BYTES_A_STEP) {
    const beyond = count(json.subarray(from, from + BYTES_A_STEP), counted);
    if (beyond !== undefined) return beyond;
    await pause();
  }
  return undefined;
}

interface Counted {
  readonly mostValues: number;
  readonly mostItems: number;
  /** Whether each of the lists and objects around is a list, behind one for none. */
  readonly isList: boolean[];
  values: number;
  items: number;
  isInText: boolean;
  /** Whether a backslash stands before. */
  isEscaped: boolean;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

function count(bytes: Uint8Array, counted: Counted): string | undefined {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (counted.isInText) {
      if (counted.isEscaped) counted.isEscaped = false;
      else if (byte === BACKSLASH) counted.isEscaped = true;
      else if (byte === QUOTE) counted.isInText = false;
    } else if (byte === QUOTE) counted.isInText = true;
    else if (byte === LIST || byte === OBJECT) {
      counted.values++;
      if (counted.isList.push(byte === LIST) > JSON_DEPTH + 1)
        return `lists and objects lie more than ${JSON_DEPTH} deep in each other`;
    } else if (byte === LIST_END || byte === OBJECT_END) counted.isList.pop();
    else if (byte === COMMA && counted.isList.at(-1) === true) counted.items++;
    else if (byte === COMMA) counted.values++;
    if (counted.values > counted.mostValues)
      return `it holds more than ${counted.mostValues} lists, objects and fields`;
    if (counted.items > counted.mostItems)
      return `its lists hold more than ${counted.mostItems} items`;
  }
  return undefined;
}
