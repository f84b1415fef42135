/** The newest catalog, loaded again when the manifest has moved on. */

import { closedError } from "../../base/errors.ts";
import type { Pause } from "../../base/yield.ts";
import { loadCatalog, type Catalog } from "./catalog.ts";
import type { Environment } from "../lmdb/environment.ts";
import { readGeneration } from "./manifest.ts";

export class CatalogKeeper {
  readonly #environment: Environment;
  readonly #pause: () => Pause;
  #catalog: Catalog | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** `pause` makes what is called now and then while a catalog loads. */
  constructor(environment: Environment, pause: () => Pause) {
    this.#environment = environment;
    this.#pause = pause;
  }

  /** The generation that was read last; 0 before that. */
  get generation(): number {
    return this.#catalog?.manifest.generation ?? 0;
  }

  /** One after another, so that a generation is loaded once, however many ask for it. */
  newest(): Promise<Catalog> {
    if (this.#isClosed) return Promise.reject(closedError());
    const next = this.#last.then(() => this.#refresh());
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Resolves when nothing of it reads any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  async #refresh(): Promise<Catalog> {
    const snapshot = this.#environment.snapshot();
    try {
      if (this.#catalog?.manifest.generation === readGeneration(snapshot)) return this.#catalog;
      return (this.#catalog = await loadCatalog(snapshot, this.#catalog, this.#pause()));
    } finally {
      snapshot.close();
    }
  }
}
