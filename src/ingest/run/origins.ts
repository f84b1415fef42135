/**
 * Rejects two different sources with the same name before any file is read. A name identifies a repository, so the
 * files of the second source would replace those of the first.
 *
 * A source belongs to the indexed repository of its name if both have the same folder or the same remote. The source
 * also belongs to that repository if the indexed folder no longer exists, unless both remotes are known and differ.
 * In that case, the repository was probably moved to another folder.
 */

import { realpath } from "node:fs/promises";
import { QuernError } from "../../base/errors.ts";
import { checkedName } from "../sources/metadata.ts";
import type { Source, SourceOrigin } from "../sources/source.ts";
import type { HostCalls } from "./host-calls.ts";
import type { Origin } from "../../store/format/records.ts";

/** The origins of the sources of one run. */
export class Origins {
  /** For each name, the folder of the last source that was admitted under this name. */
  readonly #seen = new Map<string, string>();
  readonly #signal: AbortSignal;

  readonly #host: HostCalls;

  constructor(signal: AbortSignal, host: HostCalls) {
    this.#signal = signal;
    this.#host = host;
  }

  /** Resolves to the origin that is to be stored, or to undefined if the source has no origin. */
  async of({ origin }: Source): Promise<Origin | undefined> {
    if (origin === undefined) return undefined;
    const { folder, revisions } = origin;
    const remote = await this.#remoteOf(origin);
    return { folder, ...(remote !== undefined && { remote }), ...(revisions && { revisions }) };
  }

  async #remoteOf(origin: SourceOrigin): Promise<string | undefined> {
    return origin.remote && this.#host.wait(origin.remote(this.#signal));
  }

  /**
   * Rejects with INVALID_REQUEST if another source or another indexed repository has the same name. May be called
   * again with the same source.
   */
  async admit(source: Source, indexed: Origin | undefined): Promise<void> {
    const name = checkedName("index", source.name);
    if (source.origin === undefined) return;
    const { folder } = source.origin;
    const first = this.#seen.get(name);
    if (first !== undefined && !(await isSameFolder(first, folder)))
      throw collision(name, first, folder);
    this.#seen.set(name, folder);
    if (indexed && !(await this.#isSame(indexed, source)))
      throw collision(name, indexed.folder, folder, "which is indexed");
  }

  async #isSame(indexed: Origin, source: Source): Promise<boolean> {
    const { folder } = source.origin!;
    if (await isSameFolder(indexed.folder, folder)) return true;
    const remote = await this.#remoteOf(source.origin!);
    if (indexed.remote !== undefined && remote !== undefined) return indexed.remote === remote;
    return (await real(indexed.folder)) === undefined;
  }
}

async function isSameFolder(a: string, b: string): Promise<boolean> {
  if (a === b) return true;
  const [first, second] = await Promise.all([real(a), real(b)]);
  return first !== undefined && first === second;
}

/** Resolves to the real path, or to undefined if the folder does not exist or cannot be read. */
const real = (folder: string): Promise<string | undefined> =>
  realpath(folder).catch(() => undefined);

function collision(name: string, first: string, second: string, which = ""): QuernError {
  const taken = which === "" ? first : `${first}, ${which}`;
  const message =
    `two repositories would be called ${JSON.stringify(name)}: ${taken}, and ${second}; ` +
    "give one of them another name (the option name, or --name in the command)";
  return new QuernError("INVALID_REQUEST", message);
}
