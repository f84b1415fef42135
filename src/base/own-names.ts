/**
 * Tells names of this machine from others. Whoever answers everybody on it looks at the name in a request: a web page
 * whose own name is made to lead here could otherwise ask from any browser on this machine.
 */

import { isIP } from "node:net";

/** Whether nobody else can make a web page's name of it: names of this machine, and addresses. */
export function isOwnName(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, "");
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}
