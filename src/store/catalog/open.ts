/**
 * Opens a data directory. Writes the first records if the directory is new, and rejects an index of another format
 * version.
 */

import { yieldTurn } from "../../base/yield.ts";
import { QuernError } from "../../base/errors.ts";
import { openUnderLock, type Environment } from "../lmdb/environment.ts";
import { engineKey, FORMAT_VERSION } from "../format/format.ts";
import { EMPTY_MANIFEST, putManifest } from "./manifest.ts";
import { corrupt } from "../format/sealed.ts";

export async function openStore(
  path: string,
  options: { readOnly: boolean },
): Promise<Environment> {
  const environment = await openUnderLock(path, options);
  try {
    await yieldTurn();
    if (readVersion(environment) === undefined) await begin(environment);
    checkVersion(readVersion(environment));
    return environment;
  } catch (error) {
    await environment.close();
    throw error;
  }
}

/** Returns the format version of an index, or undefined if it has none yet. */
export function readVersion(environment: Environment): number | undefined {
  const snapshot = environment.snapshot();
  try {
    const value = snapshot.get(engineKey("format"), "the format version");
    if (value && value.length !== 4) throw corrupt("the format version");
    return value && Buffer.from(value).readUInt32LE();
  } finally {
    snapshot.close();
  }
}

function checkVersion(version: number | undefined): void {
  if (version === FORMAT_VERSION) return;
  throw new QuernError(
    "INDEX_VERSION",
    `this index has format version ${version}, but this quern reads version ${FORMAT_VERSION}: run quern upgrade, which indexes anew, or use the quern that wrote it`,
  );
}

async function begin(environment: Environment): Promise<void> {
  if (environment.readOnly)
    throw new QuernError(
      "INDEX_NOT_FOUND",
      `there is no index at ${environment.path}; index something into it first`,
    );
  const version = Buffer.alloc(4);
  version.writeUInt32LE(FORMAT_VERSION);
  await environment.write((writer) => {
    // another process may have written the version by now
    if (writer.get(engineKey("format"), "the format version")) return;
    writer.put(engineKey("format"), version);
    putManifest(writer, EMPTY_MANIFEST);
  });
}
