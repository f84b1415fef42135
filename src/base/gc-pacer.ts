/**
 * Keeps the pauses of the garbage collector short while an answer creates very many long-lived objects.
 *
 * V8 collects young objects each time they fill 16 MiB (Node 24: four times as much). A collection copies the live
 * objects, which pauses the thread for about 1 ms per MiB copied. Dead objects cost nothing. So a pacer allocates
 * garbage between the live objects. As a result, collections are more frequent, and each of them copies less.
 *
 * This was measured with answers of 100 000 matches in Linux's drivers/net and fs, and two workers (medians of 20
 * runs). On Node 24, the longest turn of the calling thread takes 3.8 ms of processor time instead of 11. On Node 20,
 * it takes 4.0 ms instead of 6.5. So both stay below the limit of 5 ms. The time for the whole answer changes by less
 * than 4 %. To measure again, run `npm run bench -- --caller 2`. Then make created() do nothing, and run it once more.
 */

/**
 * The number of bytes of live objects that an answer creates before the pacer first allocates garbage. Most answers are
 * smaller than this, and are dead before V8 collects.
 */
export const FREE_BYTES = 256 * 1024;
/**
 * Each time that so many bytes of live objects have been created, the pacer allocates 64 KiB of garbage. The number is
 * smaller from V8 13 (Node 24) on, because this version collects less often.
 */
export const LIVE_BYTES = Number.parseInt(process.versions.v8) >= 13 ? 2 * 1024 : 8 * 1024;
const FILLER: readonly number[] = Array.from({ length: 8 * 1024 }, () => 0);

/** The pacer of one answer. */
export class GcPacer {
  /** The newest garbage. It is a public property so that no compiler removes the allocation. */
  garbage: readonly number[] = [];
  #live = LIVE_BYTES - FREE_BYTES;

  /** Counts new live objects of about `bytes` bytes, and allocates garbage when enough have been counted. */
  created(bytes: number): void {
    this.#live += bytes;
    if (this.#live < LIVE_BYTES) return;
    this.#live = 0;
    this.garbage = FILLER.slice();
  }
}
