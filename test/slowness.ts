/**
 * How much slower a core is than the one on which bounds of processor time were set. Another machine may take longer
 * for the same work. So does a core that shares its parts with a busy one, which a measurement at the start may miss.
 */

/** Milliseconds of processor time that the work takes on that core. */
const REFERENCE_MS = 12;
/** The factor that busy neighbouring cores cost, which share caches and the memory. 3 was seen. */
const SHARED = 3.5;

function work(): number {
  const before = process.cpuUsage();
  let sum = 0;
  for (let i = 0; i < 1e7; i++) sum += i % 7;
  const { user, system } = process.cpuUsage(before);
  return sum > 0 ? (user + system) / 1_000 : 0;
}

export const SLOWNESS = Math.max(SHARED, Math.min(work(), work(), work()) / REFERENCE_MS);
