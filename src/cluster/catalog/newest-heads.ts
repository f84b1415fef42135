/** Keeps every shard at its newest generation. A read fetches only the changes since the last read. */

import type { Catalog } from "./catalog.ts";
import type { ShardHead } from "./head.ts";

export class NewestHeads {
  readonly #catalog: Pick<Catalog, "generations" | "head">;
  #heads = new Map<number, ShardHead>();

  constructor(catalog: Pick<Catalog, "generations" | "head">) {
    this.#catalog = catalog;
  }

  /** Resolves to the newest published head of each shard. */
  async read(): Promise<ShardHead[]> {
    const heads = new Map<number, ShardHead>();
    for (const [shard, generation] of await this.#catalog.generations()) {
      heads.set(shard, await this.#catalog.head(shard, generation, this.#heads.get(shard)));
    }
    this.#heads = heads;
    return [...heads.values()];
  }
}
