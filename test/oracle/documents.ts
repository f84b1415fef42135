/** Random file contents: pieces that are difficult for scanners, small and repeated often enough to be found. */

import fc from "fast-check";
import { PAGE_BYTES } from "../../src/store/format/format.ts";

/** A few similar words, so that queries match, overlap and nearly match. */
export const WORDS =
  'foo Foo FOO fo oo bar foobar foo_bar fooBar ba aa baaa aaaa return x xx parse test( (a) a.b "q" a\\b -v or file:x $1 [z]'.split(
    " ",
  );

/** Characters with unusual case partners, and characters of every width. */
export const ODD =
  "k K \u212a s S ſ σ ς Σ i I İ ı ß ẞ é É e\u0301 å \u212b ǆ ǅ Ǆ ᲀ в θ ϑ µ μ 中 \u{1f600} \u{10400} \u{10428}".split(
    " ",
  );

const BLANKS = [
  " ",
  " ",
  "\t",
  "\n",
  "\n",
  "\n",
  "\r\n",
  "\n\n",
  "\r",
  "\u00a0",
  "\ufeff",
  "\u2028",
];

/** Invalid UTF-8: truncated, overlong, stray, a surrogate, beyond the last code point. */
const INVALID = [
  [0xff],
  [0x80],
  [0xc3],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
  [0xc0, 0x80],
  [0xe0, 0x80, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf0, 0x80, 0x80, 0x80],
].map((bytes) => Buffer.from(bytes));

const piece: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...WORDS).map((text) => Buffer.from(text)) },
  { weight: 3, arbitrary: fc.constantFrom(...ODD).map((text) => Buffer.from(text)) },
  { weight: 7, arbitrary: fc.constantFrom(...BLANKS).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.constantFrom(...INVALID) },
);

const short = fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.concat(pieces));

const text = fc
  .array(fc.constantFrom(...WORDS, ...ODD, " "), { maxLength: 6 })
  .map((words) => Buffer.from(words.join("")));

const filler = (...sizes: number[]): fc.Arbitrary<Buffer> =>
  fc
    .tuple(fc.constantFrom("x", "-", "é", "中", "\u{1f600}"), fc.constantFrom(...sizes))
    .map(([character, bytes]) =>
      Buffer.from(character.repeat(Math.ceil(bytes / Buffer.byteLength(character)))),
    );

const ANY_FILLER = filler(200, 256, 512, 520, 4100, 4100);
const SHORT_FILLER = filler(200, 256, 512, 520);

/** Usually a line of more than 4 KiB between other lines, with matches at and around the edges of windows. */
const longLine = fc
  .tuple(short, fc.array(fc.tuple(text, ANY_FILLER), { minLength: 2, maxLength: 4 }), text, short)
  .map(([before, parts, last, after]) => Buffer.concat([before, ...parts.flat(), last, after]));

/**
 * A long line that is no longer than necessary, because the oracle takes time in proportion to the line for each of its
 * bytes.
 */
const oneLongFiller = fc
  .tuple(short, text, SHORT_FILLER, text, filler(4100), text, short)
  .map((parts) => Buffer.concat(parts));

/** Text across the edge of one or two pages, or near it. */
const pageEdge = (pageBytes: number): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      fc.constantFrom(pageBytes, 2 * pageBytes),
      fc.integer({ min: -200, max: 20 }),
      short,
      fc.boolean(),
    )
    .map(([page, offset, text, inLines]) =>
      Buffer.concat([Buffer.alloc(page + offset, inLines ? "lines of text\n" : "z"), text]),
    );

const BOM = Buffer.from("\ufeff");
const NEWLINE = Buffer.from("\n");
const anyBytes = fc.uint8Array({ min: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes));

export interface DocumentShape {
  /** Whether some documents are larger than one page of an index, and long lines are more frequent. */
  readonly pages: boolean;
  /** The size of a page. Default PAGE_BYTES. */
  readonly pageBytes?: number | undefined;
}

/** Returns contents that are never binary, and never UTF-16 by their first bytes. */
export function documentBytes({
  pages,
  pageBytes = PAGE_BYTES,
}: DocumentShape): fc.Arbitrary<Uint8Array> {
  return fc
    .oneof(
      { weight: 12, arbitrary: short },
      pages ? { weight: 6, arbitrary: longLine } : { weight: 1, arbitrary: oneLongFiller },
      { weight: pages ? 2 : 0, arbitrary: pageEdge(pageBytes) },
      { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
      { weight: 1, arbitrary: short.map((text) => Buffer.concat([BOM, text])) },
      { weight: 1, arbitrary: short.map((text) => Buffer.concat([text, NEWLINE])) },
      { weight: 1, arbitrary: anyBytes },
    )
    .map((bytes) => (isUtf16(bytes) ? bytes.subarray(2) : bytes))
    .map((bytes) => (isUtf16(bytes) ? Buffer.from("again") : bytes));
}

function isUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
