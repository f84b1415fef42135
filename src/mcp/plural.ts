/** Writes counts with their nouns. */

export const grouped = (count: number): string =>
  count.toLocaleString("en-US").replaceAll(",", " ");

export const plural = (count: number, word: string, many = `${word}s`): string =>
  `${grouped(count)} ${count === 1 ? word : many}`;
