/**
 * Remembers the path at which a framework has mounted a listener, where the browser's address lacks the
 * slash at its end: Express takes `/code` off `/code` and hands on `/`, and the difference is lost.
 */

const outerPaths = new WeakMap<Request, string>();

/** Notes what the client asked for, if that is a mount without its slash. */
export function noteOuterPath(request: Request, originalUrl: string | undefined): void {
  const [path = ""] = (originalUrl ?? "").split("?");
  const isRoot = new URL(request.url).pathname === "/";
  if (isRoot && path !== "" && !path.endsWith("/")) outerPaths.set(request, path);
}

/** Returns the mount's path if the address lacks its slash, or else undefined. */
export const outerPath = (request: Request): string | undefined => outerPaths.get(request);
