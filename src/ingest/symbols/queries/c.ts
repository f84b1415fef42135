import { cCuts } from "./shared/c-cuts.ts";
import type { LanguageQuery } from "./shared/language.ts";
import { cRewordings } from "./shared/newer-syntax.ts";
import { C_FAMILY, NO_KEYWORD } from "./shared/c-family.ts";

export const c: LanguageQuery = {
  names: ["C"],
  grammar: "@repomix/tree-sitter-wasms/out/tree-sitter-c.wasm",
  revision: 3,
  accept: [NO_KEYWORD],
  cuts: cCuts,
  rewordings: cRewordings,
  query: C_FAMILY,
};
