/**
 * Where this service is seen from outside: at `publicUrl`, or where the request says it went. Addresses
 * in answers begin there, so that they lead somewhere wherever they are shown.
 */

import { newPause } from "../base/yield.ts";
import type { Call } from "./route.ts";

type Asked = Pick<Call, "request" | "settings">;

/** Without a slash at its end. What a proxy takes off the path belongs to `publicUrl`. */
export const originOf = ({ request, settings }: Asked): string =>
  settings.publicUrl ?? new URL(request.url).origin;

const BROWSE = "/browse/";

/** An address of a file, as the engine was told to make it; a relative one becomes absolute. */
export function absolute(call: Asked, webUrl: string): string {
  if (!webUrl.startsWith("/")) return webUrl;
  const base = webUrl.startsWith(BROWSE) ? call.settings.basePath : "";
  return originOf(call) + base + webUrl;
}

/** The same for each file of an answer, in place. */
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

/** Where this service shows a repository's root. */
export function repositoryAddress(call: Asked, repository: string, revision: string): string {
  const name = encodeSegments(repository);
  return absolute(call, `${BROWSE}${name}@${encodeSegments(revision)}/-/tree/`);
}
