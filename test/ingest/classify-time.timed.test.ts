/** The flags of a file are determined within a limit, whatever its path and its text repeat. */

import { expect, test } from "vitest";
import { classify } from "../../src/ingest/classification/classify.ts";
import { SLOWNESS } from "../slowness.ts";
import { leastWork } from "./least-work.ts";

/** Milliseconds of processor time for one file. Measured: 0.1; without a limit, blank lines take 2.3. */
const MOST_MS = SLOWNESS;

const bytesOf = (text: string) => new TextEncoder().encode(text);

test("no flag takes long to determine", () => {
  const texts = ["// ", "#", "/*", " ", "\n", "// generated ", "do not edit "].map((unit) =>
    bytesOf(`${unit.repeat(1000).slice(0, 1000)} generated`),
  );
  const paths = [
    "a/".repeat(2000),
    "test_".repeat(800),
    "a.".repeat(2000),
    "_".repeat(4000),
    "aTest".repeat(800),
  ];
  const slow = paths.flatMap((path) =>
    texts.flatMap((text) => {
      const ms = leastWork(() => classify(path, text));
      const shown = [path, Buffer.from(text).toString()].map((one) =>
        JSON.stringify(one.slice(0, 8)),
      );
      return ms < MOST_MS ? [] : [`${shown.join(", ")}: ${ms} ms`];
    }),
  );
  expect(slow).toEqual([]);
});
