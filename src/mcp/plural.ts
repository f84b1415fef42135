/** Writes counts with their nouns. */

/** Formats a count, such as `12 345`. Does not use toLocaleString(), whose first call in a process takes 30 ms. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, " ");

export const plural = (count: number, word: string, many = `${word}s`): string =>
  `${grouped(count)} ${count === 1 ? word : many}`;
