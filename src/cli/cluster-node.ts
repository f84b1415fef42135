/**
 * Opens this machine's part of a cluster. If the machine is a node, also opens the port on which the node answers
 * requests from fronts.
 */

import { createServer } from "node:http";
import type { ClusterEngine } from "../cluster/cluster-engine.ts";
import type { ClusterOptions } from "../cluster/cluster-options.ts";
import type { ListenAt } from "./cluster-file.ts";
import { addressOf, closeServer, listenOn } from "./listening.ts";

export interface OpenedMachine extends AsyncDisposable {
  readonly engine: ClusterEngine;
  /** The address at which the machine answers requests from fronts, or undefined if the machine is not a node. */
  readonly address: string | undefined;
}

/** Opens this machine's part of the cluster. Disposing of the result closes the port first, then the engine. */
export async function openMachine(
  options: ClusterOptions,
  listen: ListenAt | undefined,
): Promise<OpenedMachine> {
  const { openCluster } = await import("../cluster/open-cluster.ts");
  const { node } = options;
  if (!node || !listen) {
    const engine = await openCluster(options);
    return { engine, address: undefined, [Symbol.asyncDispose]: () => engine.close() };
  }
  const { continueLate, toNodeListener } = await import("../http/node-listener.ts");
  const server = createServer();
  continueLate(server);
  const own = {
    ...node,
    async listen(internal: ClusterEngine["internal"]) {
      server.on("request", toNodeListener(internal));
      await listenOn(server, listen);
    },
  };
  try {
    const engine = await openCluster({ ...options, node: own });
    const address = addressOf(server, listen.host);
    const close = async (): Promise<void> => {
      await closeServer(server);
      await engine.close();
    };
    return { engine, address, [Symbol.asyncDispose]: close };
  } catch (error) {
    if (server.listening) await closeServer(server);
    throw error;
  }
}
