/** Starts and stops the servers of the command. */

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** How long running requests may continue after a signal to stop. */
const GRACE_MS = 2_000;

/** Listens on the port. Rejects if the port is in use or not permitted. */
export async function listenOn(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<void> {
  server.listen(port, host);
  await once(server, "listening");
}

/** Returns `host:port`, as in a URL. */
export function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Closes a server. Waits until running requests have ended, but at most GRACE_MS. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(timer);
}
