/** The order of names, paths and ids as text: by UTF-16 code units, the same on every machine. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
