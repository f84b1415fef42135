/** Counts in words. */

const number = (count: number): string => count.toLocaleString("en-US").replaceAll(",", " ");

export const plural = (count: number, word: string, many = `${word}s`): string =>
  `${number(count)} ${count === 1 ? word : many}`;
