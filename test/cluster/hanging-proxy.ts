/**
 * A proxy in front of a server that can hang like a stopped process: it then takes connections and bytes, and answers
 * nothing.
 */

import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { onTestFinished } from "vitest";

export interface HangingProxy {
  readonly port: number;
  hang(): void;
  /** Goes on, and answers what was sent meanwhile. */
  goOn(): void;
}

export async function startHangingProxy(serverPort: number): Promise<HangingProxy> {
  const sockets = new Set<Socket>();
  let isHanging = false;
  const server = createServer((client) => {
    const behind = connect(serverPort, "127.0.0.1");
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        behind.destroy();
      });
    }
    client.on("data", (bytes) => behind.write(bytes));
    behind.on("data", (bytes) => client.write(bytes));
    if (isHanging) client.pause();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as AddressInfo).port,
    hang() {
      isHanging = true;
      for (const socket of sockets) socket.pause();
    },
    goOn() {
      isHanging = false;
      for (const socket of sockets) socket.resume();
    },
  };
}
