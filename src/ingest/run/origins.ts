/**
 * Names that never collide. A repository is known by its name, so two sources of one name would
 * replace each other's files. They are refused before anything is read.
 *
 * A source and what is indexed under its name are the same repository where they are in the same
 * folder or have the same remote. They are also the same where the indexed folder is gone: then the
 * repository has been moved, unless the remotes say otherwise.
 */

import { realpath } from "node:fs/promises";
import { QuernError } from "../../base/errors.ts";
import { checkedName } from "../sources/metadata.ts";
import type { Source } from "../sources/source.ts";
import type { Origin } from "../../store/format/records.ts";

/** What one run knows of where its sources come from. */
export class Origins {
  /** By name. */
  readonly #seen = new Map<string, string>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Throws INVALID_REQUEST where the name belongs to something else. May be called again with the same source. */
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
    const remote = await source.origin!.remote?.(this.#signal);
    if (indexed.remote !== undefined && remote !== undefined) return indexed.remote === remote;
    return (await real(indexed.folder)) === undefined;
  }
}

/** What is stored of it. */
export async function originOf(source: Source, signal: AbortSignal): Promise<Origin | undefined> {
  if (source.origin === undefined) return undefined;
  const { folder, revisions } = source.origin;
  const remote = await source.origin.remote?.(signal);
  return { folder, ...(remote !== undefined && { remote }), ...(revisions && { revisions }) };
}

async function isSameFolder(a: string, b: string): Promise<boolean> {
  if (a === b) return true;
  const [first, second] = await Promise.all([real(a), real(b)]);
  return first !== undefined && first === second;
}

/** undefined: there is nothing there any more, or nothing that may be looked at. */
const real = (folder: string): Promise<string | undefined> =>
  realpath(folder).catch(() => undefined);

function collision(name: string, first: string, second: string, which = ""): QuernError {
  const taken = which === "" ? first : `${first}, ${which}`;
  const message =
    `two repositories would be called ${JSON.stringify(name)}: ${taken}, and ${second}; ` +
    "give one of them another name (the option name, or --name in the command)";
  return new QuernError("INVALID_REQUEST", message);
}
