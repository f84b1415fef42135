/**
 * Newer syntax that is reworded for older grammars. Each rule of newer-syntax.ts has a row in RULES, in the order of
 * the languages and of their rules. Without the rule, and with all other rules, the grammar must misread the row. When
 * a newer grammar knows the syntax, the row fails and says which rule to delete.
 */

import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { createExtractor, LIMITS, type Extractor } from "../../../src/ingest/symbols/extract.ts";
import type { LanguageQuery } from "../../../src/ingest/symbols/queries/shared/language.ts";
import { LANGUAGE_QUERIES, languageQuery } from "../../../src/ingest/symbols/languages.ts";
import * as newerSyntax from "../../../src/ingest/symbols/queries/shared/newer-syntax.ts";
import {
  reword,
  type Frame,
  type Rewording,
} from "../../../src/ingest/symbols/queries/shared/rewording.ts";
import { asRead } from "./as-read.ts";
import { MOST_WORK_MS, workOnRepeated } from "./rewording-work.ts";
import { showSymbols } from "./show.ts";
import { openGrammar, type Parse } from "./syntax.ts";

type Rule = Rewording | Frame;
type Row = readonly [language: string, source: string, symbols: string];

/** The smallest example of each rule, which all languages of the rule read alike. */
const RULES: readonly (readonly [
  languages: string,
  rule: string,
  source: string,
  symbols: string,
])[] = [
  [
    "C, C++, Objective-C",
    "function heads in branches",
    "#if A\nint f(int a) {\n#else\nint f(void) {\n#endif\n}\n",
    "2:5 function f, 4:5 function f",
  ],
  [
    "C, C++, Objective-C",
    "function heads in branches, before the brace",
    "#if A\nint f(int a)\n#else\nint f(void)\n#endif\n{\n}\n",
    "2:5 function f, 4:5 function f",
  ],
  ["C, C++", "[[attributes]]", "int a [[b]];\n", "1:5 variable a"],
  ["C", "auto", "static auto x = 3;\n", "1:13 variable x"],
  ["C", "_BitInt", "_BitInt(12) x;\n", "1:13 variable x"],
  ["C", "thread_local", "_Thread_local int x;\n", "1:19 variable x"],
  ["C", "_Complex", "double _Complex x;\n", "1:17 variable x"],
  ["C++", "{} as a default", "void f(T a = {}) {}\n", "1:6 function f"],
  [
    "C++",
    "default of a constrained parameter",
    "template <Number T = double> class P {};\n",
    "1:36 class P",
  ],
  ["C++", "deduction guide", "Pair(int) -> Pair<int>;\nint a;\n", "2:5 variable a"],
  [
    "C++",
    "delete with a reason",
    'struct S { S() = delete("a"); };\n',
    "1:8 struct S, 1:12 constructor struct:S/S",
  ],
  [
    "C#",
    "ref readonly",
    "unsafe class A { delegate*<ref readonly int, void> b; }",
    "1:14 class A, 1:52 field class:A/b",
  ],
  [
    "C#",
    "params of a span",
    "class A { void F(params Span<int> a) {} }",
    "1:7 class A, 1:16 method class:A/F",
  ],
  [
    "C#",
    "allows ref struct",
    "class A<T> where T : allows ref struct { int b; }",
    "1:7 class A, 1:46 field class:A/b",
  ],
  ["C#", "empty collection", "class A { int B = []; }", "1:7 class A, 1:15 field class:A/B"],
  [
    "C#",
    "null-conditional assignment",
    "class A { void F() { a?.b = 3; } }",
    "1:7 class A, 1:16 method class:A/F",
  ],
  [
    "C#",
    "compound operator",
    "class A { public void operator +=(int a) {} }",
    "1:7 class A, 1:32 operator class:A/+=",
  ],
  [
    "C#",
    "extension block",
    "class A { extension(B b) { void F() {} } }",
    "1:7 class A, 1:33 method class?:B/F",
  ],
  ["CSS", "@import with conditions", '@import "a.css" layer(b);\n.c { d: e }', "2:1 selector .c"],
  ["CSS", "@container", "@container a (width > 1px) { .b { c: d } }", "1:30 selector .b"],
  ["CSS", "@media with a range", "@media (width >= 1px) { .a { b: c } }", "1:25 selector .a"],
  ["CSS", "@function", "@function --a(--b) { result: 1 }", "1:11 function --a"],
  ["INI", "colon after a key", "a: b\n", "1:1 key a"],
  ["Java", "import module", "import module java.base;\nclass A {}", "2:7 class A"],
  [
    "Java",
    "statement before super()",
    "class A { A() { f(); super(); } }",
    "1:7 class A, 1:11 constructor class:A/A",
  ],
  [
    "Java",
    "statement before this()",
    "class A { A() { f(); this(1); } }",
    "1:7 class A, 1:11 constructor class:A/A",
  ],
  [
    "JavaScript, TSX, TypeScript",
    "accessor",
    "class A { static accessor b = 1 }",
    "1:7 class A, 1:27 field class:A/b",
  ],
  ["JavaScript, TSX, TypeScript", "using", "using a = b();", "1:7 constant a"],
  [
    "JavaScript, TSX, TypeScript",
    "import defer",
    "import defer * as a from 'b';\nclass C {}",
    "2:7 class C",
  ],
  [
    "JavaScript, TSX, TypeScript",
    "import source",
    "import source a from 'b';\nclass C {}",
    "2:7 class C",
  ],
  [
    "Kotlin",
    "fun interface",
    "fun interface A {\n  fun f()\n}\n",
    "1:15 interface A, 2:7 method interface:A/f",
  ],
  ["Kotlin", "..<", "val a = 0..<10\n", "1:5 variable a"],
  ["Kotlin", "dollars before a string", 'val a = $$"b"\n', "1:5 variable a"],
  ["Kotlin", "context parameters", "context(a: A)\nfun f() {}\n", "2:5 function f"],
  ["Kotlin", "guard of a branch", "fun f() = when (a) {\n  is B if c -> 1\n}\n", "1:5 function f"],
  [
    "Kotlin",
    "constructor on the next line",
    "class A\nconstructor(val b: B)\n",
    "1:7 class A, 2:17 property class:A/b",
  ],
  [
    "Kotlin",
    "interface on one line",
    "interface A { fun f() }\n",
    "1:11 interface A, 1:19 method interface:A/f",
  ],
  [
    "Kotlin",
    "delegation",
    "class A(b: B) : B by b {\n  val c = 1\n}\n",
    "1:7 class A, 2:7 property class:A/c",
  ],
  ["Lua", "global", "global function f() end\n", "1:17 function f"],
  [
    "Objective-C",
    "NS_ENUM",
    "typedef NS_ENUM(long, A) { AB };\n",
    "1:23 enum A, 1:28 enumMember enum:A/AB",
  ],
  [
    "Objective-C",
    "annotation by a macro",
    "NS_ASSUME_NONNULL_BEGIN\n@interface A\n@end\n",
    "2:12 class A",
  ],
  ["OCaml", "effect pattern", "let f g = match g () with effect A, k -> k\n", "1:5 function f"],
  [
    "OCaml",
    "interface file",
    "val f : int\nmodule type S = sig end\n",
    "1:5 function f, 2:13 interface S",
  ],
  ["Python", "default of a type parameter", "class A[T = int]: ...\n", "1:7 class A"],
  ["Rust", "safe", 'unsafe extern "C" { safe fn a(); }\n', "1:29 function a"],
  ["Scala", "conditional given", "given a: [A] => Ord[A] = b\n", "1:7 object a"],
  ["Swift", "~Copyable", "struct A: ~Copyable {}\n", "1:8 struct A"],
  ["Swift", "typed throws", "func f() throws(E) {}\n", "1:6 function f"],
  ["Swift", "nonisolated(unsafe)", "nonisolated(unsafe) var a = 1\n", "1:25 variable a"],
  ["Swift", "package access", "package func f() {}\n", "1:14 function f"],
  ["Swift", "parameter modifier", "func f(a: sending A) {}\n", "1:6 function f"],
  [
    "Swift",
    "__consuming",
    "struct A { __consuming func f() {} }\n",
    "1:8 struct A, 1:29 method struct:A/f",
  ],
  ["Swift", "unsafe expression", "func f() { unsafe g() }\n", "1:6 function f"],
  ["Swift", "consume expression", "func f() { g(consume a) }\n", "1:6 function f"],
  ["Swift", "trailing comma", "func f(a: A,\n) {}\n", "1:6 function f"],
  ["Swift", "[3 of Int]", "let a: [3 of Int]\n", "1:5 constant a"],
  ["Swift", "InlineArray<3, Int>", "let a: InlineArray<3, Int>\n", "1:5 constant a"],
  ["Swift", "integer parameter", "struct A<let n: Int> {}\n", "1:8 struct A"],
  ["Swift", "macro call", "let a = #expect(b)\n", "1:5 constant a"],
  ["TSX, TypeScript", "variance", "type A<in out T> = B;", "1:6 type A"],
  ["TSX, TypeScript", "import type in parentheses", "type A = (import('b').C);", "1:6 type A"],
  ["TSX, TypeScript", "export type *", "export type * from 'a';\nclass B {}", "2:7 class B"],
  ["Zig", "empty container", "const A = struct {};\n", "1:7 struct A"],
];

/** Texts with several rules, and other forms of the reworded syntax. */
const COMBINED: readonly Row[] = [
  [
    "C",
    "#if A\nint f(int a) {\n#elif B\nint f(void) {\n#endif\n\treturn 1;\n}\nint g;\n",
    "2:5 function f, 4:5 function f, 8:5 variable g",
  ],
  [
    "C",
    'struct [[deprecated("x")]] s { [[maybe_unused]] int a; };\n',
    "1:28 struct s, 1:53 field struct:s/a",
  ],
  [
    "C",
    "static auto y = 3;\n_BitInt(12) b;\ndouble _Complex c;\n_Thread_local int t;\n",
    "1:13 variable y, 2:13 variable b, 3:17 variable c, 4:19 variable t",
  ],
  [
    "C++",
    "struct [[nodiscard]] S { int a; };\nint b [[maybe_unused]];\n",
    "1:22 struct S, 1:30 field struct:S/a, 2:5 variable b",
  ],
  [
    "C++",
    "struct S { void f(int a, T b = {}); void g(T b={}, int c = 1) {} };\n",
    "1:8 struct S, 1:17 method struct:S/f, 1:42 method struct:S/g",
  ],
  ["C++", "template <Number T = double, int N = 2> class P {};\n", "1:47 class P"],
  [
    "C++",
    "struct S { void f(this S& self) {} };\nPair(int) -> Pair<int>;\nint a;\n",
    "1:8 struct S, 1:17 method struct:S/f, 3:5 variable a",
  ],
  [
    "Objective-C",
    "typedef NS_ENUM(NSInteger, Kind) {\n  KindA NS_SWIFT_NAME(a),\n};\nint after;\n",
    "1:28 enum Kind, 2:3 enumMember enum:Kind/KindA, 4:5 variable after",
  ],
  [
    "Objective-C",
    "typedef NS_OPTIONS(NSUInteger, Flags) { FlagA = 1 << 0 } NS_SWIFT_NAME(X.Flags);\n",
    "1:32 enum Flags, 1:41 enumMember enum:Flags/FlagA",
  ],
  [
    "Objective-C",
    "typedef NS_CLOSED_ENUM(long, A) { AA };\ntypedef NS_ERROR_ENUM(Domain, B) { BB };\nCF_ENUM(int) { CC };\n",
    "1:30 enum A, 1:35 enumMember enum:A/AA, 2:31 enum B, 2:36 enumMember enum:B/BB, 3:16 enumMember CC",
  ],
  [
    "Objective-C",
    "NS_ASSUME_NONNULL_BEGIN\n@interface A : B\n- (id)stop:(int)a API_AVAILABLE(ios(13), macos(10)) NS_UNAVAILABLE;\n@end\nNS_ASSUME_NONNULL_END\n",
    "2:12 class A, 3:7 method class:A/stop",
  ],
  [
    "C#",
    "class A { void F(ref readonly int a, params Span<int> b) {} int C = []; }",
    "1:7 class A, 1:16 method class:A/F, 1:65 field class:A/C",
  ],
  [
    "C#",
    "class A { void F() { a?.b = 3; c?.d.e += 4; } int G; }",
    "1:7 class A, 1:16 method class:A/F, 1:51 field class:A/G",
  ],
  [
    "C#",
    "class A { public void operator +=(int a) {} public void operator <<=(int a) {} }",
    "1:7 class A, 1:32 operator class:A/+=, 1:66 operator class:A/<<=",
  ],
  [
    "C#",
    "static class E { extension<T>(List<T> s) where T : class { public int Len => 1; } extension(string) { public static void F() {} } int a; }",
    "1:14 class E, 1:71 property class?:List/Len, 1:122 method class?:string/F, 1:135 field class:E/a",
  ],
  [
    "CSS",
    '@import "a.css" layer;\n@import url(b.css) layer(x) supports((a: b) and (c: d)) print;\n.a { b: c }',
    "3:1 selector .a",
  ],
  [
    "CSS",
    "@media (400px <= width < 900px) { .a { b: c } }\n@media (width >= 1px) and (height = 2px) { .d { b: c } }",
    "1:35 selector .a, 2:44 selector .d",
  ],
  [
    "CSS",
    "@container card (width > 400px) and style(--a: b) { .a { b: c } }\n@container style(--x) { .d { b: c } }",
    "1:53 selector .a, 2:25 selector .d",
  ],
  [
    "INI",
    "[a]\nk: v\nx = 1\npath: C:\\y\n  in : z\nlast=http://h:1\n",
    "1:2 table a, 2:1 key table:a/k, 3:1 key table:a/x, 4:1 key table:a/path, 5:3 key table:a/in, 6:1 key table:a/last",
  ],
  [
    "Java",
    "import module java.base;\nclass A { A(int b) { f(); super(b); } A() { f(); this(1); } int c; }",
    "2:7 class A, 2:11 constructor class:A/A, 2:39 constructor class:A/A, 2:65 field class:A/c",
  ],
  [
    "JavaScript",
    "import defer * as a from 'a';\nimport source b from 'b';\nclass C { accessor d = 1; static accessor #e; }\n",
    "3:7 class C, 3:20 field class:C/d, 3:43 field class:C/#e",
  ],
  [
    "TypeScript",
    "interface Source<in out T> { get(): T }\ntype Sink<in T> = T;\nclass C<A, out B extends D = E> {}\n",
    "1:11 interface Source, 1:30 method interface:Source/get, 2:6 type Sink, 3:7 class C",
  ],
  [
    "TypeScript",
    'type Q = (import("./a").B[] | undefined);\nconst r: (import("x").T)[] = [];\n',
    "1:6 type Q, 2:7 constant r",
  ],
  [
    "TypeScript",
    "export type * from 'a';\nclass C { static accessor #e = 1; f() {} }\n",
    "2:7 class C, 2:27 field class:C/#e, 2:35 method class:C/f",
  ],
  ["TSX", "using a = open();\nawait using b = open();\n", "1:7 constant a, 2:13 constant b"],
  [
    "Kotlin",
    "fun interface Act { fun run() }\nclass After\n",
    "1:15 interface Act, 1:25 method interface:Act/run, 2:7 class After",
  ],
  [
    "Kotlin",
    "class A<T>(b: B, c: () -> Int = { 1 }) {\n}\nclass D(e: E) : F<G>, H by e {\n  val i by lazy { 1 }\n}\n",
    "1:7 class A, 3:7 class D, 4:7 property class:D/i",
  ],
  [
    "Kotlin",
    "class A<T : Any>\n@Inject\ninternal constructor(\n  val b: T,\n) : C() {\n  fun d() {}\n}\n",
    "1:7 class A, 4:7 property class:A/b, 6:7 method class:A/d",
  ],
  [
    "Kotlin",
    'context(l: Logger, m: Map<A, B>)\nprivate fun f() { for (i in 0..<10) print($$"""a ${i}""") }\n',
    "2:13 function f",
  ],
  [
    "Kotlin",
    "class A {\n  fun f() = when (x) {\n    is Int if x > 3 -> 1\n    else if y -> 2\n    else -> 0\n  }\n}\n",
    "1:7 class A, 2:7 method class:A/f",
  ],
  ["Lua", "global function f() end\n  global x <const> = 1\n", "1:17 function f, 2:10 variable x"],
  [
    "OCaml",
    "(** Docs *)\nval f : ?x:int -> 'a\n\nmodule type S = sig\n  val g : int\nend\n",
    "2:5 function f, 4:13 interface S, 5:7 function interface:S/g",
  ],
  [
    "OCaml",
    "let f g = match g () with\n  | effect Ask, k -> continue k 1\n  | x -> x\nlet h = 1\n",
    "1:5 function f, 4:5 variable h",
  ],
  [
    "Python",
    "class A[T: (int, str) = int, *Ts = *tuple[int, ...]]:\n  def f[U = dict[str, list[int]]](self): ...\ntype P[T = str] = list[T]\n",
    "1:7 class A, 2:7 method class:A/f, 3:6 type P",
  ],
  [
    "Rust",
    'unsafe extern "C" { pub safe fn a(); safe static B: u8; }\n',
    "1:33 function a, 1:50 variable B",
  ],
  [
    "Scala",
    "given a: [A] => (o: Ord[A]) => Ord[List[A]]:\n  def b = 1\ngiven [A] => Ord[A] => Eq[A] = c\n",
    "1:7 object a, 2:7 method object:a/b",
  ],
  [
    "Swift",
    "struct A<T: ~Copyable>: ~Copyable, ~Escapable { func b() {} }\nextension C where D: ~Copyable {\n  func e() {}\n}\n",
    "1:8 struct A, 1:54 method struct:A/b, 3:8 method struct?:C/e",
  ],
  [
    "Swift",
    "class A {\n  nonisolated(unsafe) var b = 1\n  func c(_ d: consuming sending E, f: __owned G) throws(H) {}\n  package func i() {}\n  __consuming func j() {}\n}\n",
    "1:7 class A, 2:27 property class:A/b, 3:8 method class:A/c, 4:16 method class:A/i, 5:20 method class:A/j",
  ],
  [
    "Swift",
    "struct A<let n: Int> {\n  let b: [3 of Int]\n  let c: InlineArray<3, Int>\n  let d = #expect(x == 1)\n  func e(f: G,\n  ) { unsafe h(consume i) }\n}\n",
    "1:8 struct A, 2:7 property struct:A/b, 3:7 property struct:A/c, 4:7 property struct:A/d, 5:8 method struct:A/e",
  ],
  [
    "Zig",
    "const A = struct {};\nconst B = opaque {};\nconst C = enum(u8) {\n};\nconst d = 1;\n",
    "1:7 struct A, 2:7 struct B, 3:7 enum C, 5:7 constant d",
  ],
];

/** Texts that use the words of newer syntax, but not that syntax. */
const OLDER: readonly Row[] = [
  [
    "C",
    "#if A\nint f(int a);\n#else\nint f(void);\n#endif\nint auto_x = 1;\nint Complex;\n",
    "6:5 variable auto_x, 7:5 variable Complex",
  ],
  [
    "C",
    "#if A\n#define f(a)\n#else\nint g(void)\n#endif\n{\n}\nint h;\n",
    "2:9 macro f, 8:5 variable h",
  ],
  [
    "C++",
    "struct S { S() : a{} {} T a = {}; };\nint x = b[[] { return 1; }()];\nauto f() -> int;\n",
    "1:8 struct S, 1:12 constructor struct:S/S, 1:27 field struct:S/a, 2:5 variable x",
  ],
  [
    "Objective-C",
    "#define NS_ENUM(t, n) enum n : t n; enum n : t\n#define NS_UNAVAILABLE x\nint a;\n",
    "1:9 macro NS_ENUM, 2:9 macro NS_UNAVAILABLE, 3:5 variable a",
  ],
  [
    "C#",
    'class A { bool F() => a?.b == c; int[] G(int[] h) => typeof(int[]) ?? i; string j = "ref readonly"; }',
    "1:7 class A, 1:16 method class:A/F, 1:40 method class:A/G, 1:81 field class:A/j",
  ],
  [
    "CSS",
    "a > b { c: d }\n@media print { e { f: g } }\n@import url(x.css);\n",
    "1:1 selector a > b, 2:16 selector e",
  ],
  ["INI", "a:b = c\n; d: e\n[f:g]\nh = i:j\n", "1:1 key a:b, 3:2 table f:g, 4:1 key table:f:g/h"],
  [
    "Java",
    "class A { A() { this(1); } A(int b) { super(b); } int module, safe; }",
    "1:7 class A, 1:11 constructor class:A/A, 1:28 constructor class:A/A, 1:55 field class:A/module, 1:63 field class:A/safe",
  ],
  [
    "JavaScript",
    "const accessor = 1;\nfor (const accessor of using) { accessor in x; }\nconst y = { accessor, using: 1 };\nclass A { accessor() {} using = 1 }\n",
    "1:7 constant accessor, 3:7 constant y, 4:7 class A, 4:11 method class:A/accessor, 4:25 field class:A/using",
  ],
  [
    "TypeScript",
    "type A = { in: 1; out: 2 };\nfor (const k in out) {}\nconst z = a < b, c = in1 > out;\ninterface accessor { using: 1 }\nimport('x').then(f);\n",
    "1:6 type A, 3:7 constant z, 3:18 constant c, 4:11 interface accessor, 4:22 property interface:accessor/using",
  ],
  [
    "Kotlin",
    'class A(val b: Int)\nval c by lazy { 1 }\nobject D : E\nval f by G { 2 }\nval s = "a $"\nfun h() { context(i)\n  j() }\n',
    "1:7 class A, 1:13 property class:A/b, 2:5 variable c, 3:8 object D, 4:5 variable f, 5:5 variable s, 6:5 function h",
  ],
  [
    "Lua",
    "global = 1\nglobal.a = 2\nlocal global = global or {}\nfunction global.f() end\n",
    "1:1 variable global, 2:8 field variable:global/a, 3:7 variable global, 4:17 function variable:global/f",
  ],
  [
    "OCaml",
    "(*\nval in_comment : int *)\nlet effect = 1\nlet f x = effect + x\n",
    "3:5 variable effect, 4:5 function f",
  ],
  [
    "Python",
    "class_ = d[a]\nprint(type (b)[c])\ndef f(x=y[1]): pass\n",
    "1:1 variable class_, 3:5 function f",
  ],
  [
    "Rust",
    "fn safe() { let safe = 1; safe }\nmod r { pub unsafe fn f() {} }\n",
    "1:4 function safe, 2:5 module r, 2:23 function module:r/f",
  ],
  ["Scala", "given a: Ord[A] = b\nval f: A => B = c\n", "1:7 object a, 2:5 constant f"],
  [
    "Swift",
    "let a = ~B.c\nfunc of(consuming d: Int) throws { let package = [of, d] }\n#if DEBUG\nfunc e() {}\n#endif\n",
    "1:5 constant a, 2:6 function of, 4:6 function e",
  ],
  [
    "Zig",
    "fn f() void {}\nconst A = struct { b: u8 };\nconst c: A = .{};\n",
    "1:4 function f, 2:7 struct A, 2:20 field struct:A/b, 3:7 constant c",
  ],
];

const grammars = new Map<string, Parse>();
let extractor: Extractor;
beforeAll(async () => {
  extractor = await createExtractor();
});

async function symbolsOf(language: string, bytes: Uint8Array, by = extractor): Promise<string> {
  await by.prepare(language);
  const found = by.extract(language, bytes);
  if (found.outcome !== "symbols") throw new Error(JSON.stringify(found));
  return showSymbols(found.table, bytes).join(", ");
}

/** Resolves to whether the grammar reads the text, after the rules have reworded it, without an error. */
async function isRead(query: LanguageQuery, source: string): Promise<boolean> {
  const { grammar } = query;
  const parse = grammars.get(grammar) ?? (await openGrammar(grammar));
  grammars.set(grammar, parse);
  return !parse(asRead(query, Buffer.from(source))).hasError;
}

async function checkNewer(language: string, source: string, symbols: string): Promise<void> {
  expect(await symbolsOf(language, Buffer.from(source))).toBe(symbols);
  expect(await isRead(languageQuery(language)!, source)).toBe(true);
}

/** Checks a rule's row, and that the grammar misreads its source without the rule. */
async function checkRule(
  language: string,
  rule: string,
  source: string,
  symbols: string,
): Promise<void> {
  await checkNewer(language, source, symbols);
  const query = withoutRule(languageQuery(language)!, rule);
  if (!(await isRead(query, source))) return;
  using without = await createExtractor(LIMITS, () => query);
  expect(
    await symbolsOf(language, Buffer.from(source), without),
    `the grammar of ${language} knows this by now: delete the rule "${rule}" of ${language}, and its row`,
  ).not.toBe(symbols);
}

/** Returns the definition of a language without one of its rules. */
function withoutRule(query: LanguageQuery, rule: string): LanguageQuery {
  const { rewordings = [], frame, ...rest } = query;
  const others = rewordings.filter(({ name }) => name !== rule);
  return { ...rest, rewordings: others, ...(frame && frame.name !== rule && { frame }) };
}

async function checkOlder(language: string, source: string, symbols: string): Promise<void> {
  expect(await symbolsOf(language, Buffer.from(source))).toBe(symbols);
}

/** The rows of RULES, one for each language of a rule. */
const EXAMPLES = RULES.flatMap(([languages, ...row]) =>
  languages.split(", ").map((language) => [language, ...row] as const),
);

// language by language, because loading a grammar takes longer than everything else
for (const language of new Set([...EXAMPLES, ...COMBINED, ...OLDER].map(([name]) => name))) {
  const own = <T extends readonly string[]>(rows: readonly T[]) =>
    rows.filter(([name]) => name === language);
  test.each(own(EXAMPLES))("%s needs the rule %s: %s", checkRule);
  test.each(own(COMBINED))("%s is read with newer syntax: %s", checkNewer);
  test.each(own(OLDER))("%s does not reword %s", checkOlder);
}

test("a rewording does not damage a text that the grammar knows", async () => {
  const rewordings = [{ name: "", words: ["func"], newer: /func/g, older: () => "f(" }];
  const spoiled = { ...languageQuery("Go")!, rewordings };
  const spoiling = await createExtractor(LIMITS, () => spoiled);
  const bytes = Buffer.from("package p\nfunc f() {}\n");
  expect(await symbolsOf("Go", bytes, spoiling)).toBe("1:9 package p, 2:6 function f");
});

const rulesOf = ({ rewordings = [], frame }: LanguageQuery): readonly Rule[] =>
  frame ? [...rewordings, frame] : rewordings;

const REWORDED = LANGUAGE_QUERIES.filter((query) => rulesOf(query).length > 0);

/** Maps each rule to the languages that use it. */
const users = new Map<Rule, string[]>();
for (const query of REWORDED)
  for (const rule of rulesOf(query)) users.set(rule, [...(users.get(rule) ?? []), query.names[0]!]);

test("every rule has a row, and every row has a rule", () => {
  const rules = [...users].map(([{ name }, languages]) => `${languages.join(", ")}: ${name}`);
  expect(RULES.map(([languages, rule]) => `${languages}: ${rule}`)).toEqual(rules);
  expect(rules).toEqual([...new Set(rules)]);
});

test("every rule is in newer-syntax.ts and used by a language", () => {
  const rules: readonly Rule[] = Object.values(newerSyntax).flat();
  const used = [...users.keys()];
  expect(used.filter((rule) => !rules.includes(rule)).map(({ name }) => name)).toEqual([]);
  expect(rules.filter((rule) => !used.includes(rule)).map(({ name }) => name)).toEqual([]);
});

/** The language and the source of each row. */
const TEXTS = [
  ...EXAMPLES.map(([language, , source]) => [language, source] as const),
  ...[...COMBINED, ...OLDER].map(([language, source]) => [language, source] as const),
];

test("a rewording is as long as the text that it replaces", () => {
  const parts = TEXTS.flatMap(([, source]) => source.match(/\w+|\s+|[^\w\s]+/g)!);
  fc.assert(
    fc.property(
      fc.constantFrom(...REWORDED),
      fc.array(fc.constantFrom(...parts, "é", "\r\n"), { maxLength: 80 }),
      (query, chosen) => {
        const bytes = Buffer.from(chosen.join(""));
        expect((reword(bytes, query) ?? { bytes }).bytes.length).toBe(bytes.length);
      },
    ),
    { numRuns: 500 },
  );
});

test("time is linear in the length of the text, whatever the text repeats", () => {
  for (const [language, source] of TEXTS)
    for (const piece of [source, source.replace(/\s+/g, " "), source.slice(0, source.length / 2)])
      expect(workOnRepeated(piece, languageQuery(language)!), piece).toBeLessThan(MOST_WORK_MS);
});
