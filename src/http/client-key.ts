/**
 * Tells callers apart that have no credential, so that each gets its share of the slots. A Request has no address, so
 * the listener for `node:http` remembers the address of each request's connection.
 */

import { isIPv6 } from "node:net";

const addresses = new WeakMap<Request, string>();

/** Remembers the address of the client, or of the proxy in front of the server. */
export function noteAddress(request: Request, address: string | undefined): void {
  if (address !== undefined) addresses.set(request, address);
}

/** Returns the address that noteAddress() has remembered, and undefined if another server has made the request. */
export const addressOf = (request: Request): string | undefined => addresses.get(request);

/**
 * Returns the key of an address. The key of an IPv6 address is its network of 64 bits, because one client may have all
 * addresses of such a network.
 */
export function keyOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const [plain = ""] = address.split("%"); // a zone
  if (mapped !== undefined || !isIPv6(plain)) return mapped ?? address;
  const [before = "", after] = plain.split("::");
  const head = before.split(":").filter((part) => part !== "");
  const tail = after === undefined ? [] : after.split(":").filter((part) => part !== "");
  const groups = [
    ...head,
    ...Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0"),
    ...tail,
  ];
  return groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(":");
}
