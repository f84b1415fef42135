import type { LanguageQuery } from "./shared/language.ts";

export const emacsLisp: LanguageQuery = {
  names: ["Emacs Lisp"],
  grammar: "tree-sitter-wasms/out/tree-sitter-elisp.wasm",
  revision: 1,
  keywords: {
    defcustom: "variable",
    defgroup: "other",
    defface: "other",
    "define-minor-mode": "function",
    "cl-defun": "function",
    "cl-defgeneric": "function",
    "cl-defmethod": "method",
    "cl-defmacro": "macro",
    "cl-defstruct": "struct",
    "define-derived-mode": "function",
    "define-globalized-minor-mode": "function",
    "ert-deftest": "function",
  },
  query: `
    (function_definition name: (symbol) @function) @scope
    (macro_definition name: (symbol) @macro) @scope
    (special_form "defconst" . (symbol) @constant)
    (special_form "defvar" . (symbol) @variable)
    (list . (symbol) @keyword . (symbol) @other)
  `,
};
