import { expect, test } from "vitest";
import { embeddedParts } from "../../../src/ingest/symbols/embedded.ts";

/** HTML texts, with the language and text of each part. */
const CASES: readonly (readonly [html: string, parts: string[]])[] = [
  ["<script>a</script><style>b</style>", ["TypeScript a", "CSS b"]],
  ["<SCRIPT type=module >a</Script >", ["TypeScript a"]],
  ['<script lang="tsx">a</script>', ["TSX a"]],
  ['<script setup lang="ts" generic="T extends Map<A, B>">a</script>', ["TypeScript a"]],
  ['<script type="application/json">a</script>', []],
  ['<script src="x.js"></script>', ["TypeScript "]],
  ['<style lang="scss">a</style><style lang=css>b</style>', ["CSS a", "CSS b"]],
  ['<style lang="stylus">a</style>', []],
  ["<!-- <script>a</script> --><script>b</script>", ["TypeScript b"]],
  ["<script data-x='>' lang = \"ts\">a</script>", ["TypeScript a"]],
  ["<script it's>a</script>", ["TypeScript a"]],
  ["<script x='>a</script>", []],
  ["<script>a", ["TypeScript a"]],
  ["<!-- <script>a</script>", []],
  ["é<script>é</script>", ["TypeScript é"]],
];

test.each(CASES)("finds the embedded parts of %s", (html, parts) => {
  const bytes = Buffer.from(html);
  const found = embeddedParts("HTML", bytes)!;
  expect(found.map((p) => `${p.language} ${bytes.toString("utf8", p.start, p.end)}`)).toEqual(
    parts,
  );
});

test.each([
  "<script ",
  '<script x="',
  '<script "',
  "<script>",
  "<!--",
  "<script>a</script ",
  "<style>-->",
  "type ",
])("%j a million times takes linear time", (piece) => {
  const html = Buffer.from(`<script>${piece.repeat(1_000_000 / piece.length)}`);
  const start = performance.now();
  embeddedParts("HTML", html);
  expect(performance.now() - start).toBeLessThan(5_000); // quadratic time would be minutes
});

test("only languages that embed others have parts", () => {
  expect(embeddedParts("TypeScript", Buffer.from("<script>a</script>"))).toBeUndefined();
});
