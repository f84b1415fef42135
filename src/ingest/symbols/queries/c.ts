import { cCuts } from "./shared/c-cuts.ts";
import type { LanguageQuery } from "./shared/language.ts";
import {
  C_FAMILY,
  C_FAMILY_REWORDINGS,
  NO_KEYWORD,
  STANDARD_ATTRIBUTES,
} from "./shared/c-family.ts";

export const c: LanguageQuery = {
  names: ["C"],
  grammar: "@repomix/tree-sitter-wasms/out/tree-sitter-c.wasm",
  revision: 3,
  accept: [NO_KEYWORD],
  cuts: cCuts,
  rewordings: [
    ...C_FAMILY_REWORDINGS,
    STANDARD_ATTRIBUTES,
    { word: "auto ", newer: /\bauto(?= \w{1,99} ?=)/g, older: () => "int" },
    { word: "BitInt(", newer: /\b_BitInt\([^()\n]{1,99}\)/g, older: () => "int" },
    { word: "hread_local", newer: /\b(?:_T|t)hread_local\b/g, older: () => "static" },
    { word: "Complex", newer: /\b_Complex\b/g },
  ],
  query: C_FAMILY,
};
