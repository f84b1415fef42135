/**
 * Finds the language of a file with the table of languages from GitHub Linguist. The tests are, in this order: the
 * file's name, its longest known extension, the interpreter in its first line, and an XML declaration. If several
 * languages share an extension, OWNERS names the usual one, and HINTS search the start of the file for signs of the
 * others. An extension that is not in OWNERS belongs to the first language, in alphabetical order, that lists it as
 * its first extension. If no language does, the extension belongs to the first language that lists it at all.
 *
 * For most files, finding the language takes less than 1 µs.
 */

import { allLanguages, type Language } from "../../base/languages.ts";

/** The number of bytes at the start of a file in which hints are searched. */
const HEAD_BYTES = 4096;

export const OWNERS: Readonly<Record<string, string>> = {
  ".1": "Roff",
  ".2": "Roff",
  ".3": "Roff",
  ".4": "Roff",
  ".5": "Roff",
  ".6": "Roff",
  ".7": "Roff",
  ".8": "Roff",
  ".9": "Roff",
  ".as": "ActionScript",
  ".asc": "AsciiDoc",
  ".asm": "Assembly",
  ".asy": "Asymptote",
  ".b": "Limbo",
  ".bas": "BASIC",
  ".bb": "BitBake",
  ".cairo": "Cairo",
  ".cake": "C#",
  ".cfg": "INI",
  ".cgi": "Perl",
  ".cl": "OpenCL",
  ".cls": "Apex",
  ".cp": "C++",
  ".cs": "C#",
  ".csl": "Kusto",
  ".cue": "CUE",
  ".d": "D",
  ".dsp": "Faust",
  ".e": "Eiffel",
  ".ecl": "ECL",
  ".es": "JavaScript",
  ".ex": "Elixir",
  ".f": "Fortran",
  ".fcgi": "Perl",
  ".for": "Fortran",
  ".fpp": "Fortran",
  ".fr": "Frege",
  ".frag": "GLSL",
  ".frm": "VBA",
  ".fs": "F#",
  ".ftl": "FreeMarker",
  ".fx": "HLSL",
  ".g": "GAP",
  ".gd": "GDScript",
  ".gml": "Game Maker Language",
  ".gs": "JavaScript",
  ".gst": "XML",
  ".gts": "Glimmer TS",
  ".h": "C",
  ".hh": "C++",
  ".html": "HTML",
  ".i": "SWIG",
  ".ice": "Slice",
  ".inc": "C++",
  ".j": "Objective-J",
  ".jq": "jq",
  ".json": "JSON",
  ".k": "KCL",
  ".ks": "Kickstart",
  ".l": "Lex",
  ".lean": "Lean",
  ".lisp": "Common Lisp",
  ".ls": "LiveScript",
  ".lsp": "Common Lisp",
  ".m": "Objective-C",
  ".m4": "M4",
  ".man": "Roff",
  ".mc": "Monkey C",
  ".md": "Markdown",
  ".mdoc": "Roff",
  ".ml": "OCaml",
  ".mm": "Objective-C++",
  ".mo": "Modelica",
  ".mod": "Modula-2",
  ".mojo": "Mojo",
  ".mqh": "MQL5",
  ".ms": "Roff",
  ".n": "Roff",
  ".nas": "Assembly",
  ".nb": "Wolfram Language",
  ".ncl": "Nickel",
  ".nl": "NewLisp",
  ".nr": "Noir",
  ".nu": "Nushell",
  ".odin": "Odin",
  ".p": "OpenEdge ABL",
  ".pc": "pkg-config",
  ".php": "PHP",
  ".pkl": "Pkl",
  ".pl": "Perl",
  ".plist": "XML Property List",
  ".plt": "Gnuplot",
  ".pm": "Perl",
  ".pod": "Pod",
  ".pp": "Puppet",
  ".prc": "PLSQL",
  ".pro": "QMake",
  ".properties": "Java Properties",
  ".q": "q",
  ".r": "R",
  ".re": "Reason",
  ".reds": "Redscript",
  ".res": "ReScript",
  ".rpy": "Ren'Py",
  ".rs": "Rust",
  ".s": "Assembly",
  ".sc": "Scala",
  ".sch": "Scheme",
  ".scm": "Scheme",
  ".shader": "ShaderLab",
  ".sls": "Salt",
  ".sol": "Solidity",
  ".spec": "RPM Spec",
  ".sql": "SQL",
  ".srt": "SubRip Text",
  ".st": "Smalltalk",
  ".star": "Starlark",
  ".sw": "Sway",
  ".t": "Perl",
  ".tact": "Tact",
  ".tl": "Teal",
  ".toc": "TeX",
  ".tpl": "Smarty",
  ".ts": "TypeScript",
  ".tsp": "TypeSpec",
  ".tst": "GAP",
  ".tsx": "TSX",
  ".txt": "Text",
  ".typ": "Typst",
  ".v": "Verilog",
  ".vba": "VBA",
  ".vcf": "vCard",
  ".w": "CWeb",
  ".workflow": "HCL",
  ".x": "RPC",
  ".yaml": "YAML",
  ".yml": "YAML",
  ".yy": "Yacc",
};

type Hint = readonly [language: string, sign: RegExp];

const XML: Hint = ["XML", /^\s*<(?:\?xml|!DOCTYPE|TS\b|[\w:]+ xmlns)/];
const ROFF: Hint = ["Roff", /^(?:\.\\"|\.[A-Z]{2}\b|'\\")/m];

/**
 * For each extension, languages that use it, with an expression that finds signs of each. The expressions are tried
 * in order, and the first match decides. REQUIRES: each expression takes linear time. So after a `^` with the flag m,
 * only white space within one line may be skipped.
 */
export const HINTS: Readonly<Record<string, readonly Hint[]>> = {
  ".asc": [["Public Key", /^-----BEGIN PGP/m]],
  ".bas": [["VBA", /^Attribute VB_Name/m]],
  ".cl": [["Common Lisp", /^[^\S\r\n]*\((?:defun|in-package|defpackage|defmacro)\b/m]],
  ".cls": [
    ["TeX", /^[^\S\r\n]*\\(?:NeedsTeXFormat|ProvidesClass|LoadClass|def)\b/m],
    ["VBA", /^(?:VERSION \d|Attribute VB_)/m],
    ["ObjectScript", /^Class\s+[\w.%]+/m],
  ],
  ".cs": [["Smalltalk", /^![\w ]+methodsFor:/m]],
  ".d": [
    ["DTrace", /^#pragma D option|^(?:dtrace|fbt|profile|syscall)?:\w*:/m],
    ["Makefile", /^[^\s:]+\.l?o:/],
  ],
  ".fs": [
    ["GLSL", /^[^\S\r\n]*(?:#version \d|precision |uniform |varying |void main\()/m],
    ["Forth", /^(?:: |new-device)/m],
  ],
  ".h": [
    [
      "Objective-C",
      /^[^\S\r\n]*(?:@(?:interface|class|protocol|property|end|import)\b|#import\s+[<"])/m,
    ],
    [
      "C++",
      /^[^\S\r\n]*(?:template\s*<|class\s+\w+[^;(]*$|(?:inline )?namespace\b|using\s+\w|(?:public|private|protected):|#include <(?:c?string|vector|map|memory|iostream|utility|functional|cstdint|algorithm|optional|c[a-z]+)>)|\bstd::/m,
    ],
  ],
  ".hh": [["Hack", /^<\?hh/]],
  ".html": [["Ecmarkup", /<emu-(?:clause|alg|annex|intro)\b/]],
  ".inc": [
    ["PHP", /^\s*<\?(?:php|=)/],
    ["BitBake", /^(?:inherit\b|SRC_URI|DEPENDS|[A-Z_]+ \??=)/m],
    ["Pascal", /^[^\S\r\n]*\{\$|^[^\S\r\n]*(?:procedure|function)\b.*;/im],
  ],
  ".l": [["Common Lisp", /^[^\S\r\n]*\((?:de|defun|in-package)\b/m], ROFF],
  ".m": [
    [
      "Objective-C",
      /^[^\S\r\n]*(?:@(?:interface|implementation|class|protocol|property|end|synthesize|import)\b|#\s*(?:import|include|define|pragma)\b)/m,
    ],
    ["Mercury", /^:- module\b/m],
    ["Wolfram Language", /^[^\S\r\n]*\(\*|^(?:BeginPackage|Begin)\[/m],
    [
      "MATLAB",
      /^[^\S\r\n]*(?:%|function\b|classdef\b|clear\b|clc\b|close all)|^[^\S\r\n]*\w+\s*=\s*\[|\bend\s*$/m,
    ],
  ],
  ".md": [["GCC Machine Description", /^\((?:define_|include )/m]],
  ".mm": [XML],
  ".mod": [XML, ["AMPL", /^[^\S\r\n]*(?:param|minimize|maximize|subject to)\b/m]],
  ".ms": [["Assembly", /^[^\S\r\n]*\.(?:globl|include|text)\b/m]],
  ".php": [["Hack", /^<\?hh/]],
  ".pl": [
    ["Raku", /^[^\S\r\n]*use v6\b/m],
    ["Perl", /^[^\S\r\n]*(?:use (?:strict|warnings|[A-Z]\w*)|package\s|my [$@%]|sub \w+)/m],
    ["Prolog", /^[^#\n]*:-/m],
  ],
  ".plist": [["OpenStep Property List", /^\s*(?:\/\/|\/\*|[{(])/]],
  ".pm": [
    ["X PixMap", /^\s*\/\* XPM \*\//],
    ["Raku", /^[^\S\r\n]*(?:use v6|unit (?:module|class)|role )\b/m],
  ],
  ".pp": [
    ["Pascal", /^[^\S\r\n]*(?:unit|program|uses|interface|implementation)\b|^[^\S\r\n]*\{\$/im],
  ],
  ".pro": [
    ["Proguard", /^-(?:keep|dontwarn|optimizations)/m],
    ["Prolog", /^[^#\n]*:-/m],
    ["IDL", /^[^\S\r\n]*(?:pro|function)\s+\w+/im],
  ],
  ".properties": [],
  ".r": [["Rebol", /^[^\S\r\n]*rebol\s*\[/im]],
  ".rs": [
    ["XML", /^\s*<\?xml/],
    ["RenderScript", /^#pragma\s+(?:version|rs)\b/m],
  ],
  ".sch": [XML],
  ".sls": [["Scheme", /^\s*[(;]|^#!r6rs/]],
  ".spec": [
    ["Ruby", /^[^\S\r\n]*(?:require|describe|Gem::)\b/m],
    ["Python", /^\w+ = Analysis\(/m],
  ],
  ".t": [
    ["Raku", /^[^\S\r\n]*use v6\b/m],
    ["Turing", /^[^\S\r\n]*%[ \t]|^[^\S\r\n]*(?:proc|import|put)\b/m],
  ],
  ".toc": [["World of Warcraft Addon Data", /^## \w+/m]],
  ".ts": [XML],
  ".tsx": [XML],
  ".typ": [XML],
  ".v": [
    [
      "Rocq Prover",
      /^[^\S\r\n]*(?:Require|Theorem|Lemma|Proof|Definition|Inductive|Fixpoint|Section|From\s+\w+\s+Require)\b/m,
    ],
    ["V", /^(?:pub )?fn \w|^module \w+\s*$|^(?:pub )?struct \w+ \{/m],
  ],
  ".workflow": [XML],
  ".x": [
    ["Linker Script", /^[^\S\r\n]*(?:SECTIONS|ENTRY|OUTPUT_FORMAT)\b/m],
    ["Logos", /^%(?:hook|group|ctor)\b/m],
  ],
  ".yy": [["JSON", /^\s*\{/]],
};

export const INTERPRETER_OWNERS: Readonly<Record<string, string>> = {
  bun: "TypeScript",
  deno: "TypeScript",
  lua: "Lua",
  node: "JavaScript",
  ocaml: "OCaml",
  parrot: "Parrot Internal Representation",
  perl: "Perl",
  perl6: "Raku",
};

export const FILENAME_OWNERS: Readonly<Record<string, string>> = {
  HOSTS: "Hosts File",
  hosts: "Hosts File",
  ".releaserc": "JSON",
  ".eslintrc": "JSON with Comments",
};

interface Tables {
  readonly filenames: ReadonlyMap<string, string>;
  readonly extensions: ReadonlyMap<string, string>;
  /**
   * The length of the longest extension. It limits the number of look-ups for a name that consists of thousands of
   * dots.
   */
  readonly longestExtension: number;
  readonly interpreters: ReadonlyMap<string, string>;
}

let tables: Tables | undefined;

function loadTables(): Tables {
  const languages = allLanguages();
  // every language claims its first extension before any language claims its further ones, because the first claim to
  // an extension counts
  const primary = languages.map((language) => ({
    ...language,
    extensions: language.extensions.slice(0, 1),
  }));
  const extensions = claims([...primary, ...languages], (language) => language.extensions, OWNERS);
  return {
    filenames: claims(languages, (language) => language.filenames, FILENAME_OWNERS),
    extensions,
    longestExtension: Math.max(...Array.from(extensions.keys(), ({ length }) => length)),
    interpreters: claims(languages, (language) => language.interpreters, INTERPRETER_OWNERS),
  };
}

function claims(
  languages: readonly Language[],
  keysOf: (language: Language) => readonly string[],
  owners: Readonly<Record<string, string>>,
): Map<string, string> {
  const map = new Map(Object.entries(owners));
  for (const language of languages) {
    for (const key of keysOf(language)) if (!map.has(key)) map.set(key, language.name);
  }
  return map;
}

/**
 * Returns the language's name in GitHub Linguist, or '' if the language is unknown. `bytes` is the content of the
 * file in UTF-8, of which at most the first 4 KiB are read.
 */
export function languageOf(path: string, bytes: Uint8Array): string {
  tables ??= loadTables();
  const filename = path.slice(path.lastIndexOf("/") + 1);
  const byFilename = tables.filenames.get(filename);
  if (byFilename !== undefined) return byFilename;
  const extension = knownExtension(filename.toLowerCase(), tables);
  if (extension !== undefined) {
    const hints = HINTS[extension];
    return (hints && hinted(hints, bytes)) ?? tables.extensions.get(extension) ?? "";
  }
  return byShebang(bytes, tables.interpreters) ?? (hinted([XML], bytes) ? "XML" : "");
}

/**
 * Returns the longest known extension of a name. For example, '.d.ts' is preferred to '.ts'. A name whose only dot is
 * its first character has no extension.
 */
function knownExtension(
  filename: string,
  { extensions, longestExtension }: Tables,
): string | undefined {
  const first = Math.max(1, filename.length - longestExtension);
  for (let dot = filename.indexOf(".", first); dot !== -1; dot = filename.indexOf(".", dot + 1)) {
    const extension = filename.slice(dot);
    if (extensions.has(extension)) return extension;
  }
  return undefined;
}

function hinted(hints: readonly Hint[], bytes: Uint8Array): string | undefined {
  if (hints.length === 0) return undefined;
  const head = textOf(bytes, HEAD_BYTES);
  return hints.find(([, sign]) => sign.test(head))?.[0];
}

const HASH_BANG =
  /^#!\s*(?:\S*\/)?env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*\/)?([^\s/]+)|^#!\s*(?:\S*\/)?([^\s/]+)/;

function byShebang(
  bytes: Uint8Array,
  interpreters: ReadonlyMap<string, string>,
): string | undefined {
  if (bytes[0] !== 0x23 || bytes[1] !== 0x21) return undefined;
  const match = HASH_BANG.exec(textOf(bytes, 256).split("\n", 1)[0] ?? "");
  const name = (match?.[1] ?? match?.[2])?.toLowerCase();
  // python3.11 is looked up as python3, then as python
  return (
    name &&
    (interpreters.get(name) ??
      interpreters.get(name.replace(/\.\d+$/, "")) ??
      interpreters.get(name.replace(/[-\d.]+$/, "")))
  );
}

/**
 * Returns the start of a file as a string with one character per byte, without the byte order mark. One character per
 * byte suffices, because the expressions that search this string look only for ASCII.
 */
export function textOf(bytes: Uint8Array, length: number): string {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    "latin1",
    start,
    Math.min(length, bytes.byteLength),
  );
}
