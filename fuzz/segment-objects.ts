/**
 * Fuzzes segments as objects, changed and cut anywhere. Under the key of the original, changed bytes must be
 * INDEX_CORRUPT. Only someone who may write to the store can put them under their own key. Such an object must be read
 * or refused, and must write nothing outside its segment. How the bytes are divided into pieces must make no
 * difference. An input is a byte that is odd if the object has its own key, followed by the object.
 */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QuernError } from "../src/base/errors.ts";
import { deleteSegment, fetchSegment, sendSegment } from "../src/cluster/objects/segment-object.ts";
import { directorySegments } from "../src/cluster/objects/directory-segments.ts";
import { open } from "../src/opened-engine.ts";
import { documents } from "../src/ingest/sources/documents.ts";
import { readManifest } from "../src/store/catalog/manifest.ts";
import { openStore } from "../src/store/catalog/open.ts";
import { segmentRange } from "../src/store/format/format.ts";
import type { Environment } from "../src/store/lmdb/environment.ts";
import { randomFrom, type Random } from "../test/regex/random.ts";
import { mutate } from "./mutate.ts";
import { pieces } from "./pieces.ts";
import { holds, type Target } from "./target.ts";

/** A segment number that no manifest contains. */
const SEGMENT = 4_000_000;
const EVERYTHING = [Buffer.of(0), Buffer.alloc(64, 255)] as const;

export async function openSegmentObjectsTarget(): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), "quern-fuzz-objects-"));
  const path = join(folder, "index");
  const engine = await open(path, { workers: 0 });
  const files = Array.from({ length: 9 }, (_, n) => ({
    path: `src/${n}.ts`,
    content: `export function made${n}() {}\n`.repeat(1 + n),
  }));
  await engine.index(documents({ name: "shop", files }));
  await engine.close();
  const environment = await openStore(path, { readOnly: false });
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const store = directorySegments(join(folder, "objects"));
  const { key } = await sendSegment(environment, firstSegment(environment), store);
  const parts: Uint8Array[] = [];
  for await (const part of await store.get(key)) parts.push(Uint8Array.from(part));
  const sound = Buffer.concat(parts);
  const rest = keysOutside(environment);
  const seen = { read: 0, refused: 0 };
  return {
    summary: () => JSON.stringify(seen),
    make: (random) => make(random, sound),
    async check(input) {
      if (input.length < 1) return;
      const given = input.subarray(1);
      const isOwn = input[0]! % 2 === 1;
      const named = isOwn ? keyOf(given) : key;
      const body = async function* () {
        yield* pieces(given, randomFrom(input.length));
      };
      const outcome = await fetched(environment, named, { ...store, get: async () => body() });
      seen[outcome]++;
      if (!isOwn) holds((outcome === "read") === given.equals(sound), `${outcome}, under its key`);
      holds(keysOutside(environment) === rest, "something outside the segment was written");
      await deleteSegment(environment, SEGMENT);
    },
  };
}

type Store = Parameters<typeof fetchSegment>[2];

async function fetched(
  environment: Environment,
  key: string,
  store: Store,
): Promise<"read" | "refused"> {
  try {
    await fetchSegment(environment, { key, segment: SEGMENT }, store);
    return "read";
  } catch (error) {
    if (error instanceof QuernError && error.code === "INDEX_CORRUPT") return "refused";
    throw error;
  }
}

const keyOf = (bytes: Uint8Array): string => {
  const sum = createHash("sha256").update(bytes).digest("hex");
  return `v1/seg/${sum.slice(0, 2)}/${sum}`;
};

function firstSegment(environment: Environment): number {
  const snapshot = environment.snapshot();
  const [first] = readManifest(snapshot).segments;
  snapshot.close();
  return first!.segment;
}

/** Returns all keys except those of SEGMENT, as one line. */
function keysOutside(environment: Environment): string {
  const [from, to] = segmentRange(SEGMENT);
  const snapshot = environment.snapshot();
  const keys = Array.from(snapshot.keys(EVERYTHING), (key) => Buffer.from(key));
  snapshot.close();
  const isInside = (key: Buffer) => key.compare(from) >= 0 && key.compare(to) < 0;
  return keys
    .filter((key) => !isInside(key))
    .map((key) => key.toString("hex"))
    .join();
}

function make(random: Random, sound: Buffer): Buffer {
  const isOwn = random(2);
  const bytes = random(20) === 0 ? sound : mutate(random, sound, [sound]);
  return Buffer.concat([Uint8Array.of(isOwn), bytes]);
}
