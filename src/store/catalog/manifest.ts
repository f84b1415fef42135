/** Reads and writes the manifest, the small record that names everything published. A search uses one manifest throughout. */

import { pack, unpack } from "msgpackr";
import type { Pause } from "../../base/yield.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";
import { engineKey, RETIRE_MS } from "../format/format.ts";
import { unpackList } from "../format/long-list.ts";
import { corrupt } from "../format/sealed.ts";

export interface Manifest {
  /** Grows by one with each publication. */
  readonly generation: number;
  readonly segments: readonly ManifestSegment[];
  /** Each repository, with the generation in which its record or revision sets changed last. */
  readonly repositories: readonly (readonly [repository: number, changed: number])[];
  /** The id of the next new repository. Ids are never used again. */
  readonly nextRepository: number;
  /** Greater than the number of any segment that was ever published. */
  readonly nextSegment: number;
  readonly retired: readonly RetiredSegment[];
}

export interface ManifestSegment {
  readonly segment: number;
  readonly files: number;
  readonly textBytes: number;
  /** The current edition of its symbols; 0 if there is none. */
  readonly symbols: number;
  /** Whether this edition has the symbols of every blob. */
  readonly hasSymbols: boolean;
}

export interface RetiredSegment {
  readonly segment: number;
  /** When it was retired, in milliseconds since 1970. */
  readonly at: number;
  /** The first generation without the segment. */
  readonly generation: number;
}

/** The generation precedes the record, as a float of 8 bytes. */
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

/** The key before the list of repositories, which is written last. */
const REPOSITORIES = pack("repositories");
/** Manifests up to this length are decoded at once, in about 0.5 ms. */
const SHORT_BYTES = 16 * 1024;

/** Reads the manifest in slices, so as not to block the thread: 100 000 repositories take 20 ms. */
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

/** Decodes a manifest without its list of repositories. Returns undefined for older manifests, where the list is not last. */
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

/** Writes the manifest, with the list of repositories last so that readManifestInSlices() can cut it off. */
export function putManifest(writer: Writer, { repositories, ...rest }: Manifest): void {
  const generation = new DataView(new ArrayBuffer(GENERATION_BYTES));
  generation.setFloat64(0, rest.generation, true);
  const record = pack({ ...rest, repositories });
  writer.put(engineKey("manifest"), new Uint8Array(generation.buffer), record);
}

/** Returns the manifest of the next generation, with `change` applied. */
export function nextManifest(manifest: Manifest, change: Partial<Manifest>): Manifest {
  return { ...manifest, ...change, generation: manifest.generation + 1 };
}

/** Returns the list of repositories with one added, or marked as changed in the next generation. */
export function withRepository(manifest: Manifest, repository: number): Manifest["repositories"] {
  const changed = [repository, manifest.generation + 1] as const;
  return [...withoutRepository(manifest, repository), changed].sort(([a], [b]) => a - b);
}

export const withoutRepository = (
  { repositories }: Manifest,
  repository: number,
): Manifest["repositories"] => repositories.filter(([id]) => id !== repository);

/**
 * Returns the retired segments that nobody reads any more. For other processes it waits until RETIRE_MS have
 * passed. In this process no search may use a generation that still has the segment (`oldestHeld`).
 */
export function deletable(manifest: Manifest, now: number, oldestHeld: number): RetiredSegment[] {
  return manifest.retired.filter(
    ({ at, generation }) => now - at >= RETIRE_MS && generation <= oldestHeld,
  );
}
