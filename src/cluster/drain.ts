/**
 * Moves the slices of a node to other nodes before the node is removed for good. Any machine may do this, even if the
 * node is already dead. A dead node that is not drained keeps its slices for ten minutes.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { throwIfAborted } from "../base/abort.ts";
import { invalid } from "../base/errors.ts";
import type { ClusterCatalog } from "./cluster-options.ts";
import { readStatus, statusRows, type NodeStatus } from "./status.ts";

const LOOK_MS = 500;
/**
 * How long to wait after the last check, so that all fronts notice where the slices are now. Fronts check for changes
 * once a second.
 */
const HEARD_MS = 2_000;

/** Drains a node. Resolves when other nodes have the node's slices ready, and fronts have stopped asking the node. */
export async function drainNode(
  catalog: ClusterCatalog,
  {
    name,
    replicas,
    signal,
  }: { readonly name: string; readonly replicas: number; readonly signal: AbortSignal },
): Promise<void> {
  const rows = statusRows(catalog, replicas);
  mustHaveOthers(name, (await readStatus(rows)).nodes);
  await rows.nodes.drain(name);
  while (!isDrained(name, (await readStatus(rows)).nodes)) {
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    throwIfAborted(signal);
  }
  await sleep(HEARD_MS, undefined, { signal }).catch(() => undefined);
}

function mustHaveOthers(name: string, nodes: readonly NodeStatus[]): void {
  const names = nodes.map((one) => one.name);
  if (!names.includes(name))
    throw invalid(`there is no node ${name}; there are: ${names.join(", ") || "none"}`);
  if (!nodes.some((one) => one.name !== name && one.isPlaced && one.isLive))
    throw invalid(`no other node runs that could take the slices of ${name}: start one first`);
}

const isDrained = (name: string, nodes: readonly NodeStatus[]): boolean =>
  nodes.every((one) =>
    one.name === name ? !one.isLive || one.ready === 0 : !one.isPlaced || one.missingBytes === 0,
  );
