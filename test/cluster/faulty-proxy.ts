/** A proxy in front of a server that has a fault for a while. It knows nothing of the bytes that it passes on. */

import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/**
 * What is wrong. A server that hangs is like a stopped process: it takes connections and bytes, and answers nothing.
 * When it goes on, it answers what was sent meanwhile.
 */
export type ServerFault = "hangs" | "cuts its answers" | "sends other bytes" | "is gone";

export interface FaultyProxy {
  readonly port: number;
  begin(fault: ServerFault): void;
  end(): void;
}

export async function startFaultyProxy(serverPort: number): Promise<FaultyProxy> {
  const sockets = new Set<Socket>();
  let fault: ServerFault | undefined;
  const answer = (client: Socket, bytes: Buffer): void => {
    if (fault === "cuts its answers") {
      client.end(bytes.subarray(0, bytes.length >> 1));
    } else if (fault === "sends other bytes") {
      bytes[bytes.length - 1]! ^= 1;
      client.write(bytes);
    } else client.write(bytes);
  };
  const server = createServer((client) => {
    if (fault === "is gone") return void client.destroy();
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
    behind.on("data", (bytes) => answer(client, bytes));
    if (fault === "hangs") client.pause();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return {
    port: (server.address() as AddressInfo).port,
    begin(next) {
      fault = next;
      for (const socket of sockets)
        if (fault === "hangs") socket.pause();
        else if (fault === "is gone") socket.destroy();
    },
    end() {
      fault = undefined;
      for (const socket of sockets) socket.resume();
    },
  };
}
