/**
 * Remembers that a browser asked for a framework's mount path without a trailing slash. For both `/code` and `/code/`,
 * Express passes on `/`, so a listener cannot see the difference.
 */

const outerPaths = new WeakMap<Request, string>();

/** Remembers the client's path if it is a mount path without a trailing slash. */
export function noteOuterPath(request: Request, originalUrl: string | undefined): void {
  const [path = ""] = (originalUrl ?? "").split("?");
  const isRoot = new URL(request.url).pathname === "/";
  if (isRoot && path !== "" && !path.endsWith("/")) outerPaths.set(request, path);
}

/** Returns the mount path if the browser's address lacks its trailing slash, or else undefined. */
export const outerPath = (request: Request): string | undefined => outerPaths.get(request);
