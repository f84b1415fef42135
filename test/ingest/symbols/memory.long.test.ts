/** Tests how much memory the grammars of a thread take, counted in their runtimes. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createExtractor, LIMITS, type Extraction } from "../../../src/ingest/symbols/extract.ts";

const MIB = 2 ** 20;
const { Memory } = WebAssembly;
const memories: WeakRef<WebAssembly.Memory>[] = [];

beforeAll(() => {
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: ConstructorParameters<typeof Memory>[0]) {
      super(descriptor);
      memories.push(new WeakRef(this));
    }
  };
});
afterAll(() => {
  WebAssembly.Memory = Memory;
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function living(): Promise<WebAssembly.Memory[]> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 3; round++) {
    await turn();
    collect();
  }
  return memories.map((one) => one.deref()).filter((one) => one !== undefined);
}

const largest = async () => Math.max(...(await living()).map(({ buffer }) => buffer.byteLength));

test("ten grammars stay loaded, and the memory of the others is freed", async () => {
  const extractor = await createExtractor();
  const before = memories.length;
  const languages = "Go Python Ruby JavaScript CSS Lua TOML Java Nix Zig JSON INI Gleam".split(" ");
  for (const language of [...languages, ...languages.slice(-10)]) {
    await extractor.prepare(language);
    extractor.extract(language, Buffer.from("x\n"));
    await turn();
  }
  expect(memories.length - before).toBe(languages.length);
  expect((await living()).length).toBe(10);
  extractor.close();
});

test("a thread's next extractor reuses the three grammars that the last one has left", async () => {
  const prepared = async (...languages: string[]) => {
    const before = memories.length;
    const extractor = await createExtractor();
    for (const language of languages) await extractor.prepare(language);
    return { extractor, made: memories.length - before };
  };
  const { extractor: first } = await prepared("Lua", "TOML", "Nix", "Zig");
  first[Symbol.dispose]();
  const second = await prepared("TOML", "Nix", "Zig", "Lua");
  expect(second.made).toBe(1);
  const third = await prepared("TOML"); // the second extractor has it
  expect(third.made).toBe(1);
  const source = Buffer.from("[table]\nkey = 1\n");
  const found = second.extractor.extract("TOML", source);
  expect(found).toMatchObject({ outcome: "symbols" });
  expect(third.extractor.extract("TOML", source)).toEqual(found);
});

test("memory that has grown beyond 48 MiB is released before the next file", async () => {
  const extractor = await createExtractor({ ...LIMITS, maxMs: 60_000 });
  await extractor.prepare("Go");
  const before = memories.length;
  const text = Buffer.from(`package p\n${"var x = []int{1, 2, 3, f(a)}\n".repeat(28_000)}`);
  expect(extractor.extract("Go", text).outcome).toBe("symbols");
  expect(await largest()).toBeGreaterThan(48 * MIB);
  await extractor.prepare("Go");
  expect(memories.length - before).toBe(1);
  expect(extractor.extract("Go", Buffer.from("package p\nfunc f() {}\n"))).toMatchObject({
    table: { count: 2 },
  });
  await extractor.prepare("Go");
  expect(memories.length - before).toBe(1);
  expect(await largest()).toBeLessThan(48 * MIB);
});

test("a runtime that has read 8 MiB of text is replaced once, and finds the same", async () => {
  const text = Buffer.from("int f(int a) { return g(a); }\nstruct s { int x; };\n".repeat(200));
  const much = Buffer.from(`/*${" ".repeat(3 * MIB)}*/\n`);
  const extractor = await createExtractor();
  const before = memories.length;
  const made: number[] = [];
  const found: Extraction[] = [];
  for (let round = 0; round < 8; round++) {
    await extractor.prepare("C");
    made.push(memories.length - before);
    found.push(extractor.extract("C", text));
    await extractor.prepare("C");
    expect(extractor.extract("C", much)).toMatchObject({ outcome: "symbols" });
    await turn();
  }
  expect(made).toEqual([1, 1, 1, 2, 2, 2, 2, 2]);
  expect(found[0]).toMatchObject({ outcome: "symbols", table: { count: 600 } });
  for (const one of found) expect(one).toEqual(found[0]);
  extractor.close();
});
