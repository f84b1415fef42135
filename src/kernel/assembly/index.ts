/**
 * Exports the functions of the kernel. Every pointer is an address in the imported memory. No function allocates
 * memory.
 */

export { runAutomaton } from "./automaton";
export { scanTriples } from "./classes";
export { bestDefinition, namesAt } from "./definitions";
export { bestEdge } from "./edges";
export { addPage, clearGrams, copyList } from "./grams";
export { pagesWithAll } from "./lists";
export { foldPage, hasGram } from "./page-grams";
export { countBits, decodeGaps, encodeGaps } from "./postings";
export { readStemList, addWorths, addBlob, copyStemList, countStems, hashWords, scoreNames, splitWords } from "./words";
export { scanFolded, scanLiteral } from "./scan";
export { countNewlines, linesAround, stretchesWith } from "./text";
