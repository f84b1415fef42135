/**
 * Lists the rules that reword newer syntax, grouped by language. rewording.ts applies them. The rules of a group run
 * from first to last, each on the text that the rules before it have left.
 *
 * To add a rule, write it into the group of its language, and add a row with its smallest example to the table RULES in
 * `test/ingest/symbols/rewording.long.test.ts`. Then increase the `revision` of each language that uses the group. The head
 * of rewording.ts says how much time a rule may take.
 *
 * To delete the rules that a newer grammar no longer needs, run this test with the newer grammar. The row of such a
 * rule fails, and its message names the rule and the language. Delete the rule and its row, and increase the
 * `revision` of the language. If other languages share the rule and still need it, move the rule to their groups.
 */

import { blank, type Frame, type Rewording } from "./rewording.ts";

/**
 * Rewords a function that has a head in each branch of an `#if`, with or without the opening brace. After that, each
 * branch is a function.
 */
function headsInBranches(name: string, brace: string, next: string): Rewording {
  const head = String.raw`[A-Za-z_][^#;{}]{0,600}\)[ \t\r]{0,9}\n?[ \t]{0,9}${brace}[ \t\r]{0,9}\n`;
  const branch = String.raw`#[ \t]{0,9}el(?:se|if)[^\n]{0,200}\n${head}`;
  return {
    name,
    words: ["#el"],
    newer: new RegExp(
      String.raw`^#[ \t]{0,9}if[^\n]{0,200}\n${head}(?:${branch}){1,4}#[ \t]{0,9}endif[^\n]{0,200}$${next}`,
      "gm",
    ),
    older: (found) =>
      found
        .replace(/^#[ \t]*el.*/gm, ({ length }) => (brace ? "}" : "{}").padEnd(length))
        .replace(/^#.*/gm, blank),
  };
}

const cFamilyRewordings: readonly Rewording[] = [
  headsInBranches("function heads in branches", "\\{", ""),
  headsInBranches("function heads in branches, before the brace", "", "(?=\\s{0,99}\\{)"),
];

/** Attributes may occur almost anywhere. Objective-C does not use this rule, because brackets send messages there. */
const standardAttributes: Rewording = {
  name: "[[attributes]]",
  words: ["[["],
  newer: /\[\[[^[\]]{0,300}\]\]/g,
};

export const cRewordings: readonly Rewording[] = [
  ...cFamilyRewordings,
  standardAttributes,
  { name: "auto", words: ["auto "], newer: /\bauto(?= \w{1,99} ?=)/g, older: () => "int" },
  {
    name: "_BitInt",
    words: ["BitInt("],
    newer: /\b_BitInt\([^()\n]{1,99}\)/g,
    older: () => "int",
  },
  {
    name: "thread_local",
    words: ["hread_local"],
    newer: /\b(?:_T|t)hread_local\b/g,
    older: () => "static",
  },
  { name: "_Complex", words: ["Complex"], newer: /\b_Complex\b/g },
];

export const cppRewordings: readonly Rewording[] = [
  ...cFamilyRewordings,
  standardAttributes,
  { name: "{} as a default", words: ["= {}", "={}"], newer: /= ?\{\}(?=\s{0,99}[,)])/g },
  // Matches `template <Concept T = int>`. The grammar would read the type after `=` as a value.
  {
    name: "default of a constrained parameter",
    words: ["template"],
    newer:
      /([<,]\s{0,40}(?!(?:class|typename) )[A-Za-z_][\w:]{0,99}(?:<[^<>;{}()]{0,99}>)? \w{1,99} ?)= ?(?:bool|char|double|float|int|long|short|unsigned|void)\b[\w \t*&]{0,40}(?=[,>])/g,
    older: (_, parameter) => parameter,
  },
  // Matches a deduction guide that is not a template itself, such as `Pair(int) -> Pair<int>;`.
  {
    name: "deduction guide",
    words: [") -> "],
    newer: /^[ \t]{0,99}(?:explicit )?\w{1,99}\([^(){};]{0,300}\) -> \w{1,99}<[^(){};]{0,300}>;/gm,
  },
  {
    name: "delete with a reason",
    words: ['delete("'],
    newer: /(= ?delete)\("[^"\n]{0,300}"\)/g,
    older: (_, head) => head,
  },
];

/**
 * Replaces the head of an extension block by `namespace IEnumerable {`. The query finds extension blocks as
 * namespaces inside a class, which valid code does not have. The name of a built-in type cannot be the name of a
 * namespace, so it is written in upper case.
 */
function namespaceOf(found: string, before: string, type: string): string {
  const name = type.replace(/^[a-z]+$/, (keyword) => keyword.toUpperCase());
  const head = `${"namespace".padEnd("extension".length + before.length)}${name}`;
  return `${head.padEnd(found.length - 1)}{`;
}

export const csharpRewordings: readonly Rewording[] = [
  {
    name: "ref readonly",
    words: ["ref readonly"],
    newer: /\bref readonly\b/g,
    older: () => "ref",
  },
  { name: "params of a span", words: ["params "], newer: /\bparams(?= [A-Z]\w{0,99}<)/g },
  {
    name: "allows ref struct",
    words: ["allows ref struct"],
    newer: /\ballows ref(?= struct\b)/g,
  },
  // Matches an empty collection such as `= []`, but not the brackets of a type.
  {
    name: "empty collection",
    words: ["[]"],
    newer: /((?:=>?|[(,]|[?:] |\breturn|\?\?) ?)\[\](?=\s{0,9}[;,)}])/g,
    older: (_, before) => `${before}""`,
  },
  // Matches the question mark of an assignment such as `a?.b = c`.
  {
    name: "null-conditional assignment",
    words: ["?."],
    newer:
      /\?(?=\.[A-Za-z_]\w{0,99}(?:\??\.[A-Za-z_]\w{0,99}|\[[^\]\n]{0,99}\]){0,9}\s{0,40}(?:[-+*/%&|^]|\?\?|<<|>>)?=[^=>])/g,
    older: (found) => ` ${found.slice(1)}`,
  },
  // Rewords `operator +=` and `operator <<=` to `operator ==` and `operator >>>`, which have the same length.
  {
    name: "compound operator",
    words: ["operator"],
    newer: /\boperator\s{1,9}(?:checked\s{1,9})?(?:[-+*/%&|^]|<<|>>)=(?=\s{0,9}\()/g,
    older: (found) => found.replace(/(?:<<|>>)=$/, ">>>").replace(/\S=$/, "=="),
  },
  // Matches the head of the block, such as `extension<T>(IEnumerable<T> source) where T : class {`.
  {
    name: "extension block",
    words: ["extension"],
    newer:
      /\bextension(\s{0,9}(?:<[^<>()]{0,200}>)?\s{0,9}\(\s{0,99}(?:(?:in|readonly|ref|scoped)\s{1,9}){0,3})([A-Za-z_][\w.]{0,199})(?![\w.])[^(){};]{0,300}\)[^(){};]{0,300}\{/g,
    older: namespaceOf,
  },
];

export const cssRewordings: readonly Rewording[] = [
  // Removes the conditions after the address, such as `layer(base) supports(display: grid)`.
  {
    name: "@import with conditions",
    words: ["@import"],
    newer:
      /(@import\s{1,9}(?:url\([^()\n]{0,300}\)|"[^"\n]{0,300}"|'[^'\n]{0,300}')\s{0,9})(?:layer|supports)\b[^{};]{0,300}(?=;)/g,
    older: (_, address) => address,
  },
  {
    name: "@container",
    words: ["@container"],
    newer: /@container\b[^{};"']{0,600}(?=\{)/g,
    older: () => "@media all",
  },
  {
    name: "@media with a range",
    words: ["@media"],
    newer: /@media\b[^{};"'<>]{0,300}[<>][^{};"']{0,300}(?=\{)/g,
    older: () => "@media all",
  },
  {
    name: "@function",
    words: ["@function"],
    newer: /(@function\s{1,9}--[\w-]{1,99})\([^{};]{0,400}(?=\{)/g,
    older: (_, name) => name,
  },
];

export const iniRewordings: readonly Rewording[] = [
  // Matches a key and the colon after it, as in `key: value` and `key:value`. If the line also has an `=`, a colon
  // without white space after it does not count, because the `=` may be the separator.
  {
    name: "colon after a key",
    words: [":"],
    newer: /^[ \t]{0,99}[^\s=:;#[][^=:\n]{0,200}:(?!\/\/)(?=\s|[^=\n]{0,999}$)/gm,
    older: (found) => `${found.slice(0, -1)}=`,
  },
];

export const javaRewordings: readonly Rewording[] = [
  {
    name: "import module",
    words: ["import module"],
    newer: /\bimport module\b/g,
    older: () => "import",
  },
  // The grammar accepts super() and this() only as the first statement. Other names are accepted anywhere.
  {
    name: "statement before super()",
    words: ["super("],
    newer: /\bsuper(?=\()(?<=[;}]\s{0,200}super)/g,
    older: () => "_uper",
  },
  {
    name: "statement before this()",
    words: ["this("],
    newer: /\bthis(?=\()(?<=[;}]\s{0,200}this)/g,
    older: () => "_his",
  },
];

export const javascriptRewordings: readonly Rewording[] = [
  {
    name: "accessor",
    words: ["accessor"],
    newer: /\baccessor(?=[ \t]{1,9}(?!(?:as|in|instanceof|of|satisfies)\b)[\w$#["'])/g,
  },
  {
    name: "using",
    words: ["using "],
    newer: /\b(?:await )?using(?= [\w$]{1,99} ?=[^=])/g,
    older: (found) => "const".padStart(found.length),
  },
  {
    name: "import defer",
    words: ["import defer"],
    newer: /\bimport defer(?= \*)/g,
    older: () => "import",
  },
  {
    name: "import source",
    words: ["import source"],
    newer: /\bimport source(?= [\w$]{1,99} from\b)/g,
    older: () => "import",
  },
];

export const kotlinRewordings: readonly Rewording[] = [
  { name: "fun interface", words: ["fun interface"], newer: /\bfun(?= interface\b)/g },
  { name: "..<", words: ["..<"], newer: /\.\.</g, older: () => ".." },
  { name: "dollars before a string", words: ['$"'], newer: /\$(?:\$)?(?=")/g },
  // Matches `context(log: Logger)` before a declaration.
  {
    name: "context parameters",
    words: ["context("],
    newer:
      /^[ \t]{0,99}context\((?:[^(){}"]|\([^(){}"]{0,99}\)){0,400}\)(?=\s{1,99}(?:@|abstract|class|fun|inline|internal|open|operator|override|private|protected|public|suspend|va[lr])\b)/gm,
  },
  // Matches the guard ` if x > 3 ` in `is Int if x > 3 ->`.
  {
    name: "guard of a branch",
    words: [" if "],
    newer: / if\b(?<=^[ \t]{0,99}(?:else|(?:is|in) [^\n{}]{1,99}) if)[^\n{}]{0,300}?(?=->)/gm,
  },
  // Matches `class A<T>` if `private constructor(` is on the next line. The grammar accepts both only on a single
  // line.
  {
    name: "constructor on the next line",
    words: ["constructor("],
    newer:
      /\bclass \w{1,99}[ \t]{0,9}(?:<[^{}()]{0,300}>)?[ \t]{0,9}\r?\n\s{0,99}(?:@\w{1,99}\s{1,99}){0,3}(?:(?:internal|private|protected|public)\s{1,99})?(?=constructor\()/g,
    older: (found) => found.replace(/\s/g, " "),
  },
  // Matches the space before the last brace in `interface A { fun run() }`. The grammar accepts such a declaration
  // only on three lines.
  {
    name: "interface on one line",
    words: [" }"],
    newer:
      / (?=\}[ \t\r]{0,9}$)(?<=^[^\n{}]{0,99}\b(?:class|interface|object) [^\n{}]{1,300}\{ (?:[\w<>]{1,30} ){0,9}(?:fun|va[lr]) [^\n{}]{1,300} )/gm,
    older: () => ";",
  },
  // Matches `class A(b: B) : B by b {`. The grammar reads `b {` as a call of `b`, with the body of the class as a
  // lambda. The expression has only one way to match up to the last `by`, so it does not backtrack there.
  {
    name: "delegation",
    words: [" by "],
    newer:
      /\b(?:class|object)\s{1,9}\w{1,99}\b(?:\s{0,9}<[^<>{}]{0,200}>)?[^(){}:=]{0,200}(?:\((?:[^(){}]|\([^(){}]{0,200}\)){0,2000}\)\s{0,9})?:(?=((?:(?!\b(?:class|fun|object|va[lr])\b)[^{}]){0,500}\bby\b))\1[^{}=\n]{0,200}(?=\{)/g,
    older: (found) => found.replace(/\bby\b[^,]*$/, ""),
  },
];

export const luaRewordings: readonly Rewording[] = [
  {
    name: "global",
    words: ["global "],
    newer: /^[ \t]{0,99}global(?=[ \t]+[A-Za-z_<])(?![ \t]+(?:and|or)\b)/gm,
    older: (found) => found.replace("global", "local "),
  },
];

export const objectiveCRewordings: readonly Rewording[] = [
  ...cFamilyRewordings,
  // Rewords `typedef NS_ENUM(NSInteger, Kind) {` and similar macros to `enum Kind {`.
  {
    name: "NS_ENUM",
    words: ["_ENUM(", "_OPTIONS("],
    newer:
      /(?:\btypedef\s{1,9})?\b(?:CF|NS)_(?:CLOSED_ENUM|ENUM|ERROR_ENUM|OPTIONS)\s{0,9}\([^(){},]{0,200}(?:,\s{0,9}(\w{1,99})\s{0,9})?\)(?=\s{0,99}\{)/g,
    older: (found, name) => `${"enum".padEnd(name ? found.lastIndexOf(name) : 0)}${name}`,
  },
  // Removes macros that annotate the code before them. Also matches the head of a #define, so that a macro's name in
  // it is kept.
  {
    name: "annotation by a macro",
    words: ["NS_", "API_", "UI_", "DEPRECATED_"],
    newer:
      /#\s{0,9}define\s{1,9}\w{1,99}|\b(?:NS_(?:ASSUME_NONNULL|AVAILABLE|CLASS_(?:AVAILABLE|DEPRECATED)|DEPRECATED|DESIGNATED_INITIALIZER|ENUM_(?:AVAILABLE|DEPRECATED)|EXTENSION_UNAVAILABLE|FORMAT_FUNCTION|NOESCAPE|REFINED_FOR_SWIFT|REQUIRES_(?:NIL_TERMINATION|SUPER)|RETURNS_\w{1,40}|STRING_ENUM|EXTENSIBLE_STRING_ENUM|SWIFT_|TYPED_(?:EXTENSIBLE_)?ENUM|UNAVAILABLE)\w{0,60}|API_(?:AVAILABLE|DEPRECATED|UNAVAILABLE)\w{0,40}|UI_APPEARANCE_SELECTOR|DEPRECATED_(?:ATTRIBUTE|MSG_ATTRIBUTE))\b(?:\((?:[^()]|\((?:[^()]|\([^()]{0,99}\)){0,200}\)){0,300}\))?/g,
    older: (found) => (found.startsWith("#") ? found : blank(found)),
  },
];

export const ocamlRewordings: readonly Rewording[] = [
  {
    name: "effect pattern",
    words: ["effect"],
    newer: /\beffect(?=\s)(?<=(?:\bwith|\|)\s{1,40}effect)/g,
  },
];

/** Puts an interface file into a signature, because the grammar knows only the syntax of implementations. */
export const ocamlFrame: Frame = {
  name: "interface file",
  words: ["val "],
  around: /^val\s/m,
  before: "include (M : sig\n",
  after: "\nend)",
};

export const pythonRewordings: readonly Rewording[] = [
  // Matches lists of type parameters, which may have defaults, as in `class A[T = int]`.
  {
    name: "default of a type parameter",
    words: ["def ", "class ", "type "],
    newer:
      /\b(?:class|def|type) {1,9}\w{1,99}\[(?:[^[\]]|\[(?:[^[\]]|\[[^[\]]{0,99}\]){0,99}\]){0,400}\]/g,
    older: (found) =>
      found.replace(/=\s*(?:[^,[\]]|\[(?:[^[\]]|\[[^[\]]*\])*\])+(?=,|\]$)/g, blank),
  },
];

export const rustRewordings: readonly Rewording[] = [
  { name: "safe", words: ["safe "], newer: /\bsafe(?= +(?:fn|static)\b)/g },
];

export const scalaRewordings: readonly Rewording[] = [
  // Matches the head of a `given` and its conditions, such as `[A] => (x: Ord[A]) =>`.
  {
    name: "conditional given",
    words: ["given "],
    newer:
      /(\bgiven {1,9}(?:\w{1,99} ?: ?)?)(?:(?:\[[^[\]\n]{0,200}\]|\([^()\n]{0,300}\)|[A-Z]\w{0,99}(?:\[[^[\]\n]{0,99}\])?) => ?){1,9}/g,
    older: (_, name) => name,
  },
];

export const swiftRewordings: readonly Rewording[] = [
  { name: "~Copyable", words: ["~"], newer: /~(?=[A-Z])(?<=[:,&]\s{0,40}~)/g },
  {
    name: "typed throws",
    words: ["throws"],
    newer: /\bthrows\s{0,9}\([^()\n]{1,200}\)/g,
    older: () => "throws",
  },
  {
    name: "nonisolated(unsafe)",
    words: ["nonisolated("],
    newer: /\bnonisolated\(\w{1,99}\)/g,
    older: () => "nonisolated",
  },
  {
    name: "package access",
    words: ["package "],
    newer:
      /\bpackage(?= +(?:actor|class|enum|extension|final|func|import|indirect|init|let|macro|mutating|nonisolated|override|protocol|static|struct|subscript|typealias|var)\b)/g,
    older: () => "public",
  },
  // Matches modifiers such as `borrowing`, which come before the type of a parameter.
  {
    name: "parameter modifier",
    words: ["__owned ", "borrowing ", "consuming ", "isolated ", "sending "],
    newer:
      /\b(?:(?:__owned|borrowing|consuming|isolated|nonisolated|sending) {1,9}){1,3}(?=[A-Z@([a-z])/g,
  },
  { name: "__consuming", words: ["__consuming "], newer: /\b__consuming(?= )/g },
  {
    name: "unsafe expression",
    words: ["unsafe "],
    newer: /(?<![@\w])unsafe (?=[A-Za-z_&.([])/g,
  },
  {
    name: "consume expression",
    words: ["consume "],
    newer: /\bconsume(?= \w)(?<=(?:[=(,] ?|\breturn )consume)/g,
  },
  { name: "trailing comma", words: [",\n"], newer: /,(?=\s{1,200}\))/g },
  {
    name: "[3 of Int]",
    words: [" of "],
    newer: /\[\s{0,9}\w{1,99} of(?= )/g,
    older: () => "[",
  },
  {
    name: "InlineArray<3, Int>",
    words: ["InlineArray<"],
    newer: /\bInlineArray<\d{1,20}(?=,)/g,
    older: (found) => found.replace(/\d/g, "N"),
  },
  {
    name: "integer parameter",
    words: ["<let "],
    newer: /<let(?= \w{1,99}: ?Int\b)/g,
    older: () => "<",
  },
  // Matches the `#` of a call such as `#expect(x)`. Does not match the `#` of directives that the grammar knows, such
  // as `#if`.
  {
    name: "macro call",
    words: ["#"],
    newer:
      /#(?!(?:available|colorLiteral|column|dsohandle|else|elseif|endif|error|externalMacro|file\w*|function|if|imageLiteral|keyPath|line|selector|sourceLocation|unavailable|warning)\b)(?=[A-Za-z_]\w{0,99}\s{0,9}[(<{])/g,
  },
];

export const typescriptRewordings: readonly Rewording[] = [
  ...javascriptRewordings,
  // Removes the variance of type parameters, which is `in out` in `interface Source<in out T>`.
  {
    name: "variance",
    words: ["<in ", ", in ", "out "],
    newer: /\b(?:class|interface|type)\s{1,9}[\w$]{1,99}\s{0,9}<[^;{}()]{0,600}>/g,
    older: (found) =>
      found.replace(/(?<=[<,]\s{0,99})(?:in\s{1,9}out|in|out)(?=\s{1,9}[A-Za-z_$])/g, blank),
  },
  {
    name: "import type in parentheses",
    words: ["import("],
    newer: /\(\s{0,40}import\(\s{0,40}(["'])[^"'\n]{1,300}\1\s{0,40}\)(?=\s{0,40}\.)/g,
    older: (found) => `(${"_".repeat(found.length - 1)}`,
  },
  {
    name: "export type *",
    words: ["export type *"],
    newer: /\bexport type(?= \*)/g,
    older: () => "export",
  },
];

export const zigRewordings: readonly Rewording[] = [
  // Rewords `struct {}` to `struct{_}`, because the grammar requires a field.
  {
    name: "empty container",
    words: ["{"],
    newer: /\b(?:enum|opaque|struct|union)(?:\([^()\n]{0,99}\))?(?: \{\s{0,99}|\{\s{1,99})\}/g,
    older: (found) => `${found.slice(0, -3)}{_}`,
  },
];
