/** Exports the functions that work in the memory that threads share. index.ts has all others. */

export { planLiteral } from "./plan";
export { searchLiteral } from "./search";
export { showLiteral } from "./show";
