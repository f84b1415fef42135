import { cCuts } from "../c-cuts.ts";
import type { LanguageQuery } from "../language.ts";
import { C_FAMILY } from "./shared/c-family.ts";

export const c: LanguageQuery = {
  names: ["C"],
  grammar: "@repomix/tree-sitter-wasms/out/tree-sitter-c.wasm",
  revision: 1,
  cuts: cCuts,
  query: C_FAMILY,
};
