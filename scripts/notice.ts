/**
 * Writes NOTICE, which lists everything of others that the package contains or loads, with the licences:
 * `npx tsx scripts/notice.ts`. The grammars and RE2 are those of src/base/wasm-modules.ts, the parts of the page are those
 * that the build bundles, and the libraries are the dependencies of package.json.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { WASM_MODULES } from "../src/base/wasm-modules.ts";
import { ORIGINS } from "./grammar-origins.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const TARGET = join(root, "NOTICE");
/** Packages from which the build takes tables instead of code. */
const TABLES = ["gpt-tokenizer", "linguist-languages"];

interface Manifest {
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");
const manifestOf = (name: string): Manifest =>
  JSON.parse(read("node_modules", name, "package.json")) as Manifest;

/** Returns the text of a package's licence, or "" if the package does not contain it. */
function licenseOf(name: string): string {
  const folder = join(root, "node_modules", name);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  return file === undefined ? "" : read("node_modules", name, file).trim();
}

const copyrightsIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^copyright (?:\(c\)|©|\d)/i.test(line));

/** Returns the packages that the build bundles into the page. */
async function bundledPackages(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [join(root, "src/page/main.tsx")],
    absWorkingDir: root,
    outdir: "unused",
    bundle: true,
    splitting: true,
    format: "esm",
    loader: { ".shadow.css": "text" },
    jsx: "automatic",
    jsxImportSource: "preact",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const names = Object.keys(metafile.inputs).map(
    (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

const heading = (title: string): string => `\n${title}\n${"=".repeat(title.length)}\n\n`;

function moduleLines(): string {
  return Object.entries(WASM_MODULES)
    .map(([specifier, { package: from, version, repository, license }]) => {
      const { copyright } = ORIGINS[basename(specifier)]!;
      if (copyright === undefined && /^(?:MIT|BSD)/.test(license))
        throw new Error(`${specifier}: add the copyright notice, which ${license} demands`);
      const lines = [`${repository}, ${license}`, copyright, `compiled by ${from} ${version}`];
      const shown = lines.filter((line) => line !== undefined).map((line) => `  ${line}\n`);
      return `${basename(specifier)}\n${shown.join("")}`;
    })
    .join("");
}

function packageLines(name: string): string {
  const { license = "see its file" } = manifestOf(name);
  const copyrights = copyrightsIn(licenseOf(name)).map((line) => `  ${line}\n`);
  return `${name}, ${license}\n${copyrights.join("")}`;
}

/** Returns the text of NOTICE for the packages that are installed. */
export async function noticeText(): Promise<string> {
  const own = JSON.parse(read("package.json")) as Manifest;
  const bundled = [...(await bundledPackages()), ...TABLES];
  for (const name of bundled)
    if (manifestOf(name).license !== "MIT" || copyrightsIn(licenseOf(name)).length === 0)
      throw new Error(`${name} is not under MIT, or names no author: add its licence here`);
  const mit = licenseOf("web-tree-sitter").replace(
    /^Copyright .*\n/m,
    "Copyright (c) <see above>\n",
  );
  return `quern
Licensed under the Apache License, Version 2.0, whose text is in the file LICENSE.

This package contains or loads works of others. Written by scripts/notice.ts.
${heading("WebAssembly modules in this package")}${moduleLines()}
The packages that have compiled the grammars are in the public domain (the Unlicense), except @vscode/tree-sitter-wasm,
which is under MIT, Copyright (c) Microsoft Corporation. re2-wasm, which has compiled RE2, is under the Apache License,
Version 2.0.
${heading("Code and tables of others in this package")}${bundled.map(packageLines).join("")}${heading("Libraries that are installed with this package")}${Object.keys(own.dependencies!).map(packageLines).join("")}
The licence of each library is in its folder or its package.json.
${heading("The MIT License")}${mit}
${heading("The licence of RE2 (BSD-3-Clause)")}${RE2_LICENSE}
${heading("CC0 1.0")}The author has waived all rights to the work: https://creativecommons.org/publicdomain/zero/1.0/

The text of the Apache License, Version 2.0, is in the file LICENSE.
`;
}

const RE2_LICENSE = `Copyright (c) The RE2 Authors. All rights reserved.

Redistribution and use in source and binary forms, with or without
modification, are permitted provided that the following conditions are
met:

   * Redistributions of source code must retain the above copyright
notice, this list of conditions and the following disclaimer.
   * Redistributions in binary form must reproduce the above
copyright notice, this list of conditions and the following disclaimer
in the documentation and/or other materials provided with the
distribution.
   * Neither the name of Google Inc. nor the names of its
contributors may be used to endorse or promote products derived from
this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS
"AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR
A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT
LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY
THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
(INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TARGET, await noticeText());
