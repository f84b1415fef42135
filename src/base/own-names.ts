/**
 * Recognizes host names that mean this machine. A server that answers everybody on this machine must check the host
 * name of each request. Otherwise a web page could make its own host name resolve to this machine, and send requests
 * from any local browser (DNS rebinding).
 */

import { isIP } from "node:net";

/** Returns true if the name is a local name or an IP address, and so cannot belong to the web page of somebody else. */
export function isOwnName(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, "");
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}
