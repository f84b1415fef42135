/**
 * A process that opens and closes a directory and a store of keys again and again, and prints one line for each
 * failure.
 */

import { join } from "node:path";
import { open } from "../../../src/opened-engine.ts";
import { openKeyValue } from "../../../src/store/lmdb/key-value.ts";

const TIMES = 100;

const path = process.argv[2]!;

for (let i = 0; i < TIMES; i++) {
  try {
    await using engine = await open(join(path, "index"), { workers: 0 });
    await engine.repositories();
    await using store = openKeyValue(join(path, "keys"));
    store.table("numbers").get(Buffer.of(1));
  } catch (error) {
    console.log((error as Error).message);
  }
}
