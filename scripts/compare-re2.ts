/**
 * Compares expressions with RE2 from another package, which shares no code with the RE2 that quern ships. It checks
 * which random and hostile expressions are accepted, and which ranges they match. It needs Python 3 with google-re2:
 *
 *     pip install google-re2
 *     npx tsx scripts/compare-re2.ts [EXPRESSIONS] [SEED]
 *
 * A difference is printed, and the exit code is 1. The seed is printed, too. Newer RE2 and the RE2 that quern ships
 * differ in loops over something that would rather match nothing, such as (|a)* and (a??)*. If the shipped RE2 agrees
 * with quern, the difference is only counted.
 */

import { spawnSync } from "node:child_process";
import { QuernError } from "../src/base/errors.ts";
import { compileExpression } from "../src/regex/expression.ts";
import { compareOn, matcherRanges, showRanges } from "../test/regex/differential.ts";
import { randomFrom, randomPattern, randomSyntax, randomText } from "../test/regex/random.ts";

/**
 * Answers a JSON list of [pattern, case-sensitive, texts in hex]. Each answer is null for a rejected pattern, or the
 * ranges in each text. As in quern, an empty range that touches the end of the previous range is dropped, and the
 * search continues one character after an empty range.
 */
const PYTHON = `
import json, re2, sys
def step(text, at):
    isInside = at < len(text) and text[at] & 0xc0 == 0x80
    at += 1
    while not isInside and at < len(text) and text[at] & 0xc0 == 0x80: at += 1
    return at
def ranges(compiled, text):
    found, at, last = [], 0, -1
    while at <= len(text):
        match = compiled.search(text, at)
        if not match: break
        start, end = match.span()
        if start < end or start != last: found.append(f"{start}-{end}")
        last = end
        at = end if end > at else step(text, at)
    return " ".join(found)
def answer(pattern, sensitive, texts):
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = sensitive
    options.max_mem = 1 << 28
    try: compiled = re2.compile(("(?m)" + pattern).encode(), options)
    except re2.error: return None
    return [ranges(compiled, bytes.fromhex(text)) for text in texts]
print(json.dumps([answer(*one) for one in json.load(sys.stdin)]))
`;

const [count = 20_000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number);
const random = randomFrom(seed);
const TEXTS = 3;
const A_BATCH = 500;

interface Case {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly texts: readonly Uint8Array[];
}

function randomCase(): Case {
  const how = random(4);
  const part = (): string => randomPattern(random);
  const pattern =
    how === 0
      ? randomSyntax(random)
      : how === 1
        ? `(?:${part()}){${random(40)},${random(40)}}${part()}`
        : how === 2
          ? `(?:${part()}|${part()})*${part()}{${random(1_100)}}`
          : part();
  const texts = Array.from(
    { length: TEXTS },
    () => Buffer.from(Buffer.from(randomText(random)).toString()), // valid UTF-8
  );
  return { pattern, caseSensitive: random(2) === 0, texts };
}

/** Returns quern's answer, or undefined if the expression exceeds a limit that only quern has. */
function answerOf({ pattern, caseSensitive, texts }: Case): string[] | null | undefined {
  try {
    const expression = compileExpression(pattern, { caseSensitive });
    return texts.map((text) => showRanges(matcherRanges(expression, text)));
  } catch (error) {
    if (!(error instanceof QuernError)) throw error;
    return error.code === "REGEX_TOO_LARGE" ? undefined : null;
  }
}

/** Whether the RE2 that quern ships finds the same ranges as quern. */
const isOfShipped = ({ pattern, caseSensitive, texts }: Case): boolean =>
  texts.every(
    (text) => compareOn(compileExpression(pattern, { caseSensitive }), text) === undefined,
  );

let [compared, accepted, versions, differences] = [0, 0, 0, 0];
for (let done = 0; done < count; done += A_BATCH) {
  const cases = Array.from({ length: A_BATCH }, randomCase).filter(
    ({ pattern }) =>
      !/[\ud800-\udfff]/.test(pattern.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "")),
  );
  const input = cases.map(({ pattern, caseSensitive, texts }) => [
    pattern,
    caseSensitive,
    texts.map((text) => Buffer.from(text).toString("hex")),
  ]);
  const { stdout, stderr, status } = spawnSync("python3", ["-c", PYTHON], {
    input: JSON.stringify(input),
    maxBuffer: 2 ** 30,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  const wanted = JSON.parse(stdout) as (string[] | null)[];
  for (const [i, one] of cases.entries()) {
    const got = answerOf(one);
    if (got === undefined) continue;
    compared++;
    if (got !== null) accepted++;
    if (JSON.stringify(got) === JSON.stringify(wanted[i])) continue;
    if (got !== null && wanted[i] && isOfShipped(one)) {
      versions++;
      continue;
    }
    differences++;
    console.log(
      `${JSON.stringify(one.pattern)} ${one.caseSensitive ? "" : "(ignoring case) "}` +
        `in ${JSON.stringify(one.texts.map((text) => Buffer.from(text).toString("latin1")))}:\n` +
        `  quern ${JSON.stringify(got)}\n  RE2   ${JSON.stringify(wanted[i])}`,
    );
  }
}
console.log(
  `seed ${seed}: ${compared} expressions compared, ${accepted} accepted, ${TEXTS} texts each: ` +
    `${versions} differences between versions of RE2, ${differences} others`,
);
if (differences > 0) process.exitCode = 1;
