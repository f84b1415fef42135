/** The newest generation of every shard. A head is fetched once: it never changes. */

import type { Catalog } from "./catalog.ts";
import type { ShardHead } from "./head.ts";

export class NewestHeads {
  readonly #catalog: Pick<Catalog, "generations" | "head">;
  #heads = new Map<number, ShardHead>();

  constructor(catalog: Pick<Catalog, "generations" | "head">) {
    this.#catalog = catalog;
  }

  /** Resolves to what is published now, by number of the shard. */
  async read(): Promise<ShardHead[]> {
    const heads = new Map<number, ShardHead>();
    for (const [shard, generation] of await this.#catalog.generations()) {
      const known = this.#heads.get(shard);
      const isSame = known?.generation === generation;
      heads.set(shard, isSame ? known : await this.#catalog.head(shard, generation));
    }
    this.#heads = heads;
    return [...heads.values()];
  }
}
