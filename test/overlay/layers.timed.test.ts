/** Texts that come one by one: how often they are indexed, and which of them are kept. */

import { expect, onTestFinished, test } from "vitest";
import { openCore } from "../../src/opened-engine.ts";
import { checkDocuments } from "../../src/overlay/documents.ts";
import { layerTask, type LayerInput } from "../../src/overlay/layer-task.ts";
import { Overlays } from "../../src/overlay/overlays.ts";
import { documents } from "../../src/index.ts";
import { LAYOUT } from "../../src/store/format/format.ts";
import { KeptTables } from "../../src/store/segments/kept-tables.ts";
import type { Pool } from "../../src/threads/pool.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { SLOWNESS } from "../slowness.ts";
import { inlineContext } from "./inline-context.ts";

async function openOverlays() {
  const core = await openCore(temporaryFolder(), { workers: 0 });
  onTestFinished(() => core.close());
  await core.index(documents({ name: "shop", files: [{ path: "a.txt", content: "indexed" }] }), {});
  const { newest, reader } = core.parts;
  const indexed: string[] = [];
  const context = inlineContext();
  let last: Promise<unknown> = Promise.resolve();
  const run = (_: string, input: LayerInput) => {
    for (const { files } of input.repositories) indexed.push(...files.map(({ path }) => path));
    const layer = last.then(() => layerTask(input, context)); // a thread runs one at a time
    last = layer;
    return layer;
  };
  const overlays = new Overlays({
    pool: { lanes: 2, inline: true, run } as unknown as Pool,
    maxFileSize: 2 ** 20,
    layout: LAYOUT,
    newest,
    tables: new KeptTables(),
    reading: (read) => reader.reading(read),
  });
  const view = (texts: readonly (readonly [path: string, content: string])[]) =>
    overlays.view(
      checkDocuments(texts.map(([path, content]) => ({ repository: "shop", path, content }))),
      () => true,
    );
  const plainView = (texts: readonly (readonly [path: string, content: string])[]) => {
    const checked = checkDocuments(
      texts.map(([path, content]) => ({ repository: "shop", path, content })),
    );
    const plain = checked.map((one) => ({ ...one, text: { ...one.text!, isPlain: true } }));
    return overlays.view(plain, () => true);
  };
  return { core, indexed, view, plainView, release: () => overlays.release("shop") };
}

test("texts that arrive one by one are in few layers, and each is indexed only a few times", async () => {
  const { indexed, view } = await openOverlays();
  const texts: [string, string][] = [];
  for (let i = 0; i < 200; i++) {
    texts.push([`file${i}.txt`, `text ${i}`]);
    const { packed, catalog } = await view(texts);
    expect(packed.length).toBeLessThanOrEqual(8);
    const [repository] = catalog.repositories.values();
    expect(repository!.places.length).toBe(1 + packed.length);
  }
  expect(indexed.length).toBeLessThan(200 * 5);
});

test("ten open files are indexed once, and then take less than a millisecond", async () => {
  const { indexed, view } = await openOverlays();
  const open = Array.from({ length: 10 }, (_, i): [string, string] => [`${i}.ts`, `let x${i};\n`]);
  await view(open);
  const costs: number[] = [];
  for (let search = 0; search < 200; search++) {
    const before = process.cpuUsage();
    await view(open);
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1_000);
  }
  expect(indexed.length).toBe(10);
  expect(costs.toSorted((a, b) => a - b)[100]).toBeLessThan(1 * SLOWNESS);
});

test("recently used texts are kept, and older ones are dropped", async () => {
  const { indexed, view } = await openOverlays();
  for (let i = 0; i < 300; i++) await view([["a.txt", `text ${i}`]]);
  expect(indexed.length).toBe(300);
  for (let i = 250; i < 300; i++) await view([["a.txt", `text ${i}`]]);
  expect(indexed.length).toBe(300);
  await view([["a.txt", "text 200"]]);
  expect(indexed.length).toBe(301);
});

test("after a repository was removed and indexed again, its texts are put into new layers", async () => {
  const { core, indexed, view } = await openOverlays();
  const texts = [["a.txt", "unsaved"]] as const;
  await view(texts);
  await core.remove("shop", {});
  await core.index(documents({ name: "shop", files: [{ path: "a.txt", content: "indexed" }] }), {});
  const { catalog } = await view(texts);
  const [repository] = catalog.repositories.values();
  expect(repository!.places.length).toBe(2);
  expect(indexed.length).toBe(2);
});

test("plain texts are divided among the threads, and are kept until they are released", async () => {
  const { indexed, view, plainView, release } = await openOverlays();
  const texts = Array.from({ length: 40 }, (_, i): [string, string] => [
    `${i}.txt`,
    `text ${i} `.repeat(10_000),
  ]);
  const { packed, catalog } = await plainView(texts);
  expect(packed.length).toBe(2);
  const added = catalog.manifest.segments.slice(-2);
  expect(added.map(({ hasSymbols }) => hasSymbols)).toEqual([false, false]);
  const [first, second] = added.map(({ textBytes }) => textBytes);
  expect(Math.abs(first! - second!)).toBeLessThan(200_000); // at most one text more
  await plainView([...texts.slice(1), ["new.txt", "new"]]);
  expect(indexed.length).toBe(41);
  await view([["0.txt", "unsaved"]]);
  await release();
  await view([["0.txt", "unsaved"]]);
  expect(indexed.length).toBe(42);
  await plainView(texts.slice(0, 3));
  expect(indexed.length).toBe(45);
});
