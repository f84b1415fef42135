/** Answers the fronts of a cluster, on the port of this machine's node. */

import { createServer } from "node:http";
import type { ClusterEngine } from "../cluster/cluster-engine.ts";
import type { ListenAt } from "./cluster-file.ts";
import { addressOf, closeServer, listenOn } from "./listening.ts";

export interface AnsweringNode extends AsyncDisposable {
  /** Where it listens; undefined: the machine is no node. */
  readonly address: string | undefined;
}

/** Listens until it is disposed of. Does nothing if the machine is no node. */
export async function answerFronts(
  engine: ClusterEngine,
  listen: ListenAt | undefined,
): Promise<AnsweringNode> {
  if (!listen) return { address: undefined, [Symbol.asyncDispose]: async () => {} };
  const { toNodeListener } = await import("../http/index.ts");
  const server = createServer(toNodeListener(engine.internal));
  await listenOn(server, listen);
  return {
    address: addressOf(server, listen.host),
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}
