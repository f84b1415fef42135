/**
 * Lists all languages whose definitions quern can extract. To add a language, write its query as a file in
 * `queries/`, list the query here, and add a fixture.
 */

import { WASM_MODULES } from "../../base/wasm-modules.ts";
import { embeddedLanguages } from "./embedded.ts";
import type { LanguageQuery } from "./queries/shared/language.ts";
import { bash } from "./queries/bash.ts";
import { c } from "./queries/c.ts";
import { clojure } from "./queries/clojure.ts";
import { cpp } from "./queries/cpp.ts";
import { csharp } from "./queries/csharp.ts";
import { css } from "./queries/css.ts";
import { dart } from "./queries/dart.ts";
import { elixir } from "./queries/elixir.ts";
import { elm } from "./queries/elm.ts";
import { emacsLisp } from "./queries/emacs-lisp.ts";
import { gdscript } from "./queries/gdscript.ts";
import { gleam } from "./queries/gleam.ts";
import { go } from "./queries/go.ts";
import { haskell } from "./queries/haskell.ts";
import { hcl } from "./queries/hcl.ts";
import { ini } from "./queries/ini.ts";
import { java } from "./queries/java.ts";
import { javaProperties } from "./queries/java-properties.ts";
import { javascript } from "./queries/javascript.ts";
import { json } from "./queries/json.ts";
import { kotlin } from "./queries/kotlin.ts";
import { lua } from "./queries/lua.ts";
import { markdown } from "./queries/markdown.ts";
import { nix } from "./queries/nix.ts";
import { objectiveC } from "./queries/objective-c.ts";
import { ocaml } from "./queries/ocaml.ts";
import { perl } from "./queries/perl.ts";
import { php } from "./queries/php.ts";
import { powershell } from "./queries/powershell.ts";
import { python } from "./queries/python.ts";
import { r } from "./queries/r.ts";
import { rescript } from "./queries/rescript.ts";
import { ruby } from "./queries/ruby.ts";
import { rust } from "./queries/rust.ts";
import { scala } from "./queries/scala.ts";
import { solidity } from "./queries/solidity.ts";
import { swift } from "./queries/swift.ts";
import { toml } from "./queries/toml.ts";
import { tsx } from "./queries/tsx.ts";
import { typescript } from "./queries/typescript.ts";
import { yaml } from "./queries/yaml.ts";
import { zig } from "./queries/zig.ts";

export const LANGUAGE_QUERIES: readonly LanguageQuery[] = [
  bash,
  c,
  clojure,
  cpp,
  csharp,
  css,
  dart,
  elixir,
  elm,
  emacsLisp,
  gdscript,
  gleam,
  go,
  haskell,
  hcl,
  ini,
  java,
  javaProperties,
  javascript,
  json,
  kotlin,
  lua,
  markdown,
  nix,
  objectiveC,
  ocaml,
  perl,
  php,
  powershell,
  python,
  r,
  rescript,
  ruby,
  rust,
  scala,
  solidity,
  swift,
  toml,
  tsx,
  typescript,
  yaml,
  zig,
];

const BY_NAME = new Map(
  LANGUAGE_QUERIES.flatMap((query) => query.names.map((name) => [name, query] as const)),
);

export const languageQuery = (language: string): LanguageQuery | undefined => BY_NAME.get(language);

/**
 * Returns the version with which symbols of a language are stored, or undefined if quern has no query for the
 * language. The version changes when the grammar's package or quern's query changes, because the same content may
 * have other symbols after that.
 */
export function grammarVersion(language: string): string | undefined {
  if (!versions.has(language)) versions.set(language, versionOf(language));
  return versions.get(language);
}

/** The versions by language. They are cached, because the version is needed for every file. */
const versions = new Map<string, string | undefined>();

/**
 * The revision of the code outside `queries/`. Increase it when a change of that code alters the symbols that are
 * found.
 */
const EXTRACTOR_REVISION = 3;

function versionOf(language: string): string | undefined {
  const parts = (embeddedLanguages(language) ?? [language]).map((name) => {
    const query = languageQuery(name);
    if (!query) return undefined;
    const { package: origin, version } = WASM_MODULES[query.grammar]!;
    return `${origin}@${version}/${query.revision}`;
  });
  return parts.includes(undefined) ? undefined : [EXTRACTOR_REVISION, ...parts].join(",");
}
