/** The kinds of files that an answer shows later, because they rarely are what a question asks for. */

import { FILE_FLAG } from "../store/format/format.ts";
import type { Term } from "./question.ts";
import { FACTORS, type Factor } from "./weights.ts";

const FACTOR_NAMES = Object.keys(FACTORS) as Factor[];

const PROSE = new Set([
  "AsciiDoc",
  "Markdown",
  "Org",
  "RDoc",
  "reStructuredText",
  "Text",
  "Textile",
  "Wikitext",
  "",
]);
const DATA = new Set(
  "CSV,INI,Java Properties,JSON,JSON with Comments,SVG,TOML,TSV,YAML,XML,EditorConfig,Git Attributes,Ignore List,HTML".split(
    ",",
  ),
);
const EXAMPLE =
  /(?:^|\/)(?:examples?|samples?|demos?|docs?|benchmarks?|bench|docs_src|website|playground|tutorials?)\//i;
const LEGACY = /(?:^|\/)(?:legacy|compat|_?deprecated|obsolete|old)(?:\/|[._-])/i;
const STUB = /\.d\.[cm]?ts$|\.pyi$/;

/** The words of a question that ask for files of a kind. */
const ASKS_FOR: Readonly<Record<Factor, RegExp>> = {
  test: /^tests?$/,
  vendored: /^(?:vendor|vendored|vendors)$/,
  generated: /^generated$/,
  prose: /^(?:readme|docs?|documentation|changelog|guide|tutorial)$/,
  data: /^(?:yaml|toml|ini|csv|settings)$/,
  example: /^(?:examples?|samples?|demos?|benchmarks?)$/,
  legacy: /^(?:legacy|compat|deprecated)$/,
  stub: /^(?:stubs?|declarations?)$/,
};

/** Returns the kinds of a file. */
export function kindsOf(path: string, language: string, flags: number): Factor[] {
  const is: Readonly<Record<Factor, boolean>> = {
    test: (flags & FILE_FLAG.TEST) !== 0,
    vendored: (flags & FILE_FLAG.VENDORED) !== 0,
    generated: (flags & FILE_FLAG.GENERATED) !== 0,
    prose: PROSE.has(language),
    data: DATA.has(language),
    example: EXAMPLE.test(path),
    legacy: LEGACY.test(path),
    stub: STUB.test(path),
  };
  return FACTOR_NAMES.filter((kind) => is[kind]);
}

/** Returns the factor of each kind. If the question asks for files of a kind, its factor counts half. */
export function factorsFor(terms: readonly Term[]): Readonly<Record<Factor, number>> {
  const entries = FACTOR_NAMES.map((kind): [Factor, number] => {
    const isAskedFor = terms.some(({ word }) => ASKS_FOR[kind].test(word));
    return [kind, isAskedFor ? Math.sqrt(FACTORS[kind]) : FACTORS[kind]];
  });
  return Object.fromEntries(entries) as Record<Factor, number>;
}
