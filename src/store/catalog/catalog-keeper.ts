/** Keeps the newest catalog in memory, and loads it again after each publication. */

import { closedError } from "../../base/errors.ts";
import type { Pause } from "../../base/yield.ts";
import { loadCatalog, type Catalog } from "./catalog.ts";
import type { Environment } from "../lmdb/environment.ts";
import { readGeneration } from "./manifest.ts";

export class CatalogKeeper {
  readonly #environment: Environment;
  readonly #pause: () => Pause;
  readonly #onChange: (catalog: Catalog) => void;
  #catalog: Catalog | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** `pause` creates the Pause for one load. `onChange` is called with each new catalog. */
  constructor(
    environment: Environment,
    pause: () => Pause,
    onChange: (catalog: Catalog) => void = () => {},
  ) {
    this.#environment = environment;
    this.#pause = pause;
    this.#onChange = onChange;
  }

  /** The generation that was loaded last, or 0 if none was loaded yet. */
  get generation(): number {
    return this.#catalog?.manifest.generation ?? 0;
  }

  /** Resolves to the newest catalog. Calls run one after another, so that a generation is loaded only once. */
  newest(): Promise<Catalog> {
    if (this.#isClosed) return Promise.reject(closedError());
    const next = this.#last.then(() => this.#refresh());
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Makes newest() reject from now on. Resolves when no load is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  async #refresh(): Promise<Catalog> {
    const snapshot = this.#environment.snapshot();
    try {
      if (this.#catalog?.manifest.generation === readGeneration(snapshot)) return this.#catalog;
      this.#catalog = await loadCatalog(snapshot, this.#catalog, this.#pause());
      this.#onChange(this.#catalog);
      return this.#catalog;
    } finally {
      snapshot.close();
    }
  }
}
