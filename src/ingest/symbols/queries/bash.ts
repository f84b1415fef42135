import type { LanguageQuery } from "./shared/language.ts";

export const bash: LanguageQuery = {
  names: ["Shell"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm",
  revision: 1,
  query: `
    (function_definition name: (word) @function) @scope
    (declaration_command "readonly" (variable_assignment name: (variable_name) @constant))
    (declaration_command (variable_assignment name: (variable_name) @variable))
    (variable_assignment name: (variable_name) @variable)
    (c_style_for_statement) @local
    (command (variable_assignment)) @hidden
  `,
};
