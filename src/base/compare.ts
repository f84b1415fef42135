/** Compares names, paths and ids by UTF-16 code units, which gives the same order in every locale. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
