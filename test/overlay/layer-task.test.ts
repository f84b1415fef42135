/** What a layer says about files that changed after they were listed and before they were read. */

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { layerTask } from "../../src/overlay/layer-task.ts";
import { FIRST_MEMORY_SEGMENT } from "../../src/store/format/format.ts";
import { openPacked } from "../../src/store/memory/memory-store.ts";
import { openSegment } from "../../src/store/segments/segment-reader.ts";
import { SharedTables, tablesMemoryBytes } from "../../src/store/segments/shared-tables.ts";
import { SMALL_LAYOUT, temporaryFolder } from "../engine/opened.ts";
import { inlineContext } from "./inline-context.ts";

const NOW: [what: string, happens: (file: string) => void, isGone: boolean][] = [
  ["as it was", (file) => writeFileSync(file, "needle"), false],
  ["not text", (file) => writeFileSync(file, "\0"), false],
  ["too large", (file) => writeFileSync(file, "x".repeat(101)), false],
  ["not there", () => {}, true],
  ["a folder", (file) => mkdirSync(file), true],
  ["a link", (file) => symlinkSync("elsewhere", file), true],
];

test.each(NOW)("a file that is %s", async (_, happens, isGone) => {
  const folder = temporaryFolder();
  happens(join(folder, "a.txt"));
  const files = [
    { path: "a.txt", content: { folder } },
    { path: "b.txt", content: { bytes: new Uint8Array() } },
  ];
  const repositories = [{ repository: 1, files }];
  const how = { layout: SMALL_LAYOUT, maxFileSize: 100, isDeadly: true, isPlain: false };
  const input = { segment: FIRST_MEMORY_SEGMENT, ...how, repositories };
  const { gone, header } = await layerTask(input, inlineContext());
  expect(gone).toEqual([[isGone, false]]);
  expect(header.files).toBe(2);
});

test("the tables of a layer are not put into shared memory, which they would fill", async () => {
  const files = [{ path: "a.txt", content: { bytes: Buffer.from("needle") } }];
  const how = { layout: SMALL_LAYOUT, maxFileSize: 100, isDeadly: true, isPlain: false };
  const segment = FIRST_MEMORY_SEGMENT;
  const input = { segment, ...how, repositories: [{ repository: 1, files }] };
  const { packed } = await layerTask(input, inlineContext());
  const tables = new SharedTables(new SharedArrayBuffer(tablesMemoryBytes(2 ** 16)));
  const reader = openSegment(openPacked(packed), segment, { tables })!;
  expect(reader.bytes).toBeGreaterThan(0); // without shared memory
  expect(tables.dropOthers(() => false)).toBe(0);
});

test("a file behind a link is not read, but the file after it is", async () => {
  const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
  for (const one of [join(elsewhere, "deep"), join(folder, "real")]) {
    mkdirSync(one);
    writeFileSync(join(one, "a.txt"), "needle");
  }
  symlinkSync(elsewhere, join(folder, "link"));
  const files = ["link/deep/a.txt", "real/a.txt"].map((path) => ({ path, content: { folder } }));
  const how = { layout: SMALL_LAYOUT, maxFileSize: 100, isDeadly: true, isPlain: true };
  const input = { segment: FIRST_MEMORY_SEGMENT, ...how, repositories: [{ repository: 1, files }] };
  const { header } = await layerTask(input, inlineContext());
  const { pageBytes, blockBytes } = SMALL_LAYOUT;
  expect(header).toMatchObject({ files: 2, textBytes: "needle".length, pageBytes, blockBytes });
});
