/**
 * Remembers that a browser asked for a framework's mount path without a trailing slash. For both `/code` and
 * `/code/`, Express gives the listener the path `/`, so the listener cannot see the difference.
 */

const outerPaths = new WeakMap<Request, string>();

/** Remembers the client's path if it is a mount path without a trailing slash. */
export function noteOuterPath(request: Request, originalUrl: string | undefined): void {
  const [path = ""] = (originalUrl ?? "").split("?");
  const isRoot = new URL(request.url).pathname === "/";
  if (isRoot && path !== "" && !path.endsWith("/")) outerPaths.set(request, path);
}

/** Returns the mount path if the browser asked for it without a trailing slash, and undefined otherwise. */
export const outerPath = (request: Request): string | undefined => outerPaths.get(request);
