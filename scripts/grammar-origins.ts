/**
 * Says where the grammars come from that quern uses. The packages of compiled grammars have only a licence of their own,
 * so the repositories and licences of the grammars are listed here, by the name of the compiled file.
 */

export interface Origin {
  readonly repository: string;
  /** The SPDX identifier of the licence. */
  readonly license: "MIT" | "Apache-2.0" | "CC0-1.0" | "BSD-3-Clause";
  /** The copyright notice of the licence's file. The licences without it do not demand one. */
  readonly copyright?: string;
}

const MIT = "MIT" as const;
const APACHE = "Apache-2.0" as const;

const of = (repository: string, license: Origin["license"], copyright?: string): Origin => ({
  repository: `https://github.com/${repository}`,
  license,
  ...(copyright !== undefined && { copyright: `Copyright (c) ${copyright}` }),
});

export const ORIGINS: Readonly<Record<string, Origin>> = {
  "re2.wasm": of("google/re2", "BSD-3-Clause", "The RE2 Authors"),
  "tree-sitter.wasm": of("tree-sitter/tree-sitter", MIT, "2018-2024 Max Brunsfeld"),
  "tree-sitter-bash.wasm": of("tree-sitter/tree-sitter-bash", MIT, "2017 Max Brunsfeld"),
  "tree-sitter-c-sharp.wasm": of(
    "tree-sitter/tree-sitter-c-sharp",
    MIT,
    "2014-2023 Max Brunsfeld, Damien Guard, Amaan Qureshi, and contributors",
  ),
  "tree-sitter-c.wasm": of("tree-sitter/tree-sitter-c", MIT, "2014 Max Brunsfeld"),
  "tree-sitter-clojure.wasm": of("sogaiu/tree-sitter-clojure", "CC0-1.0"),
  "tree-sitter-cpp.wasm": of("tree-sitter/tree-sitter-cpp", MIT, "2014 Max Brunsfeld"),
  "tree-sitter-css.wasm": of("tree-sitter/tree-sitter-css", MIT, "2018 Max Brunsfeld"),
  "tree-sitter-dart.wasm": of(
    "UserNobody14/tree-sitter-dart",
    MIT,
    "2020-2023 UserNobody14 and others",
  ),
  "tree-sitter-elisp.wasm": of("Wilfred/tree-sitter-elisp", MIT, "2021 Wilfred Hughes"),
  "tree-sitter-elixir.wasm": of(
    "elixir-lang/tree-sitter-elixir",
    APACHE,
    "2018-2021 Max Brunsfeld, Copyright 2021 The Elixir Team",
  ),
  "tree-sitter-elm.wasm": of("elm-tooling/tree-sitter-elm", MIT, "2018 Kolja Lampe"),
  "tree-sitter-gdscript.wasm": of("PrestonKnopp/tree-sitter-gdscript", MIT, "2016 Max Brunsfeld"),
  "tree-sitter-gleam.wasm": of("gleam-lang/tree-sitter-gleam", APACHE),
  "tree-sitter-go.wasm": of("tree-sitter/tree-sitter-go", MIT, "2014 Max Brunsfeld"),
  "tree-sitter-haskell.wasm": of("tree-sitter/tree-sitter-haskell", MIT, "2014 Max Brunsfeld"),
  "tree-sitter-hcl.wasm": of("tree-sitter-grammars/tree-sitter-hcl", APACHE),
  "tree-sitter-ini.wasm": of("justinmk/tree-sitter-ini", APACHE),
  "tree-sitter-java.wasm": of("tree-sitter/tree-sitter-java", MIT, "2017 Ayman Nadeem"),
  "tree-sitter-javascript.wasm": of(
    "tree-sitter/tree-sitter-javascript",
    MIT,
    "2014 Max Brunsfeld",
  ),
  "tree-sitter-json.wasm": of("tree-sitter/tree-sitter-json", MIT, "2014 Max Brunsfeld"),
  "tree-sitter-kotlin.wasm": of(
    "fwcd/tree-sitter-kotlin",
    MIT,
    "2018-2021 Max Brunsfeld, Copyright (c) 2021 fwcd",
  ),
  "tree-sitter-lua.wasm": of("tree-sitter-grammars/tree-sitter-lua", MIT, "2021 Munif Tanjim"),
  "tree-sitter-markdown.wasm": of(
    "tree-sitter-grammars/tree-sitter-markdown",
    MIT,
    "2021 Matthias Deiml",
  ),
  "tree-sitter-nix.wasm": of("nix-community/tree-sitter-nix", MIT, "2019 Charles Strahan"),
  "tree-sitter-objc.wasm": of("tree-sitter-grammars/tree-sitter-objc", MIT, "2023 Amaan Qureshi"),
  "tree-sitter-ocaml.wasm": of(
    "tree-sitter/tree-sitter-ocaml",
    MIT,
    "2020 Max Brunsfeld and Pieter Goetschalckx",
  ),
  "tree-sitter-perl.wasm": of("ganezdragon/tree-sitter-perl", MIT, "2020 Ganesan"),
  "tree-sitter-php.wasm": of(
    "tree-sitter/tree-sitter-php",
    MIT,
    "2017 Josh Vera, GitHub, Copyright (c) 2019 Max Brunsfeld, Amaan Qureshi, Christian Frøystad, Caleb White",
  ),
  "tree-sitter-powershell.wasm": of("airbus-cert/tree-sitter-powershell", MIT, "2023 Airbus CERT"),
  "tree-sitter-properties.wasm": of(
    "tree-sitter-grammars/tree-sitter-properties",
    MIT,
    "2023 ObserverOfTime",
  ),
  "tree-sitter-python.wasm": of("tree-sitter/tree-sitter-python", MIT, "2016 Max Brunsfeld"),
  "tree-sitter-r.wasm": of("r-lib/tree-sitter-r", MIT, "2024 tree-sitter-r authors"),
  "tree-sitter-rescript.wasm": of(
    "rescript-lang/tree-sitter-rescript",
    MIT,
    "2021 Victor Nakoryakov",
  ),
  "tree-sitter-ruby.wasm": of("tree-sitter/tree-sitter-ruby", MIT, "2016 Rob Rix"),
  "tree-sitter-rust.wasm": of("tree-sitter/tree-sitter-rust", MIT, "2017 Maxim Sokolov"),
  "tree-sitter-scala.wasm": of(
    "tree-sitter/tree-sitter-scala",
    MIT,
    "2018 Max Brunsfeld and GitHub",
  ),
  "tree-sitter-solidity.wasm": of("JoranHonig/tree-sitter-solidity", MIT, "2020 Joran Honig"),
  "tree-sitter-swift.wasm": of("alex-pinkus/tree-sitter-swift", MIT, "2021 alex-pinkus"),
  "tree-sitter-toml.wasm": of("ikatyang/tree-sitter-toml", MIT, "Ika"),
  "tree-sitter-tsx.wasm": of("tree-sitter/tree-sitter-typescript", MIT, "2017 Max Brunsfeld"),
  "tree-sitter-typescript.wasm": of(
    "tree-sitter/tree-sitter-typescript",
    MIT,
    "2017 Max Brunsfeld",
  ),
  "tree-sitter-yaml.wasm": of(
    "tree-sitter-grammars/tree-sitter-yaml",
    MIT,
    "2024 tree-sitter-grammars contributors, Copyright (c) 2019-2021 Ika",
  ),
  "tree-sitter-zig.wasm": of("tree-sitter-grammars/tree-sitter-zig", MIT, "2024 Amaan Qureshi"),
};
