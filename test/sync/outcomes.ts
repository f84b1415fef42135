/** Describes the outcome of a run as lines, for comparison in tests. */

import type { SyncReport } from "../../src/sync/index.ts";

/** Returns `name: outcome` for all repositories, sorted by name, and `where: problem`. */
export function outcomes({ connections }: SyncReport): string[] {
  return connections.flatMap(({ problems, repositories }) => [
    ...problems.map(({ where, message }) => `${where}: ${message}`),
    ...repositories
      .map(({ name, outcome, message }) => {
        const why = outcome === "failed" ? `: ${message}` : "";
        return `${name}: ${outcome}${why}`;
      })
      .sort(),
  ]);
}
