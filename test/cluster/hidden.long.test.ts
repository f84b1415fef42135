/** Repositories that a caller may not see change nothing in the answers of a front over two nodes. */

import { describe } from "vitest";
import type { ClusterEngine, ClusterOptions } from "../../src/cluster/index.ts";
import { checkHidden } from "../http/hidden-suite.ts";
import { noLeakSuite } from "../http/no-leak-suite.ts";
import { openFront, startNodes } from "./fronts.ts";
import { newCluster } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";
import { isInTurn } from "../runs.ts";

/** Opens a front. Several repositories share a shard, whose slices are on both nodes. */
async function openFrontOverTwo(options: Partial<ClusterOptions>): Promise<ClusterEngine> {
  const cluster = await newCluster({ ...options, replicas: 1, shardBytes: 2500 });
  await startNodes(cluster, 2);
  return openFront(cluster);
}

describe.runIf(isInTurn(3))("any search", () => {
  test("gives each viewer the answer of an engine with only their repositories, whatever the others hold", () =>
    checkHidden(openFrontOverTwo, 2));
});

describe.runIf(isInTurn(3, 1))("each route", () => {
  noLeakSuite({
    test,
    async open(sources, options) {
      const front = await openFrontOverTwo(options);
      await front.index(sources);
      return front;
    },
    runs: 8,
    finds: false,
  });
});
