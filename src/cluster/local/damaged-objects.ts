/** Collects the damaged or missing objects that a machine meets while it fetches others. */

import { QuernError } from "../../base/errors.ts";
import type { Damage, DamagedObject } from "../catalog/damage.ts";
import { isDamage } from "../objects/bundle.ts";

/** The error of a machine that needs damaged objects. They are recorded in PostgreSQL. */
export class ObjectsDamaged extends QuernError {
  readonly objects: readonly DamagedObject[];

  constructor(objects: readonly DamagedObject[]) {
    const [{ object, shard }] = objects as [DamagedObject];
    const others = objects.length > 1 ? ` and ${objects.length - 1} others` : "";
    super(
      "INDEX_CORRUPT",
      `the object ${object} of shard ${shard}${others} is damaged or missing: it comes back from a machine that has a copy, from a backup, or when the repositories that quern cluster status names are indexed again`,
    );
    this.objects = objects;
  }
}

export class DamagedObjects {
  readonly #objects: DamagedObject[] = [];

  /** Runs `fetch`. Resolves to undefined if the object is damaged or missing. */
  async orDamaged<T>(one: DamagedObject, fetch: () => Promise<T>): Promise<T | undefined> {
    try {
      return await fetch();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#objects.push(one);
      return undefined;
    }
  }

  /** Records the damage, and rejects, if any object was damaged. */
  async check(damage: Pick<Damage, "report">): Promise<void> {
    if (this.#objects.length === 0) return;
    await damage.report(this.#objects);
    throw new ObjectsDamaged(this.#objects);
  }
}
