/**
 * Checks that JSON does not contain too many values before it is parsed. The time that JSON.parse() takes depends on
 * the number of values rather than on the length. A megabyte that is a single string takes 1 ms, while a megabyte of
 * nested lists blocks the host's event loop for 50 to 125 ms. Counting the values reads only bytes, in slices, and
 * takes about 2 ms per megabyte.
 */

import type { Pause } from "./yield.ts";

/** The maximum nesting depth of lists and objects. */
export const JSON_DEPTH = 64;
/**
 * The default limit for the number of lists, objects and object fields together. For this number, JSON.parse() takes up
 * to 3 ms.
 */
export const JSON_VALUES = 20_000;
/**
 * The default limit for the number of list items. This limit is higher than JSON_VALUES, because items are parsed ten
 * times as fast, and long lists of paths are common.
 */
export const JSON_ITEMS = 100_000;

const BYTES_A_STEP = 64 * 1024; // takes 0.2 ms

/**
 * Resolves to a sentence that says which limit is exceeded, or to undefined if the text may be parsed. Does not check
 * that the text is valid JSON, because the parser checks it.
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
  /** For each enclosing list or object, whether it is a list. The first entry stands for the top level. */
  readonly isList: boolean[];
  values: number;
  items: number;
  isInText: boolean;
  /** Whether the next byte is escaped. */
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
        return `lists and objects are nested more than ${JSON_DEPTH} levels deep`;
    } else if (byte === LIST_END || byte === OBJECT_END) counted.isList.pop();
    else if (byte === COMMA && counted.isList.at(-1) === true) counted.items++;
    else if (byte === COMMA) counted.values++;
    if (counted.values > counted.mostValues)
      return `it has more than ${counted.mostValues} lists, objects and fields`;
    if (counted.items > counted.mostItems)
      return `its lists have more than ${counted.mostItems} items`;
  }
  return undefined;
}
