/** Specifies by example what an expression requires, and tests that no match lacks it. */

import { expect, test } from "vitest";
import { compileExpression } from "../../src/regex/expression.ts";
import { parseExpression } from "../../src/regex/parse.ts";
import { re2Ranges } from "../../src/re2/verify.ts";
import { requiredFormula, formatFormula } from "../../src/regex/required.ts";
import { satisfies } from "./differential.ts";
import { randomFrom, type Random } from "./random.ts";

const required = (source: string, caseSensitive = true) =>
  formatFormula(requiredFormula(parseExpression(source, { caseSensitive })));

test.each<[string, string]>([
  // literals
  ["foobar", '"foobar"'],
  ["ab", "any"],
  ["abc", '"abc"'],
  ["", "any"],
  ["é", "any"],
  ["éa", '"éa"'],
  ["€", '"€"'],
  ["\\x66oo", '"foo"'],
  ["\\Qa.b*\\E", '"a.b*"'],
  ["foo\\.bar", '"foo.bar"'],
  ["a\\nbc", '"a\\nbc"'],
  // any text may be between
  ["foo.bar", '(and "foo" "bar")'],
  ["foo.*bar", '(and "foo" "bar")'],
  ["foo.*foobar", '"foobar"'],
  ["a.*b", "any"],
  ["abc.*de", '"abc"'],
  ["foo\\s+bar", '(and "foo" "bar")'],
  ["foo\\Cbar", '(and "foo" "bar")'],
  // assertions have no width
  ["^foo$", '"foo"'],
  ["\\bfoo\\b", '"foo"'],
  ["fo\\Bo", '"foo"'],
  ["\\Afoo\\z", '"foo"'],
  // groups
  ["(foo)(bar)", '"foobar"'],
  ["(?:foo)bar", '"foobar"'],
  ["(?P<n>foo)bar", '"foobar"'],
  ["f(o(o(b)))", '"foob"'],
  // alternatives
  ["foo|bar", '(or "foo" "bar")'],
  ["foo|foo", '"foo"'],
  ["foo|ba", "any"],
  ["foo|foobar", '"foo"'],
  ["foobar|foo", '"foo"'],
  ["(foo|bar)baz", '(or "foobaz" "barbaz")'],
  ["(a|b)cd", '(or "acd" "bcd")'],
  ["abc(d|e)", '(or "abcd" "abce")'],
  ["(foo.*|bar)baz", '(and (or "foo" "bar") "baz")'],
  ["(foo.*bar|baz)", '(or (and "foo" "bar") "baz")'],
  ["(|foo)bar", '"bar"'],
  ["foo(x|)bar", '(or "fooxbar" "foobar")'],
  ["(alloc|free)_pages?", '(or "alloc_page" "free_page")'],
  ["static.*inline|static.*void", '(or (and "static" "inline") (and "static" "void"))'],
  // classes
  ["[ab]foo", '(or "afoo" "bfoo")'],
  ["[a-z]foo", '"foo"'],
  ["foo[0-9]bar", '(and "foo" "bar")'],
  ["[abc][abc]", "any"],
  ["[ab][cd]e", '(or "ace" "ade" "bce" "bde")'],
  ["[abcd][abcd][abcd]foo", '(or "afoo" "bfoo" "cfoo" "dfoo")'],
  ["[^a]foo", '"foo"'],
  ["\\d+foo", '"foo"'],
  ["foo[^\\x00-\\x{10ffff}]", "none"],
  ["foo|[^\\x00-\\x{10ffff}]", '"foo"'],
  // repetition
  ["(foo)*", "any"],
  ["(foo)+", '"foo"'],
  ["(foo)?bar", '"bar"'],
  ["foo(bar)?", '"foo"'],
  ["(foo){2}", '"foofoo"'],
  ["(foo){2,}", '"foofoo"'],
  ["(foo){2,3}x", '"foofoox"'],
  ["(foo){0}bar", '"bar"'],
  ["(foo){0,3}bar", '"bar"'],
  ["ab+c", "any"],
  ["ab+cde", '"bcde"'],
  ["fo+bar", '"obar"'],
  ["(foo|bar)+", '(or "foo" "bar")'],
  ["x{3}", '"xxx"'],
  ["x{2}", "any"],
  ["a*?foo", '"foo"'],
  // case
  ["(?i)foo", '"foo"i'],
  ["(?i)FOO_1", '"foo_1"i'],
  ["(?i)123", '"123"'],
  ["(?i)k\\x{212a}s", '"kks"i'],
  ["(?i:foo)Bar", '"foobar"i'],
  ["foo(?i).*bar", '(and "foo" "bar"i)'],
  ["[fF][oO][oO]", '"foo"i'],
  ["(?i)foo|FOO", '"foo"i'],
  ["FOO|(?i:foo)", '"foo"i'],
  ["(?i)[ab]cd", '(or "acd"i "bcd"i)'],
  ["(?i)é1", '"é1"i'],
  ["(?i)Σας", '"σασ"i'],
  ["(?i)K", "any"],
  // realistic expressions
  ["[a-z]+_lock\\(&?[a-z]+->", '"_lock("'],
  ["struct\\s+\\w+_ops\\s", '(and "struct" "_ops")'],
  [
    "\\bpci_[a-z]+_config_(byte|word|dword)\\b",
    '(and "pci_" (or "_config_byte" "_config_word" "_config_dword"))',
  ],
  ['MODULE_LICENSE\\("Dual', '"MODULE_LICENSE(\\"Dual"'],
  [
    "u(8|16|32|64) \\*?addr",
    '(or "u8 *addr" "u8 addr" "u16 *addr" "u16 addr" "u32 *addr" "u32 addr" "u64 *addr" "u64 addr")',
  ],
])("%s requires %s", (source, want) => {
  expect(required(source)).toBe(want);
});

test("without case, every form of a letter counts, but only one form of a sign", () => {
  expect(required("Foo_Bar", false)).toBe('"foo_bar"i');
  expect(required("fixme|todo", false)).toBe('(or "fixme"i "todo"i)');
});

test("thousands of alternatives become one formula, or none", () => {
  const words = Array.from({ length: 1_200 }, (_, i) => `w${1_000 + i}`);
  expect(required(words.slice(0, 900).join("|")).split(" ")).toHaveLength(901);
  expect(required(words.join("|"))).toBe("any");
});

/** Returns a random pattern of long literals, and a function that makes matching texts. */
interface Sampled {
  readonly source: string;
  readonly sample: () => string;
}

const LITERALS = ["foo", "bar_", "Kelvin", "straße", "aſk", "σας", "x", "é", "\\.h", ""];
const CLASSES: readonly (readonly [string, string])[] = [
  ["[ab]", "ab"],
  ["[^x]", "ak\n"],
  ["\\d", "07"],
  [".", "zé"],
  ["\\w", "q_"],
  ["\\s", " \n"],
  ["[kK]", "kK"],
];

function sampled(random: Random, depth: number): Sampled {
  const part = () => sampled(random, depth - 1);
  const kind = depth <= 0 ? random(2) : random(7);
  if (kind === 1) {
    const [source, members] = CLASSES[random(CLASSES.length)]!;
    const characters = Array.from(members);
    return { source, sample: () => characters[random(characters.length)]! };
  }
  if (kind === 0) {
    const source = LITERALS[random(LITERALS.length)]!;
    return { source, sample: () => source.replaceAll("\\", "") };
  }
  if (kind === 2) {
    const parts = [part(), part()];
    return {
      source: `(${parts.map(({ source }) => source).join("|")})`,
      sample: () => parts[random(2)]!.sample(),
    };
  }
  if (kind === 3) {
    const child = part();
    const [least, most] = [random(3), 3];
    const times = () => least + random(most - least + 1);
    return {
      source: `(?:${child.source}){${least},${most}}`,
      sample: () => Array.from({ length: times() }, child.sample).join(""),
    };
  }
  if (kind === 4) {
    const child = part();
    return { source: `(?i:${child.source})`, sample: () => child.sample().toUpperCase() };
  }
  const parts = [part(), part()];
  return {
    source: parts.map(({ source }) => source).join(""),
    sample: () => parts.map(({ sample }) => sample()).join(""),
  };
}

test("every match of RE2 contains the required literals", () => {
  const random = randomFrom(Number(process.env["QUERN_SEED"] ?? 1));
  let held = 0;
  for (let round = 0; round < 1_000; round++) {
    const { source, sample } = sampled(random, 4);
    const expression = compileExpression(source, { caseSensitive: random(2) === 0 });
    const { kind } = expression.required;
    if (kind === "any") continue;
    const text = Buffer.from([sample(), sample(), sample()].join("-"));
    const { data, length } = re2Ranges(expression, {
      bytes: text,
      text: { start: 0, end: text.length },
    });
    for (let i = 0; i < length; i++, held++) {
      const match = text.toString("utf8", data[2 * i], data[2 * i + 1]);
      const what = `${source} on ${JSON.stringify(match)}: ${formatFormula(expression.required)}`;
      expect(satisfies(match, expression.required), what).toBe(true);
    }
  }
  expect(held).toBeGreaterThan(300);
});
