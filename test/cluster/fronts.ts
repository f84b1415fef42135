/** Nodes and fronts of a cluster in this process, over real connections on the loopback interface. */

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { fetchHandler } from "../../src/base/direct-handlers.ts";
import { STREAM } from "../../src/cluster/wire/calls.ts";
import { nodeHandler } from "../../src/cluster/node/node-handler.ts";
import type { ClusterEngine, ClusterOptions } from "../../src/cluster/index.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import type { Cluster } from "./machines.ts";

export const SECRET = "a secret of the machines";

export interface RunningNode {
  readonly name: string;
  readonly url: string;
  readonly engine: ClusterEngine;
  /** Cuts the node's connections and accepts no others, as if the machine were gone. */
  cut(): void;
  /** Ends cut(). */
  mend(): void;
  /** How much later the node answers. */
  delayMs: number;
  /** Whether the node knows none of the calls, like a node of another version of the protocol. */
  isOtherVersion: boolean;
  /** The number of frames of a stream after which the node dies. */
  streamFrames: number;
  /** Whether it then sends nothing more, instead of dying. */
  stalls: boolean;
  /** The number of calls that the node has received, by path. */
  readonly asked: Map<string, number>;
}

const otherVersion = toNodeListener(
  fetchHandler(
    nodeHandler({ secret: SECRET, maxConcurrent: 64, answers: {}, hold: async () => undefined }),
  ),
);

/** Cuts the connection when so many parts of the body have been sent. If the node stalls, sends nothing more instead. */
function breakAfter(
  { streamFrames, stalls }: Pick<RunningNode, "streamFrames" | "stalls">,
  response: ServerResponse,
): void {
  const write = response.write.bind(response) as (part: Uint8Array) => boolean;
  let sent = 0;
  response.write = (part: Uint8Array) => {
    if (sent++ < streamFrames) return write(part);
    response.flushHeaders();
    if (!stalls) response.socket?.destroySoon();
    return false;
  };
}

export async function startNode(
  cluster: Cluster,
  name: string,
  options: Partial<ClusterOptions> = {},
  { diskBytes = 2 ** 40 }: { readonly diskBytes?: number } = {},
): Promise<RunningNode> {
  let listener: ReturnType<typeof toNodeListener> | undefined;
  let isCut = false;
  const asked = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    if (isCut || !listener) return void request.socket.destroy();
    asked.set(request.url!, (asked.get(request.url!) ?? 0) + 1);
    if (node.isOtherVersion) return otherVersion(request, response);
    if (request.url === STREAM) breakAfter(node, response);
    if (node.delayMs === 0) return listener(request, response);
    setTimeout(() => listener?.(request, response), node.delayMs).unref();
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = {
    name,
    url,
    secret: SECRET,
    diskBytes,
    listen: async (internal: ClusterEngine["internal"]) =>
      void (listener = toNodeListener(internal)),
  };
  const node = {
    name,
    url,
    asked,
    delayMs: 0,
    isOtherVersion: false,
    streamFrames: Infinity,
    stalls: false,
    cut() {
      isCut = true;
      server.closeAllConnections();
    },
    mend() {
      isCut = false;
    },
  };
  return Object.assign(node, { engine: await cluster.open({ ...options, node: own }) });
}

export async function startNodes(
  cluster: Cluster,
  count: number,
  options: Partial<ClusterOptions> = {},
): Promise<RunningNode[]> {
  const names = Array.from({ length: count }, (_, i) => `node-${i}`);
  return Promise.all(names.map((name) => startNode(cluster, name, options)));
}

export const openFront = (
  cluster: Cluster,
  options: Partial<ClusterOptions> = {},
): Promise<ClusterEngine> => cluster.open({ ...options, secret: SECRET });
