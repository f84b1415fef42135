/** Tells the clients of a proxy apart, for quern serve --trust-proxy. */

/**
 * Returns the address that the nearest proxy has added to X-Forwarded-For. Earlier addresses in this header may be
 * invented by the client.
 */
export const forwardedAddress = ({ headers }: Request): string | undefined =>
  headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() || undefined;
