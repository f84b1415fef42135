/** Finds those bytes of a literal that are rarest in code. The kernel compares these bytes first. */

// bytes in descending order of their frequency in a mix of source code; all other bytes are rarer
const FREQUENT =
  " etrnaioslcdp\n_um\tf(h)b,;g.=v-y*>0/kx1\"w{}2&<:#ESITARNCDOPLqj|3M4['68+]!UFGBz5HV79KXWYQ\\Z%@$?^J~`";
const RARITY = Uint8Array.from({ length: 256 }, (_, byte) => {
  const place = FREQUENT.indexOf(String.fromCharCode(byte));
  return place < 0 ? 255 : place;
});

/**
 * Returns the positions at which the two rarest byte values first occur. If all bytes are equal, the second position is
 * that of the last byte.
 */
export function rarestTwo(bytes: Uint8Array): [number, number] {
  const first = rarestBut(-1, bytes)!;
  return [first, rarestBut(bytes[first]!, bytes) ?? bytes.length - 1];
}

function rarestBut(other: number, bytes: Uint8Array): number | undefined {
  let rarest: number | undefined;
  for (const [i, byte] of bytes.entries())
    if (byte !== other && (rarest === undefined || RARITY[byte]! > RARITY[bytes[rarest]!]!))
      rarest = i;
  return rarest;
}
