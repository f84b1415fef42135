/** The example of docs/index-format.md, byte by byte. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

const page = readFileSync("docs/index-format.md", "utf8");
const rows = [...page.matchAll(/^\| `(0[35] [\da-f ]+)` +\| `([\da-f ]+)`/gm)].map((row) =>
  row.slice(1).map((hex) => hex.replaceAll(" ", "")),
);

test("the stored bytes equal the example", async () => {
  const path = temporaryFolder();
  const content = "let x\n";
  const engine = await openEngine({}, path);
  const files = ["a.ts", "b.ts"].map((name) => ({ path: name, content }));
  await engine.index(documents({ name: "one", files }));
  const environment = openEnvironment(path, { readOnly: true });
  const snapshot = environment.snapshot();
  const stored = rows.map(([key]) => {
    const value = snapshot.get(Buffer.from(key!, "hex"), key!);
    return [key, value && Buffer.from(value).toString("hex")];
  });
  snapshot.close();
  await environment.close();
  expect(rows.length).toBe(5);
  expect(stored).toEqual(rows);
});
