/** What a run did, in lines that tests compare. */

import type { SyncReport } from "../../src/sync/index.ts";

/** `name: outcome` of all repositories, in the order of names, and `where: problem`. */
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
