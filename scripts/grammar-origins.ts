/**
 * Says where the grammars come from that quern uses. The packages of compiled grammars have only a licence of their own,
 * so the repositories and licences of the grammars are listed here, by the name of the compiled file.
 */

export interface Origin {
  readonly repository: string;
  /** The SPDX identifier of the licence. */
  readonly license: "MIT" | "Apache-2.0" | "CC0-1.0" | "BSD-3-Clause";
  /** The copyright notice, if it is known. */
  readonly copyright?: string;
}

const MIT = "MIT" as const;
const APACHE = "Apache-2.0" as const;

const of = (repository: string, license: Origin["license"], copyright?: string): Origin => ({
  repository: `https://github.com/${repository}`,
  license,
  ...(copyright !== undefined && { copyright }),
});

export const ORIGINS: Readonly<Record<string, Origin>> = {
  "re2.wasm": of("google/re2", "BSD-3-Clause", "Copyright (c) The RE2 Authors"),
  "tree-sitter.wasm": of("tree-sitter/tree-sitter", MIT),
  "tree-sitter-bash.wasm": of("tree-sitter/tree-sitter-bash", MIT),
  "tree-sitter-c-sharp.wasm": of("tree-sitter/tree-sitter-c-sharp", MIT),
  "tree-sitter-c.wasm": of("tree-sitter/tree-sitter-c", MIT),
  "tree-sitter-clojure.wasm": of("sogaiu/tree-sitter-clojure", "CC0-1.0"),
  "tree-sitter-cpp.wasm": of("tree-sitter/tree-sitter-cpp", MIT),
  "tree-sitter-css.wasm": of("tree-sitter/tree-sitter-css", MIT),
  "tree-sitter-dart.wasm": of("UserNobody14/tree-sitter-dart", MIT),
  "tree-sitter-elisp.wasm": of("Wilfred/tree-sitter-elisp", MIT),
  "tree-sitter-elixir.wasm": of("elixir-lang/tree-sitter-elixir", APACHE),
  "tree-sitter-elm.wasm": of("elm-tooling/tree-sitter-elm", MIT),
  "tree-sitter-gdscript.wasm": of("PrestonKnopp/tree-sitter-gdscript", MIT),
  "tree-sitter-gleam.wasm": of("gleam-lang/tree-sitter-gleam", APACHE),
  "tree-sitter-go.wasm": of("tree-sitter/tree-sitter-go", MIT),
  "tree-sitter-haskell.wasm": of("tree-sitter/tree-sitter-haskell", MIT),
  "tree-sitter-hcl.wasm": of("tree-sitter-grammars/tree-sitter-hcl", APACHE),
  "tree-sitter-ini.wasm": of("justinmk/tree-sitter-ini", APACHE),
  "tree-sitter-java.wasm": of("tree-sitter/tree-sitter-java", MIT),
  "tree-sitter-javascript.wasm": of("tree-sitter/tree-sitter-javascript", MIT),
  "tree-sitter-json.wasm": of("tree-sitter/tree-sitter-json", MIT),
  "tree-sitter-kotlin.wasm": of(
    "fwcd/tree-sitter-kotlin",
    MIT,
    "Copyright (c) 2018-2021 Max Brunsfeld, Copyright (c) 2021 fwcd",
  ),
  "tree-sitter-lua.wasm": of("tree-sitter-grammars/tree-sitter-lua", MIT),
  "tree-sitter-markdown.wasm": of("tree-sitter-grammars/tree-sitter-markdown", MIT),
  "tree-sitter-nix.wasm": of("nix-community/tree-sitter-nix", MIT),
  "tree-sitter-objc.wasm": of("tree-sitter-grammars/tree-sitter-objc", MIT),
  "tree-sitter-ocaml.wasm": of("tree-sitter/tree-sitter-ocaml", MIT),
  "tree-sitter-perl.wasm": of("ganezdragon/tree-sitter-perl", MIT),
  "tree-sitter-php.wasm": of("tree-sitter/tree-sitter-php", MIT),
  "tree-sitter-powershell.wasm": of("airbus-cert/tree-sitter-powershell", MIT),
  "tree-sitter-properties.wasm": of("tree-sitter-grammars/tree-sitter-properties", MIT),
  "tree-sitter-python.wasm": of("tree-sitter/tree-sitter-python", MIT),
  "tree-sitter-r.wasm": of("r-lib/tree-sitter-r", MIT, "Copyright (c) 2024 tree-sitter-r authors"),
  "tree-sitter-rescript.wasm": of(
    "rescript-lang/tree-sitter-rescript",
    MIT,
    "Copyright (c) 2021 Victor Nakoryakov",
  ),
  "tree-sitter-ruby.wasm": of("tree-sitter/tree-sitter-ruby", MIT),
  "tree-sitter-rust.wasm": of("tree-sitter/tree-sitter-rust", MIT),
  "tree-sitter-scala.wasm": of("tree-sitter/tree-sitter-scala", MIT),
  "tree-sitter-solidity.wasm": of("JoranHonig/tree-sitter-solidity", MIT),
  "tree-sitter-swift.wasm": of("alex-pinkus/tree-sitter-swift", MIT),
  "tree-sitter-toml.wasm": of("ikatyang/tree-sitter-toml", MIT),
  "tree-sitter-tsx.wasm": of("tree-sitter/tree-sitter-typescript", MIT),
  "tree-sitter-typescript.wasm": of("tree-sitter/tree-sitter-typescript", MIT),
  "tree-sitter-yaml.wasm": of("tree-sitter-grammars/tree-sitter-yaml", MIT),
  "tree-sitter-zig.wasm": of("tree-sitter-grammars/tree-sitter-zig", MIT),
};
