/**
 * Makes the addresses in responses absolute, so that clients can use them anywhere. An absolute address begins with
 * `publicUrl`, or with the origin of the request if `publicUrl` is not set.
 */

import { newPause } from "../base/yield.ts";
import type { Call } from "./route.ts";

type Asked = Pick<Call, "request" | "settings">;

/**
 * Returns the base of all addresses, without a trailing slash. If a proxy removes a path prefix from requests,
 * `publicUrl` must contain this prefix.
 */
export const originOf = ({ request, settings }: Asked): string =>
  settings.publicUrl ?? new URL(request.url).origin;

const BROWSE = "/browse/";

/** Makes an address from the engine absolute if it is relative. */
export function absolute(call: Asked, webUrl: string): string {
  if (!webUrl.startsWith("/")) return webUrl;
  const base = webUrl.startsWith(BROWSE) ? call.settings.basePath : "";
  return originOf(call) + base + webUrl;
}

/** Makes the addresses of all files in a response absolute, in place. */
export async function makeAbsolute(
  call: Asked,
  files: readonly { webUrl: string }[],
): Promise<void> {
  const pause = newPause();
  for (const file of files) {
    file.webUrl = absolute(call, file.webUrl);
    await pause();
  }
}

const encodeSegments = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** Returns the address at which this service shows the root of a repository. */
export function repositoryAddress(call: Asked, repository: string, revision: string): string {
  const name = encodeSegments(repository);
  return absolute(call, `${BROWSE}${name}@${encodeSegments(revision)}/-/tree/`);
}
