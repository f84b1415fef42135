/** The manifest: what exists, in one small record. A search works on one manifest from first to last. */

import { pack, unpack } from "msgpackr";
import type { Pause } from "../../base/yield.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import { engineKey, RETIRE_MS } from "../format/format.ts";
import { unpackList } from "../format/long-list.ts";
import { corrupt } from "../format/sealed.ts";

export interface Manifest {
  /** One more with every publication. */
  readonly generation: number;
  readonly segments: readonly ManifestSegment[];
  /** Each repository with the generation in which its record or revision sets changed last. */
  readonly repositories: readonly (readonly [repository: number, changed: number])[];
  /** Numbers are never used again. */
  readonly nextRepository: number;
  /** More than any number that was ever published. */
  readonly nextSegment: number;
  readonly retired: readonly RetiredSegment[];
}

export interface ManifestSegment {
  readonly segment: number;
  readonly files: number;
  readonly textBytes: number;
  /** The edition of its part SYMBOLS that counts; 0: there is none. */
  readonly symbols: number;
  /** Whether that knows the symbols of every blob. */
  readonly hasSymbols: boolean;
}

export interface RetiredSegment {
  readonly segment: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The first generation without it. */
  readonly generation: number;
}

/** A float of 8 bytes before the record. */
const GENERATION_BYTES = 8;

export const EMPTY_MANIFEST: Manifest = {
  generation: 0,
  segments: [],
  repositories: [],
  nextRepository: 1,
  nextSegment: 1,
  retired: [],
};

export function readManifest(from: Snapshot | Writer): Manifest {
  const value = from.get(engineKey("manifest"), "the manifest");
  if (!value) throw corrupt("there is no manifest");
  return unpackManifest(value);
}

/** Decodes the manifest's value. */
export const unpackManifest = (value: Uint8Array): Manifest =>
  unpack(value.subarray(GENERATION_BYTES)) as Manifest;

/** How the list of repositories begins, which is written last. */
const REPOSITORIES = pack("repositories");
/** A manifest of so many bytes is read at once: some 0.5 ms. */
const SHORT_BYTES = 16 * 1024;

/** The same on a thread that others use: 100 000 repositories take 20 ms, in slices. */
export async function readManifestInSlices(from: Snapshot, pause: Pause): Promise<Manifest> {
  const value = from.get(engineKey("manifest"), "the manifest");
  if (!value) throw corrupt("there is no manifest");
  const record = Buffer.from(value.subarray(GENERATION_BYTES));
  const at = record.lastIndexOf(REPOSITORIES) + REPOSITORIES.length;
  const rest = record.length > SHORT_BYTES && withoutList(record.subarray(0, at));
  if (!rest) return unpack(record) as Manifest;
  const repositories = await unpackList<Manifest["repositories"][number]>(
    record.subarray(at),
    "the manifest",
    pause,
  );
  return { ...rest, repositories };
}

/** undefined: an older manifest, whose list is not the last of it. */
function withoutList(head: Uint8Array): Manifest | undefined {
  try {
    return unpack(Buffer.concat([head, pack([])])) as Manifest;
  } catch {
    return undefined;
  }
}

/** Reads only the manifest's generation, which a search checks first. */
export function readGeneration(from: Snapshot): number {
  const value = from.getSealed(engineKey("manifest"));
  if (!value || value.length < GENERATION_BYTES) throw corrupt("there is no manifest");
  return new DataView(value.buffer, value.byteOffset).getFloat64(0, true);
}

/** The list of repositories is written last, for who reads it in slices. */
export function putManifest(writer: Writer, { repositories, ...rest }: Manifest): void {
  const generation = new DataView(new ArrayBuffer(GENERATION_BYTES));
  generation.setFloat64(0, rest.generation, true);
  const record = pack({ ...rest, repositories });
  writer.put(engineKey("manifest"), new Uint8Array(generation.buffer), record);
}

/** The next generation, with `change` applied. Throws nothing: may be called within a transaction. */
export function nextManifest(manifest: Manifest, change: Partial<Manifest>): Manifest {
  return { ...manifest, ...change, generation: manifest.generation + 1 };
}

/** The list of repositories with one of them changed in the next generation. */
export function withRepository(manifest: Manifest, repository: number): Manifest["repositories"] {
  const changed = [repository, manifest.generation + 1] as const;
  return [...withoutRepository(manifest, repository), changed].sort(([a], [b]) => a - b);
}

export const withoutRepository = (
  { repositories }: Manifest,
  repository: number,
): Manifest["repositories"] => repositories.filter(([id]) => id !== repository);

/** Retired segments that nobody reads any more: in other processes RETIRE_MS have passed, in this one no search holds an older generation. */
export function deletable(manifest: Manifest, now: number, oldestHeld: number): RetiredSegment[] {
  return manifest.retired.filter(
    ({ at, generation }) => now - at >= RETIRE_MS && generation <= oldestHeld,
  );
}
