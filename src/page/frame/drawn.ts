/** Draws a long list in parts, one per frame, so that no frame takes long. */

import { useEffect, useState } from "preact/hooks";

interface Drawing {
  /** A text that identifies the list. If it changes, drawing begins again at the first entry. */
  list: string;
  count: number;
  /** How many entries each frame adds. */
  step: number;
  /** How many entries the first frame draws. */
  least?: number;
}

/** Returns how many entries of a list to draw now. Adds `step` entries in each frame. */
export function useDrawn({ list, count, step, least = step }: Drawing): number {
  const [known, setKnown] = useState({ list, drawn: 0 });
  const drawn = known.list === list ? Math.max(known.drawn, least) : least;
  useEffect(() => {
    if (drawn >= count) return;
    const next = { list, drawn: drawn + step };
    const frame = requestAnimationFrame(() => setKnown(next));
    return () => cancelAnimationFrame(frame);
  }, [list, drawn, count]);
  return Math.min(drawn, count);
}
