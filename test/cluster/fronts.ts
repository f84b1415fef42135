/** Nodes and fronts of a cluster in this process, over real connections on the loopback interface. */

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { fetchHandler } from "../../src/base/direct-handlers.ts";
import { STREAM } from "../../src/cluster/wire/calls.ts";
import { nodeHandler, type NodeOptions } from "../../src/cluster/node/node-handler.ts";
import type { ClusterEngine, ClusterOptions } from "../../src/cluster/index.ts";
import type { Internals } from "../../src/internals.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import type { Cluster } from "./machines.ts";

export const SECRET = "a secret of the machines";

export interface RunningNode {
  readonly name: string;
  readonly url: string;
  /** Changes with restart(). */
  readonly engine: ClusterEngine;
  /** Cuts the node's connections and accepts no others, as if the machine were gone. */
  cut(): void;
  /** Ends cut(). */
  mend(): void;
  /** Closes the engine, and opens another one with an empty folder and the same address. */
  restart(): Promise<void>;
  /** How much later the node answers. */
  delayMs: number;
  /** Whether the node knows none of the calls, like a node of another version of the protocol. */
  isOtherVersion: boolean;
  /** Whether the node has as many streams as it takes. */
  isFull: boolean;
  /** After how many frames the next streams break. Later streams are whole. */
  streamFrames: number[];
  /** Whether the node is gone when a stream breaks, as after cut(). */
  isMortal: boolean;
  /** Whether a stream sends nothing more, instead of breaking. */
  stalls: boolean;
  /**
   * Whether a stream that breaks ends its body like a whole one. The caller then reads every frame before the break.
   * When a connection breaks, the caller loses the frames that have arrived but are not read yet.
   */
  endsCleanly: boolean;
  /** The number of calls that the node has received, by path. */
  readonly asked: Map<string, number>;
}

const refusing = (options: Pick<NodeOptions, "maxConcurrent" | "answers">) =>
  toNodeListener(
    fetchHandler(nodeHandler({ secret: SECRET, hold: async () => undefined, ...options })),
  );
const otherVersion = refusing({ maxConcurrent: 64, answers: {} });
const full = refusing({ maxConcurrent: 0, answers: { [STREAM]: async function* () {} } });

/** After this many parts of the body have been sent, sends nothing more and calls `onBreak`. */
function breakAfter(frames: number, response: ServerResponse, onBreak: () => void): void {
  const write = response.write.bind(response) as (part: Uint8Array) => boolean;
  let sent = 0;
  response.write = (part: Uint8Array) => {
    if (sent++ < frames) return write(part);
    response.flushHeaders();
    onBreak();
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
    if (node.isFull && request.url === STREAM) return full(request, response);
    if (request.url === STREAM)
      breakAfter(node.streamFrames.shift() ?? Infinity, response, () => {
        if (node.stalls) return;
        isCut ||= node.isMortal;
        if (node.endsCleanly) response.end();
        else response.socket?.destroySoon();
      });
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
  const open = () => cluster.open({ ...options, node: own });
  let engine: ClusterEngine;
  const node: RunningNode = {
    name,
    url,
    get engine() {
      return engine;
    },
    asked,
    delayMs: 0,
    isOtherVersion: false,
    isFull: false,
    streamFrames: [],
    isMortal: false,
    stalls: false,
    endsCleanly: false,
    cut() {
      isCut = true;
      server.closeAllConnections();
    },
    mend() {
      isCut = false;
    },
    async restart() {
      await engine.close();
      engine = await open();
    },
  };
  engine = await open();
  return node;
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
  internals?: Partial<Internals>,
): Promise<ClusterEngine> => cluster.open({ ...options, secret: SECRET }, internals);
