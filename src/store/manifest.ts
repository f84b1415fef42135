/** The manifest: what exists, in one small record. A search works on one manifest from first to last. */

import { pack, unpack } from "msgpackr";
import type { Snapshot, Writer } from "./environment.ts";
import { engineKey, RETIRE_MS } from "./format.ts";
import { corrupt } from "./sealed.ts";

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
  /** Whether part SYMBOLS is there. */
  readonly hasSymbols: boolean;
}

export interface RetiredSegment {
  readonly segment: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

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
  return unpack(value) as Manifest;
}

export function putManifest(writer: Writer, manifest: Manifest): void {
  writer.put(engineKey("manifest"), pack(manifest));
}

/** The next generation, with `change` applied. Throws nothing: may be called within a transaction. */
export function nextManifest(manifest: Manifest, change: Partial<Manifest>): Manifest {
  return { ...manifest, ...change, generation: manifest.generation + 1 };
}

/** The list of repositories with one of them changed, or taken out, in the next generation. */
export function withRepository(
  manifest: Manifest,
  repository: number,
  isThere = true,
): Manifest["repositories"] {
  const others = manifest.repositories.filter(([id]) => id !== repository);
  if (!isThere) return others;
  const changed = [repository, manifest.generation + 1] as const;
  return [...others, changed].sort(([a], [b]) => a - b);
}

/** Retired segments that no search of another process can still be reading. */
export function deletable(manifest: Manifest, now: number): RetiredSegment[] {
  return manifest.retired.filter(({ at }) => now - at >= RETIRE_MS);
}
