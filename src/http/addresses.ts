/**
 * Makes addresses in answers absolute. They begin with `publicUrl`, or with the origin of the request, so that they
 * work outside this service, too.
 */

import { newPause } from "../base/yield.ts";
import type { Call } from "./route.ts";

type Asked = Pick<Call, "request" | "settings">;

/** Returns the base of addresses, without a trailing slash. If a proxy strips a path, `publicUrl` must contain it. */
export const originOf = ({ request, settings }: Asked): string =>
  settings.publicUrl ?? new URL(request.url).origin;

const BROWSE = "/browse/";

/** Makes an address from the engine absolute if it is relative. */
export function absolute(call: Asked, webUrl: string): string {
  if (!webUrl.startsWith("/")) return webUrl;
  const base = webUrl.startsWith(BROWSE) ? call.settings.basePath : "";
  return originOf(call) + base + webUrl;
}

/** Makes the addresses of all files of an answer absolute, in place. */
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
