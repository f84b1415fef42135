/** Returns the set of the words of a text, which are separated by blanks. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(" "));
