import type { LanguageQuery } from "./shared/language.ts";

export const clojure: LanguageQuery = {
  names: ["Clojure"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-clojure.wasm",
  revision: 1,
  keywords: {
    ns: "namespace",
    def: "variable",
    defonce: "variable",
    defn: "function",
    "defn-": "function",
    defmacro: "macro",
    defmulti: "function",
    defmethod: "method",
    defprotocol: "protocol",
    definterface: "interface",
    defrecord: "record",
    deftype: "class",
    deftest: "function",
  },
  // protocols, interfaces, records and classes contain methods; the query captures a method with the kind of the form
  // around it
  members: [
    ["protocol", "method"],
    ["interface", "method"],
    ["record", "method"],
    ["class", "method"],
  ],
  query: `
    (dis_expr) @hidden
    (list_lit . (sym_lit name: (sym_name) @keyword) . (sym_lit name: (sym_name) @other)) @scope
    (list_lit . (sym_lit name: (sym_name) @keyword) (list_lit . (sym_lit name: (sym_name) @protocol) . (vec_lit)))
    (list_lit . (sym_lit name: (sym_name) @keyword) (list_lit . (sym_lit name: (sym_name) @interface) . (vec_lit)))
    (list_lit . (sym_lit name: (sym_name) @keyword) (list_lit . (sym_lit name: (sym_name) @record) . (vec_lit)))
    (list_lit . (sym_lit name: (sym_name) @keyword) (list_lit . (sym_lit name: (sym_name) @class) . (vec_lit)))
  `,
};
