/** How long something that takes no turn works at the least: a busy machine makes some tries late. */

const TRIES = 3;

/** ms of processor time. */
export function leastWork(work: () => unknown): number {
  let least = Infinity;
  for (let left = TRIES; left > 0; left--) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
