/** Cuts bytes into pieces, as a pipe may cut them. */

import type { Random } from "../test/regex/random.ts";

export function pieces(bytes: Buffer, random: Random): Buffer[] {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random(random(2) === 0 ? 3 : 60);
    out.push(bytes.subarray(at, end));
    at = end;
  }
  return out;
}
