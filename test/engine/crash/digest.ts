/** A digest of everything in an index. */

import { createHash } from "node:crypto";

export function digestOf(files: readonly (readonly [string, string, string])[]): string {
  const lines = files.map((file) => createHash("md5").update(file.join("\0")).digest("hex"));
  return createHash("md5").update(lines.sort().join()).digest("hex");
}
