import { expect, test } from "vitest";
import { languageNamed } from "../../src/base/languages.ts";
import {
  FILENAME_OWNERS,
  HINTS,
  INTERPRETER_OWNERS,
  languageOf,
  OWNERS,
} from "../../src/ingest/classification/languages.ts";
import { SLOWNESS } from "../slowness.ts";
import { leastWork } from "./least-work.ts";

/** Milliseconds of processor time for one text. Without a limit, blank lines take 34. */
const MOST_MS = 6 * SLOWNESS;

test.each<[string, string, string]>([
  ["src/a.ts", "", "TypeScript"],
  ["a.ts", '<?xml version="1.0"?><TS version="2.1">', "XML"],
  ["a.tsx", "", "TSX"],
  ["a.d.ts", "", "TypeScript"],
  ["a.mjs", "", "JavaScript"],
  ["a.JS", "", "JavaScript"],
  ["a.c", "", "C"],
  ["a.h", "#include <stdio.h>\nstruct s { int class_of; };", "C"],
  ["a.h", "", "C"],
  ["a.h", "namespace x {\n", "C++"],
  ["a.h", "int x;\nstd::string y;", "C++"],
  ["a.h", "template <class T>\n", "C++"],
  ["a.h", "#import <Foundation/Foundation.h>\n@interface A\n@end", "Objective-C"],
  ["a.hpp", "", "C++"],
  ["a.m", "#import <x.h>\n@implementation A\n@end\n", "Objective-C"],
  ["a.m", "function y = f(x)\n% comment\ny = [1 2];\nend\n", "MATLAB"],
  ["a.m", '(* ::Package:: *)\nBeginPackage["x`"]', "Wolfram Language"],
  ["a.m", "", "Objective-C"],
  ["a.mm", "", "Objective-C++"],
  ["a.pl", "use strict;\nmy $x = 1;", "Perl"],
  ["a.pl", "parent(a, b).\nx(Y) :- z(Y).\n", "Prolog"],
  ["a.pl", "", "Perl"],
  ["a.pm", "use v6;\n", "Raku"],
  ["a.r", "x <- 1", "R"],
  ["a.R", "x <- 1", "R"],
  ["a.v", "module m(input a);\nendmodule", "Verilog"],
  ["a.v", "Theorem x : y.\nProof.", "Rocq Prover"],
  ["a.v", "fn main() {\n}", "V"],
  ["a.cs", "class A {}", "C#"],
  ["a.fs", "let x = 1", "F#"],
  ["a.fs", "#version 330\nvoid main() {}", "GLSL"],
  ["a.rs", "fn main() {}", "Rust"],
  ["a.sql", "", "SQL"],
  ["a.md", "# x", "Markdown"],
  ["a.php", "<?php", "PHP"],
  ["a.php", "<?hh", "Hack"],
  ["a.inc", "<?php", "PHP"],
  ["a.yml", "", "YAML"],
  ["a.json", "", "JSON"],
  ["a.html", "", "HTML"],
  ["a.S", "", "Assembly"],
  ["a.ex", "", "Elixir"],
  ["a.pp", "unit x;\ninterface", "Pascal"],
  ["a.pp", "class x {}", "Puppet"],
  ["x/build.gradle.kts", "", "Gradle Kotlin DSL"],
  ["CMakeLists.txt", "", "CMake"],
  ["a.txt", "", "Text"],
  ["x/Makefile", "", "Makefile"],
  ["Dockerfile", "", "Dockerfile"],
  [".gitignore", "", "Ignore List"],
  ["package-lock.json", "", "JSON"],
  ["go.mod", "", "Go Module"],
  ["run", "#!/bin/sh\n", "Shell"],
  ["run", "#!/usr/bin/env python3\n", "Python"],
  ["run", "#! /usr/bin/env -S node --no-warnings\n", "JavaScript"],
  ["run", "#!/usr/bin/env A=1 B= /opt/perl5.30\n", "Perl"],
  ["run", "#!/usr/bin/python3.11 -u\r\n", "Python"],
  ["run", "#!/usr/local/bin/bash", "Shell"],
  ["run", "\ufeff#!/bin/sh\n", ""],
  ["run", "#!/usr/bin/env\n", ""],
  ["run", "#!\n", ""],
  ["run", "#", ""],
  ["run", "", ""],
  ["data", '<?xml version="1.0"?>\n<a/>', "XML"],
  ["a.unknown-thing", "text", ""],
  ["a.constructor", "", ""],
  [".bashrc", "", "Shell"],
  [".c", "", ""],
  ["a.", "", ""],
  ["x.c/noext", "", ""],
])("%s holding %j is %s", (path, text, want) => {
  expect(languageOf(path, new TextEncoder().encode(text))).toBe(want);
});

test("every language that a rule names is in the table", () => {
  const owners = [OWNERS, INTERPRETER_OWNERS, FILENAME_OWNERS].flatMap((one) => Object.values(one));
  const hinted = Object.values(HINTS).flatMap((hints) => hints.map(([language]) => language));
  const named = [...owners, ...hinted];
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((name) => languageNamed(name) !== name)).toEqual([]);
});

test("no rule takes long for 4 KiB of any text", () => {
  const extensions = ["h", "m", "v", "pl", "cls", "inc", "pro", "d", "t", "cs", "fs", "pp", "x"];
  const texts = [" ", "\n", "a", "\t\n", "@", "class ", "x = ", ":", "^", "(", "a.b "].map((unit) =>
    unit.repeat(4096),
  );
  const bytes = texts.map((text) => new TextEncoder().encode(text));
  const slow = extensions.flatMap((extension) =>
    bytes.flatMap((text, at) => {
      const ms = leastWork(() => languageOf(`a.${extension}`, text));
      return ms < MOST_MS
        ? []
        : [`${extension}, ${JSON.stringify(texts[at]!.slice(0, 8))}: ${ms} ms`];
    }),
  );
  expect(slow).toEqual([]);
});

test("a name of 4 KiB with a dot at every second place is looked up by its end", () => {
  const text = new Uint8Array(0);
  expect(leastWork(() => languageOf(`a${".c".repeat(2_000)}q`, text))).toBeLessThan(2 * SLOWNESS); // otherwise 5
  expect(languageOf(`a${".x".repeat(2_000)}.d.ts`, text)).toBe("TypeScript");
});
