import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonParts, jsonResponse } from "../../src/http/json-body.ts";
import { jsonText } from "../../src/http/json-text.ts";

/** Does the same as jsonText(), in the obvious way. */
const escaped = (text: string): string =>
  text
    .replaceAll("\u0085", String.raw`\u0085`)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);

test("the parts together equal JSON.stringify()", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect([...jsonParts(value)].join("")).toBe(escaped(JSON.stringify(value)));
    }),
  );
});

test.each<[string, unknown]>([
  ["undefined fields are absent", { a: [{ b: undefined, c: [1] }], d: undefined }],
  ["undefined items are null", [[undefined], undefined]],
  ["empty lists", { a: [], b: [[]], c: {} }],
  ["a long text, cut where a pair would be halved", { a: `x${"😀".repeat(100_000)}`, b: "c" }],
  ["halves of pairs", "\ud83d".repeat(70_000) + "\ude00".repeat(70_000)],
  ["names that need escapes", { 'a"b': [1], "\u2028": ["\ud800"] }],
])("%s", (_name, value) => {
  expect([...jsonParts(value)].join("")).toBe(escaped(JSON.stringify(value)));
});

test("characters that Unicode treats as ends of lines are escaped everywhere", () => {
  const ends = "a\u0085b\u2028c\u2029d";
  const value = { [ends]: [ends, [ends]], long: ends.repeat(20_000), note: ends };
  const text = [...jsonParts(value)].join("");
  expect(text).not.toMatch(/[\u0085\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(value);
  expect(jsonText(ends)).toBe(String.raw`"a\u0085b\u2028c\u2029d"`);
});

test("a deeply nested value takes as long as a flat one", () => {
  let deep: unknown = [1];
  for (let level = 0; level < 2_000; level++) deep = { path: "a/".repeat(level), children: [deep] };
  const before = process.cpuUsage();
  const text = [...jsonParts(deep)].join("");
  const { user } = process.cpuUsage(before);
  expect(text.length).toBeGreaterThan(4_000_000);
  expect(text.endsWith(`[[1]]}${"]}".repeat(1_999)}`)).toBe(true);
  expect(user / 1_000).toBeLessThan(500); // ms; 20 to 40 in measurements
});

test("a short answer has a length, and a long one comes in pieces", async () => {
  const short = jsonResponse({ files: [1] });
  expect([short.headers.get("content-type"), await short.text()]).toEqual([
    "application/json",
    '{"files":[1]}',
  ]);
  const range = { start: { byteOffset: 1 }, end: { byteOffset: 2 } };
  const value = { files: [{ chunks: [{ matchRanges: Array(20_000).fill(range) }] }] };
  const sizes: number[] = [];
  let text = "";
  for await (const piece of jsonResponse(value).body!) {
    sizes.push(piece.length);
    text += Buffer.from(piece).toString();
  }
  expect(JSON.parse(text)).toEqual(value);
  expect(sizes.length).toBeGreaterThan(5);
  expect(Math.max(...sizes)).toBeLessThan(100_000);
});

test("between pieces, other work can run", async () => {
  const range = { start: { byteOffset: 1, lineNumber: 1 }, end: { byteOffset: 2, lineNumber: 1 } };
  const value = { files: [{ matchRanges: Array(100_000).fill(range) }] };
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await jsonResponse(value).text();
  clearInterval(timer);
  expect(turns).toBeGreaterThan(10);
});

test("a long text also comes in pieces, and every character arrives whole", async () => {
  const value = { source: "é€😀".repeat(100_000) };
  const sizes: number[] = [];
  const parts: Uint8Array[] = [];
  for await (const part of jsonResponse(value).body!) {
    sizes.push(part.length);
    parts.push(part);
  }
  expect(JSON.parse(Buffer.concat(parts).toString())).toEqual(value);
  expect(Math.max(...sizes)).toBe(32 * 1024);
});

const long = { list: Array(20_000).fill({ start: 1, end: 2 }) };
const soon = { stalledMs: 20 };

test.each<[string, unknown, (response: Response) => unknown]>([
  ["at once where it is short", [1], () => {}],
  ["when it is read", long, (response) => response.text()],
  ["when it is cancelled", long, (response) => response.body!.cancel()],
  [
    "when it is cancelled on its way",
    long,
    async (response) => {
      const reader = response.body!.getReader();
      for (let read = 0; read < 3; read++) await reader.read();
      const next = reader.read();
      await reader.cancel();
      expect((await next).done).toBe(true);
    },
  ],
  [
    "when nobody reads it",
    long,
    async (response) => {
      await new Promise((done) => setTimeout(done, 60));
      await expect(response.text()).rejects.toThrow();
    },
  ],
])("the end of a body is reported once: %s", async (_name, value, use) => {
  let ends = 0;
  await use(jsonResponse(value, { onEnd: () => ends++, ...soon }));
  expect(ends).toBe(1);
  await new Promise((done) => setTimeout(done, 40));
  expect(ends).toBe(1);
});
