/**
 * Writes src/mcp/token-table.ts: the first tokens of the vocabularies cl100k and o200k, with which
 * src/mcp/token-bound.ts counts. Run it (npx tsx scripts/build-token-table.ts) when the format changes.
 *
 * The format, before compression (Brotli): two lists, each with its length in bytes before it (32 bits,
 * little-endian). A list has tokens in the order in which they were merged, each as its length in
 * bytes, then its bytes. Tokens of one byte are left out.
 */

import { writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import cl100k from "gpt-tokenizer/bpeRanks/cl100k_base";
import o200k from "gpt-tokenizer/bpeRanks/o200k_base";

/** Of each vocabulary: with so many, counts of code are 8 of 100 too high in the median. */
const FIRST = 40_000;

type Vocabulary = readonly (string | readonly number[] | undefined)[];

function listOf(vocabulary: Vocabulary, isKept: (token: Buffer, rank: number) => boolean): Buffer {
  const parts = vocabulary.flatMap((token, rank) => {
    if (token === undefined) return [];
    const bytes = typeof token === "string" ? Buffer.from(token) : Buffer.from(token);
    if (bytes.length < 2 || bytes.length > 255 || !isKept(bytes, rank)) return [];
    return [Buffer.from([bytes.length]), bytes];
  });
  const list = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(list.length);
  return Buffer.concat([length, list]);
}

const isAscii = (token: Buffer): boolean => token.every((byte) => byte < 0x80);

// o200k knows more of other scripts: its counts of them stay below those of cl100k
const lists = Buffer.concat([
  listOf(cl100k as Vocabulary, (token, rank) => rank < FIRST || !isAscii(token)),
  listOf(o200k as Vocabulary, (token, rank) => rank < FIRST && isAscii(token)),
]);
const params = { [constants.BROTLI_PARAM_LGWIN]: 22, [constants.BROTLI_PARAM_QUALITY]: 11 };
const text = brotliCompressSync(lists, { params }).toString("base64");
writeFileSync(
  "src/mcp/token-table.ts",
  `// made by scripts/build-token-table.ts, which has the format\nexport const TOKEN_TABLE =\n  "${text}";\n`,
);
