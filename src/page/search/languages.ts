/**
 * The names of the languages that the search box suggests, as in GitHub Linguist. A query may also name other
 * languages.
 */
export const LANGUAGES: readonly string[] =
  `ABAP Ada Assembly Astro Batchfile C C# C++ Clojure CMake CoffeeScript CSS CSV CUE Dart Dockerfile D Elixir Elm
Erlang F# Fortran GDScript Gleam Go GraphQL Groovy Haskell HCL HTML INI Java JavaScript JSON Julia Kotlin Less Lua
Makefile Markdown MATLAB Nim Nix Objective-C OCaml Pascal Perl PHP PowerShell Prolog Protocol_Buffer Python R Racket
ReScript Ruby Rust Sass Scala Scheme SCSS Shell Solidity SQL Svelte Swift Tcl TeX Text TOML TSX TypeScript VHDL
Verilog Vim_Script Vue WebAssembly XML YAML Zig`
    .split(/\s+/)
    .map((name) => name.replace("_", " "));
