/**
 * Loads grammars for syntax highlighting, by the names of languages in GitHub Linguist. Each grammar is a separate
 * file of code, which is loaded when a text in its language is first shown. Texts in other languages are shown
 * without colours.
 */

import type { StreamParser } from "@codemirror/language";
import type { LRParser } from "@lezer/lr";

/** A grammar is either a parser, or a function that reads one token after another. */
export type Grammar =
  | { kind: "parser"; parser: LRParser }
  | { kind: "stream"; mode: StreamParser<unknown> };

type Load = () => Promise<Grammar>;

const lr = (load: () => Promise<LRParser>): Load => {
  return async () => ({ kind: "parser", parser: await load() });
};
const stream = (load: () => Promise<StreamParser<unknown>>): Load => {
  return async () => ({ kind: "stream", mode: await load() });
};

const clike = () => import("@codemirror/legacy-modes/mode/clike");
const javascript = () => import("@lezer/javascript").then(({ parser }) => parser);
const ml = () => import("@codemirror/legacy-modes/mode/mllike");
const css = () => import("@codemirror/legacy-modes/mode/css");

const LOADERS: Readonly<Record<string, Load>> = {
  JavaScript: lr(() => javascript().then((parser) => parser.configure({ dialect: "jsx" }))),
  TypeScript: lr(() => javascript().then((parser) => parser.configure({ dialect: "ts" }))),
  TSX: lr(() => javascript().then((parser) => parser.configure({ dialect: "ts jsx" }))),
  Python: lr(() => import("@lezer/python").then(({ parser }) => parser)),
  Rust: lr(() => import("@lezer/rust").then(({ parser }) => parser)),
  C: stream(() => clike().then((mode) => mode.c)),
  "C++": stream(() => clike().then((mode) => mode.cpp)),
  Java: stream(() => clike().then((mode) => mode.java)),
  Go: lr(() => import("@lezer/go").then(({ parser }) => parser)),
  PHP: lr(() => import("@lezer/php").then(({ parser }) => parser)),
  CSS: lr(() => import("@lezer/css").then(({ parser }) => parser)),
  JSON: lr(() => import("@lezer/json").then(({ parser }) => parser)),
  YAML: lr(() => import("@lezer/yaml").then(({ parser }) => parser)),
  "C#": stream(() => clike().then((mode) => mode.csharp)),
  "Objective-C": stream(() => clike().then((mode) => mode.objectiveC)),
  Kotlin: stream(() => clike().then((mode) => mode.kotlin)),
  Scala: stream(() => clike().then((mode) => mode.scala)),
  Dart: stream(() => clike().then((mode) => mode.dart)),
  GLSL: stream(() => clike().then((mode) => mode.shader)),
  Less: stream(() => css().then((mode) => mode.less)),
  SCSS: stream(() => css().then((mode) => mode.sCSS)),
  OCaml: stream(() => ml().then((mode) => mode.oCaml)),
  "F#": stream(() => ml().then((mode) => mode.fSharp)),
  HTML: stream(() => import("@codemirror/legacy-modes/mode/xml").then((mode) => mode.html)),
  XML: stream(() => import("@codemirror/legacy-modes/mode/xml").then((mode) => mode.xml)),
  SVG: stream(() => import("@codemirror/legacy-modes/mode/xml").then((mode) => mode.xml)),
  Vue: stream(() => import("@codemirror/legacy-modes/mode/xml").then((mode) => mode.html)),
  Svelte: stream(() => import("@codemirror/legacy-modes/mode/xml").then((mode) => mode.html)),
  Ruby: stream(() => import("@codemirror/legacy-modes/mode/ruby").then((mode) => mode.ruby)),
  Shell: stream(() => import("@codemirror/legacy-modes/mode/shell").then((mode) => mode.shell)),
  Swift: stream(() => import("@codemirror/legacy-modes/mode/swift").then((mode) => mode.swift)),
  Lua: stream(() => import("@codemirror/legacy-modes/mode/lua").then((mode) => mode.lua)),
  Perl: stream(() => import("@codemirror/legacy-modes/mode/perl").then((mode) => mode.perl)),
  R: stream(() => import("@codemirror/legacy-modes/mode/r").then((mode) => mode.r)),
  Haskell: stream(() =>
    import("@codemirror/legacy-modes/mode/haskell").then((mode) => mode.haskell),
  ),
  Clojure: stream(() =>
    import("@codemirror/legacy-modes/mode/clojure").then((mode) => mode.clojure),
  ),
  Elm: stream(() => import("@codemirror/legacy-modes/mode/elm").then((mode) => mode.elm)),
  Erlang: stream(() => import("@codemirror/legacy-modes/mode/erlang").then((mode) => mode.erlang)),
  Julia: stream(() => import("@codemirror/legacy-modes/mode/julia").then((mode) => mode.julia)),
  Groovy: stream(() => import("@codemirror/legacy-modes/mode/groovy").then((mode) => mode.groovy)),
  PowerShell: stream(() =>
    import("@codemirror/legacy-modes/mode/powershell").then((mode) => mode.powerShell),
  ),
  SQL: stream(() => import("@codemirror/legacy-modes/mode/sql").then((mode) => mode.standardSQL)),
  TOML: stream(() => import("@codemirror/legacy-modes/mode/toml").then((mode) => mode.toml)),
  INI: stream(() =>
    import("@codemirror/legacy-modes/mode/properties").then((mode) => mode.properties),
  ),
  Dockerfile: stream(() =>
    import("@codemirror/legacy-modes/mode/dockerfile").then((mode) => mode.dockerFile),
  ),
  CMake: stream(() => import("@codemirror/legacy-modes/mode/cmake").then((mode) => mode.cmake)),
  Diff: stream(() => import("@codemirror/legacy-modes/mode/diff").then((mode) => mode.diff)),
  "Protocol Buffer": stream(() =>
    import("@codemirror/legacy-modes/mode/protobuf").then((mode) => mode.protobuf),
  ),
  Nginx: stream(() => import("@codemirror/legacy-modes/mode/nginx").then((mode) => mode.nginx)),
  Fortran: stream(() =>
    import("@codemirror/legacy-modes/mode/fortran").then((mode) => mode.fortran),
  ),
  Pascal: stream(() => import("@codemirror/legacy-modes/mode/pascal").then((mode) => mode.pascal)),
  Scheme: stream(() => import("@codemirror/legacy-modes/mode/scheme").then((mode) => mode.scheme)),
  "Common Lisp": stream(() =>
    import("@codemirror/legacy-modes/mode/commonlisp").then((mode) => mode.commonLisp),
  ),
  Tcl: stream(() => import("@codemirror/legacy-modes/mode/tcl").then((mode) => mode.tcl)),
  TeX: stream(() => import("@codemirror/legacy-modes/mode/stex").then((mode) => mode.stex)),
  WebAssembly: stream(() => import("@codemirror/legacy-modes/mode/wast").then((mode) => mode.wast)),
  Verilog: stream(() =>
    import("@codemirror/legacy-modes/mode/verilog").then((mode) => mode.verilog),
  ),
  VHDL: stream(() => import("@codemirror/legacy-modes/mode/vhdl").then((mode) => mode.vhdl)),
};

const ALIASES: Readonly<Record<string, string>> = {
  JSX: "JavaScript",
  "JSON with Comments": "JavaScript",
  JSON5: "JavaScript",
  Starlark: "Python",
  HCL: "Ruby",
  Batchfile: "PowerShell",
  Solidity: "JavaScript",
  Zig: "Rust",
  Elixir: "Ruby",
  Crystal: "Ruby",
};

/** Resolves to the grammar of a language, or to undefined if there is none or it could not be loaded. */
export async function grammarFor(language: string): Promise<Grammar | undefined> {
  const name = ALIASES[language] ?? language;
  const load = Object.hasOwn(LOADERS, name) ? LOADERS[name] : undefined;
  try {
    return await load?.();
  } catch {
    return undefined; // a text without colours is better than no text
  }
}
